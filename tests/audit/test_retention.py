"""A month is dropped whole, with an entry, when nothing speaks against it; proofs outlive it, and pages say so."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from audit import export_lines, export_rows, holds, log, payloads, proofs, redacting, retention, tasks, verifying
from audit.export_gone import Gone
from audit.kinds import Kind
from audit.models import Checkpoint, Entry, Leaf, Payload, Retained
from audit.verify import note, tree
from audit.verify.run import Outside
from gate.config import fingerprint
from tests.audit.months import KEY, Months, first_of
from tests.audit.months import months as months

pytestmark = pytest.mark.django_db(transaction=True)
KEEP = 3


def one(months: Months, months_ago: int) -> retention.Month:
    months.become("retention")
    return next(found for found in retention.months(first_of(0), KEEP) if found.month == first_of(months_ago))


def test_a_month_that_is_over_is_dropped_and_recorded(months: Months) -> None:
    gone, kept = months.write(6), months.write(0)
    months.seal()
    receipt = retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.become("auditor")
    assert not Entry.objects.filter(pk__in=[entry.pk for entry in gone]).exists()
    assert not Payload.objects.filter(pk__in=[entry.pk for entry in gone]).exists()
    assert Entry.objects.filter(pk__in=[entry.pk for entry in kept]).count() == len(kept)
    with connection.cursor() as cursor:
        cursor.execute("select to_regclass(%s)", [f"audit_payload_{first_of(6):%Y%m}"])
        assert cursor.fetchone() == (None,)
    said = Retained.objects.get(month=first_of(6))
    leaves = list(Leaf.objects.filter(entry_id__in=[entry.pk for entry in gone]).values_list("index", flat=True))
    assert (said.recorded_as, said.entries, said.first_leaf, said.last_leaf) == (
        receipt.seq, len(gone), min(leaves), max(leaves),
    )  # fmt: skip
    assert retention.pruned_number(gone[1].seq) == retention.pruned_key(gone[1].pk) == said


def test_old_proofs_go_on_working(months: Months) -> None:
    gone = months.write(6)
    months.seal()
    old = Checkpoint.objects.order_by("-size")[0]
    months.write(0)
    months.seal()
    retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.seal()
    new = Checkpoint.objects.order_by("-size")[0]
    leaf = Leaf.objects.get(entry_id=gone[0].pk)
    path = proofs.inclusion(leaf.index, new.size)
    assert tree.root_of_proof(leaf.index, new.size, bytes(leaf.h), path) == bytes(new.root)
    proof = proofs.consistency(old.size, new.size)
    assert tree.consistency(old.size, new.size, bytes(old.root), bytes(new.root), proof)


def test_an_export_shows_what_was_pruned_and_by_what(months: Months) -> None:
    gone = months.write(6)
    months.write(0)
    months.seal()
    receipt = retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.become("auditor")
    size = Checkpoint.objects.order_by("-size")[0].size
    lines = [export_lines.line(row) for rows in export_rows.sealed(0, size, Gone()) for row in rows]
    pruned = [line for line in lines if line["type"] == "pruned"]
    assert {line["by"] for line in pruned} == {receipt.seq}
    assert len(pruned) == len(gone)
    assert not [line for line in lines if line["type"] == "missing"]


def test_a_verification_of_everything_finds_nothing(months: Months) -> None:
    months.write(7)
    months.write(6)
    months.write(0)
    months.seal()
    retention.drop(one(months, 7), keep=KEEP, by="ops")
    retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.seal()
    months.become("auditor")
    result = verifying.verify(Outside((note.parse_key(str(KEY.public)),)))
    assert [str(finding) for finding in result.report.first] == []


def test_the_list_of_dropped_months_says_what_entries_say(months: Months) -> None:
    """It tells pages and receipts which numbers were dropped."""
    months.write(6)
    months.write(0)
    months.seal()
    retention.drop(one(months, 6), keep=KEEP, by="ops")
    connection.close()
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    for change in ("last_number = last_number + 1", "last_leaf = last_leaf + 1", "recorded_id = uuidv7()"):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("alter table audit_retained disable trigger refuse_change")
            cursor.execute(f"update audit_retained set {change}")
            found = verifying.look(Outside((note.parse_key(str(KEY.public)),))).report.counts
            assert set(found) == {"K2"}, change
            transaction.set_rollback(True)


def test_a_later_retention_restates_an_earlier_one(months: Months) -> None:
    months.write(7)
    months.write(6)
    months.seal()
    retention.drop(one(months, 7), keep=KEEP, by="ops")
    receipt = retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.become("auditor")
    said = payloads.unpack(payloads.decompress(bytes(Payload.objects.get(pk=receipt.id).args)))
    assert [before["partition"] for before in said["restates"]] == [f"audit_entry_{first_of(7):%Y%m}"]


def test_a_month_that_is_too_young_stays(months: Months) -> None:
    months.write(2)
    months.seal()
    found = one(months, 2)
    assert found.why == f"It is younger than {KEEP} months."
    with pytest.raises(retention.CannotRetain, match="younger"):
        retention.drop(found, keep=KEEP, by="ops")


def test_the_database_keeps_a_month_whatever_is_asked(months: Months) -> None:
    months.write(1)
    months.seal()
    months.become("retention")
    found = retention.months(first_of(0), -100)[-1]
    assert found.why == "It is younger than 1 months."


def test_a_month_with_an_unsealed_entry_stays(months: Months) -> None:
    months.write(6, count=2)
    months.seal()
    months.write(6, count=1)
    assert one(months, 6).why == "1 of its entries are not sealed."


def test_the_month_of_the_newest_guards_stays(months: Months) -> None:
    months.become("owner")
    record = fingerprint.record_when_changed()
    assert record is not None
    months.age([record.id], first_of(6))
    months.seal()
    assert one(months, 6).why.startswith("It holds the newest record of what guards the log")
    months.become("owner")
    assert fingerprint.record_when_changed() is not None
    assert one(months, 6).why == ""


def test_the_month_of_a_redaction_stays_while_its_entry_does(months: Months, make_person: Any) -> None:
    months.become("owner")
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    entry = months.write(0, count=1)[0]
    months.become("people")
    wanted = redacting.ask(entry, part="both", reason="A name.", by=ada)
    receipt = redacting.confirm(wanted.pk, by=mia)
    aged = months.age([receipt.id], first_of(6))[0]
    months.become("owner")
    with connection.cursor() as cursor:
        cursor.execute("alter table audit_redaction disable trigger step")
        cursor.execute("update audit_redaction set recorded_as = %s", [aged])
    months.seal()
    assert one(months, 6).why == "It records a redaction of an entry that is still there."


@pytest.mark.parametrize("held", [{"incident_id": 318}, {"month": first_of(6)}], ids=["incident", "month"])
def test_a_held_month_stays_until_the_hold_is_lifted(months: Months, make_person: Any, held: dict[str, Any]) -> None:
    months.become("owner")
    auditor = make_person("olga", "auditor")
    months.write(6, incident_id=318)
    months.seal()
    months.become("people")
    hold = holds.hold(by=auditor, reason="A court asked.", **held)
    found = one(months, 6)
    assert found.why.startswith("A hold lies on it")
    with pytest.raises(DatabaseError, match="A hold lies on it"):
        forced(months, found)
    months.become("people")
    holds.lift(hold.pk, by=auditor, reason="The court is done.")
    assert one(months, 6).why == ""


def forced(months: Months, found: retention.Month, **changed: Any) -> None:
    """The function itself, called past our own code."""
    said = {
        "partition": found.partition, "first_leaf": found.first_leaf, "last_leaf": found.last_leaf,
        "entries": found.entries, "restates": [], **changed,
    }  # fmt: skip
    months.become("retention")
    with transaction.atomic(), connection.cursor() as cursor:
        log.record_with(Kind.LOG_RETAINED, log.Actor.process(), args=said)
        cursor.execute("select audit_retain(%s, %s, %s)", [found.month, KEEP, payloads.pack(said).kept.decode()])


LIES = [{"entries": 1}, {"first_leaf": 0, "last_leaf": 10**6}, {"partition": "audit_entry_209901"},
        {"restates": [{"partition": "audit_entry_209901", "first_leaf": 0, "last_leaf": 9, "entries": 1}]}]  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_nothing_is_dropped_with_an_entry_that_says_something_else(months: Months, lie: dict[str, Any]) -> None:
    months.write(6)
    months.seal()
    found = one(months, 6)
    with pytest.raises(DatabaseError, match="No entry of this transaction says"):
        forced(months, found, **lie)


def test_nothing_is_dropped_without_an_entry(months: Months) -> None:
    months.write(6)
    months.seal()
    found = one(months, 6)
    with transaction.atomic(), pytest.raises(DatabaseError, match="No entry of this transaction says"):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("select audit_retain(%s, %s, '{}')", [found.month, KEEP])


@pytest.mark.parametrize("process", ["people", "agents", "reads", "worker", "writer", "sealer", "publisher", "auditor"])
def test_no_process_that_runs_all_day_can_drop_a_month(months: Months, process: str) -> None:
    months.become(process)
    with pytest.raises(DatabaseError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute("select audit_retain('2020-01-01', 1, '{}')")


def test_a_failed_drop_leaves_no_entry(months: Months) -> None:
    months.write(2)
    months.seal()
    before = Entry.objects.count()
    with pytest.raises(DatabaseError):
        forced(months, one(months, 2))
    months.become("auditor")
    assert Entry.objects.count() == before


@pytest.fixture
def as_provisioned(months: Months) -> None:
    """A copied database has the grants of its tables, and not those of the database itself."""
    months.become("owner")
    with connection.cursor() as cursor:
        cursor.execute(f"revoke temporary on database {connection.settings_dict['NAME']} from public")


def test_the_command_shows_first_and_drops_when_told(months: Months, as_provisioned: None, settings: Any) -> None:
    settings.RETENTION_MONTHS = KEEP
    gone = months.write(6)
    months.seal()
    months.become("retention")
    out = io.StringIO()
    before = f"{first_of(0):%Y-%m}"
    call_command("retain_log", before=before, dry_run=True, stdout=out)
    assert f"{first_of(6):%Y-%m} goes: 4 entries" in out.getvalue()
    call_command("retain_log", before=before, yes=True, stdout=out)
    assert f"{first_of(6):%Y-%m} is dropped, recorded as A-" in out.getvalue()
    months.become("auditor")
    assert not Entry.objects.filter(pk=gone[0].pk).exists()


def test_the_command_keeps_everything_unless_it_is_set(months: Months, as_provisioned: None, settings: Any) -> None:
    settings.RETENTION_MONTHS = 0
    months.become("retention")
    with pytest.raises(CommandError, match="Everything is kept"):
        call_command("retain_log", before="2020-01")


def test_stray_rows_are_counted_and_said(months: Months) -> None:
    months.become("people")
    assert retention.default_rows() == 0
    months.become("owner")
    with connection.cursor() as cursor:
        name = f"audit_entry_{first_of(0):%Y%m}"
        cursor.execute(f"alter table audit_entry detach partition {name}")
    log.record(Kind.LOG_SCHEMA, log.Actor.process())
    for process in ("people", "agents", "worker"):
        months.become(process)
        assert retention.default_rows() == 1
    assert "1 rows of the log stand in its default partition" in retention.default_sentence(1)


def test_beat_makes_partitions_ahead(months: Months) -> None:
    months.become("worker")
    tasks.ensure_partitions()
    with connection.cursor() as cursor:
        cursor.execute("select to_regclass(%s) is not null", [f"audit_entry_{first_of(-3):%Y%m}"])
        assert cursor.fetchone() == (True,)
