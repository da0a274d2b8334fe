"""Every tampering that we know of is found, with the code that says what was done; the untouched log has no finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from audit import seal, verifying
from audit.drill import forging, tampering
from audit.drill.known import KNOWN as TAMPERINGS
from audit.drill.tampering import Tampering
from audit.verify.run import Outside
from gate.config import fingerprint
from gate.config.roles import role_name
from tests.audit.logs import KEY, KNOWN, Published, Writer, intruder, original_log, published, sealed_log

__all__ = ["intruder", "original_log", "sealed_log"]
pytestmark = pytest.mark.django_db(transaction=True)
Session = psycopg.Connection[Any]


def codes(outside: Outside, **more: Any) -> frozenset[str]:
    result = verifying.verify(outside, guards=fingerprint.differences, **more)
    connection.close()
    return frozenset(result.report.counts)


def inside() -> frozenset[str]:
    return codes(Outside(KNOWN))


def test_the_untouched_log_has_no_finding(sealed_log: Published) -> None:
    told: list[Any] = []
    result = verifying.verify(sealed_log.outside(), guards=fingerprint.differences, tell=told.append)
    assert told == []
    assert (result.size, result.verification.entries, result.verification.unsealed) == (570, 600, 30)
    assert any("30 entries are not sealed" in sentence for sentence in result.report.information)


@pytest.mark.parametrize("one", TAMPERINGS, ids=lambda one: one.name)
def test_it_is_found(one: Tampering, original_log: Published) -> None:
    with transaction.atomic():
        connection.ensure_connection()
        tampering.apply(connection.connection, one, leaf=100)
        within = frozenset(verifying.look(Outside(KNOWN), guards=fingerprint.differences).report.counts)
        without = frozenset(verifying.look(original_log.outside(), guards=fingerprint.differences).report.counts)
        transaction.set_rollback(True)
    assert within >= one.inside
    assert bool(within) == bool(one.inside), "This one is said to be found by what was published alone."
    assert without >= one.inside | one.outside


def test_the_finding_names_the_entry(sealed_log: Published, intruder: Session) -> None:
    with tampering.triggers_off(intruder):
        forging.edit_payload(intruder)
        seq = intruder.execute(f"select seq from audit_entry where id = {tampering.ENTRY}").fetchone()
    intruder.commit()
    (finding,) = verifying.verify(Outside(KNOWN)).report.first
    assert seq is not None
    assert (finding.code, finding.subject) == ("D2", f"A-{seq[0]}")


def seal_what_is_left(as_role: Callable[[str], None]) -> None:
    as_role("sealer")
    sealer = seal.Sealer([KEY])
    sealer.start()
    while sealer.round():
        pass
    as_role("auditor")


BACKDATED = tampering.COPY_ENTRY.format(
    changes="'id', audit_bound(now() - interval '3 days')::text, 'at', now() - interval '3 days', "
    "'seq', nextval('audit_entry_number'), 'xid', pg_current_xact_id()::text, 'writer_run', 'x', 'writer_seq', 1",
    entry=tampering.ENTRY,
)


def test_a_worker_cannot_write_an_entry_of_three_days_ago(sealed_log: Published, cluster_socket: Path) -> None:
    name = connection.settings_dict["NAME"]
    own = f"host={cluster_socket} dbname={name} user={role_name('worker')} password=test-worker"
    with psycopg.connect(own) as session, pytest.raises(psycopg.Error):
        session.execute(BACKDATED.replace("nextval('audit_entry_number')", "1"))


def test_an_entry_of_three_days_ago_is_found_when_it_was_sealed(
    sealed_log: Published, intruder: Session, as_role: Callable[[str], None]
) -> None:
    with tampering.triggers_off(intruder):
        intruder.execute(BACKDATED)
        intruder.execute(
            "insert into audit_payload select (select id from audit_entry where writer_run = 'x'), salt, args, result, "
            f"codec from audit_payload where entry_id = {tampering.ENTRY}"
        )
        key = intruder.execute("select id from audit_entry where writer_run = 'x'").fetchone()
        assert key is not None
        forging.rehash(intruder, key[0])
    intruder.commit()
    assert inside() == {"T1"}
    seal_what_is_left(as_role)
    assert inside() == {"T1"}


def test_a_fork_is_found_by_what_was_published_and_by_nothing_else(
    sealed_log: Published, intruder: Session, cluster_socket: Path, as_role: Callable[[str], None]
) -> None:
    with tampering.triggers_off(intruder):
        tampering.run(*tampering.DROP_TAIL)(intruder)
    intruder.commit()
    name = connection.settings_dict["NAME"]
    with psycopg.connect(
        f"host={cluster_socket} dbname={name} user={role_name('agents')} password=test-agents"
    ) as session:
        Writer(session).write(200)
    seal_what_is_left(as_role)
    assert inside() == frozenset()
    assert codes(sealed_log.outside()) == {"C2", "C3", "X1"}


def test_a_truncated_partition_is_found(sealed_log: Published, intruder: Session) -> None:
    part = intruder.execute("select distinct tableoid::regclass::text from audit_entry").fetchone()
    assert part is not None
    with tampering.triggers_off(intruder):
        intruder.execute(f"truncate {part[0]}")
    intruder.commit()
    assert inside() == {"L2", "P1"}
    assert codes(sealed_log.outside()) == {"L2", "P1", "X1"}


LOOSENED = [
    "alter table audit_entry disable trigger refuse_change",
    "alter table audit_entry enable replica trigger refuse_change",
    "grant insert (seq) on audit_append to counterseal_agents",
    "create or replace view audit_append as select * from audit_entry",
    "alter table audit_entry alter column epoch set default 2",
    "drop trigger refuse_truncate on audit_leaf",
    "grant delete on audit_leaf to counterseal_people",
    "create or replace function audit_refuse() returns trigger language plpgsql as $$ begin return old; end $$",
    "alter table audit_checkpoint owner to counterseal_people",
    'grant insert ("write.approved") on audit_kind to counterseal_agents',
]


@pytest.mark.parametrize("statement", LOOSENED)
def test_a_loosened_guard_is_found(statement: str, sealed_log: Published, intruder: Session) -> None:
    intruder.execute(statement)
    intruder.commit()
    assert inside() == {"M1"}


def test_a_guard_of_one_partition_is_missed(sealed_log: Published, intruder: Session) -> None:
    part = intruder.execute("select distinct tableoid::regclass::text from audit_entry").fetchone()
    assert part is not None
    intruder.execute(f"drop trigger refuse_truncate on {part[0]}")
    intruder.commit()
    assert inside() == {"M1"}


def test_partitions_that_are_made_ahead_change_no_guard(sealed_log: Published, intruder: Session) -> None:
    intruder.execute("select audit_ensure_partitions(7)")
    intruder.commit()
    assert verifying.verify(Outside(KNOWN), guards=fingerprint.differences).report.first == []


def test_entries_moved_to_the_default_partition_are_found(sealed_log: Published, intruder: Session) -> None:
    part = intruder.execute("select distinct tableoid::regclass::text from audit_entry").fetchone()
    assert part is not None
    with tampering.triggers_off(intruder):
        intruder.execute(f"alter table audit_entry detach partition {part[0]}")
        intruder.execute(f"insert into audit_entry select * from {part[0]}")
    intruder.commit()
    assert "M1" in inside()


def test_since_a_size_the_tree_is_checked_whole_and_entries_from_there(
    sealed_log: Published, intruder: Session
) -> None:
    with tampering.triggers_off(intruder):
        forging.edit_payload(intruder)
    intruder.commit()
    assert codes(Outside(KNOWN), since=200) == frozenset()
    assert codes(Outside(KNOWN), since=50) == {"D2"}
    with tampering.triggers_off(intruder):
        intruder.execute("update audit_leaf set h = sha256('x') where idx = 3")
    intruder.commit()
    assert codes(Outside(KNOWN), since=200) == {"R1", "N1"}


def test_what_was_found_is_recorded(sealed_log: Published, intruder: Session) -> None:
    from audit.models import Entry, Verification

    verifying.record(verifying.verify(sealed_log.outside()))
    row = Verification.objects.get()
    assert (row.size, row.is_full, row.is_clean, row.finding_count) == (570, True, True, 0)
    with tampering.triggers_off(intruder):
        forging.edit_payload(intruder)
    intruder.commit()
    entry = verifying.record(verifying.verify(Outside(KNOWN)))
    row = Verification.objects.latest("id")
    assert (row.is_clean, row.finding_count, row.findings[0]["code"]) == (False, 1, "D2")
    assert Entry.objects.get(pk=entry.id).status == "failed"
    connection.close()
    assert inside() == {"D2"}, "Its own entry is one more of the log's."


def test_published_is_what_the_log_has(sealed_log: Published) -> None:
    assert published() == sealed_log
