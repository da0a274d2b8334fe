"""A part of an entry goes when two people want it, and in no other way; what is left stays provable."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.db.utils import IntegrityError

from audit import (
    copies,
    export_lines,
    export_rows,
    header,
    holds,
    log,
    payloads,
    reading,
    redacting,
    verifying,
    vouching,
)
from audit.kinds import Kind
from audit.models import Entry, Payload, Redaction
from audit.refusing import NotAllowed
from audit.trust import content_answer
from audit.verify import note
from audit.verify.run import Outside
from tests.audit.months import KEY, Months
from tests.audit.months import months as months

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "triage-agent", "mia")
ARGS, RESULT = {"customer": "jane@example.com"}, {"card": "4111 1111"}


@pytest.fixture
def ada(make_person: Callable[..., Any]) -> Any:
    return make_person("ada", "admin")


@pytest.fixture
def mia(make_person: Callable[..., Any]) -> Any:
    return make_person("mia", "admin")


def entry(kind: Kind = Kind.CALL_FINISHED, **about: Any) -> Entry:
    said = {"tool": "find_job", "call_id": uuid.uuid4(), "args": ARGS, "result": RESULT, **about}
    return Entry.objects.get(pk=log.record(kind, AGENT, **said).id)


@pytest.fixture
def asked(ada: Any, as_role: Callable[[str], None]) -> Callable[..., Redaction]:
    """Ada's request about a new entry; the people's role goes on."""

    def ask(part: str = "both", **about: Any) -> Redaction:
        of = entry(**about)
        as_role("people")
        return redacting.ask(of, part=part, reason="It names a customer.", by=ada)

    return ask


def of(wanted: Redaction) -> Entry:
    return Entry.objects.get(pk=wanted.entry_id)


@pytest.mark.parametrize(
    ("part", "args_there", "result_there", "why"),
    [
        ("args", False, True, "Its arguments were redacted"),
        ("result", True, False, "Its result was redacted"),
        ("both", False, False, "Its arguments and result were redacted"),
    ],
)
def test_the_part_is_gone_with_its_salt_and_the_other_stays_verified(
    asked: Any, mia: Any, part: str, args_there: bool, result_there: bool, why: str
) -> None:
    wanted = asked(part)
    receipt = redacting.confirm(wanted.pk, by=mia)
    payload = Payload.objects.get(pk=wanted.entry_id)
    salt = bytes(payload.salt)
    assert ((payload.args is not None), (payload.result is not None)) == (args_there, result_there)
    assert ((salt[:16] != bytes(16)), (salt[16:] != bytes(16))) == (args_there, result_there)
    content = reading.content_of(of(wanted))
    assert content.redacted_by == receipt.seq
    assert content.why == f"{why} by {receipt.ref}."
    assert (content.is_intact, content.is_readable, content.args, content.result) == (False, False, None, None)
    assert (bool(content.args_raw), bool(content.result_raw)) == (args_there, result_there)
    assert reading.digest_of(of(wanted)) == bytes(of(wanted).digest)
    assert content_answer(content).word == "redacted"


def test_the_log_says_who_asked_and_who_confirmed(asked: Any, mia: Any) -> None:
    wanted = asked("result")
    receipt = redacting.confirm(wanted.pk, by=mia)
    said = reading.payload_of(receipt.id)
    assert said.args == {
        "entry": wanted.entry_seq, "entry_id": str(wanted.entry_id), "part": "result",
        "reason": "It names a customer.", "asked_by": "ada", "rows": vouching.rows(Redaction.objects.get(pk=wanted.pk)),
    }  # fmt: skip
    assert Entry.objects.get(pk=receipt.id).principal == "mia"
    ask = Entry.objects.get(kind=Kind.LOG_REDACTION_ASKED, subject=wanted.ref)
    assert (ask.principal, ask.status) == ("ada", "ok")


def test_a_long_reason_leaves_no_half_of_a_secret_in_the_log(ada: Any) -> None:
    of = entry()
    reason = f"{'It names one. ' * 13}AKIAIOSFODNN7EXAMPLE"
    summary = f"the result: {reason}"
    assert summary.index("AKIA") < header.LONGEST_SUMMARY < len(summary)
    redacting.ask(of, part="result", reason=reason, by=ada)
    assert "AKIA" not in Entry.objects.get(kind=Kind.LOG_REDACTION_ASKED, subject=of.ref).summary


def test_an_export_names_the_redaction(asked: Any, mia: Any) -> None:
    wanted = asked("result")
    receipt = redacting.confirm(wanted.pk, by=mia)
    payload = Payload.objects.get(pk=wanted.entry_id)
    row = export_rows.Row(of(wanted), payload)
    said = export_lines.line(row)
    assert (said["redacted_by"], said["result"], "damaged" in said) == (receipt.seq, None, False)
    assert said["args"] == payloads.pack(ARGS).kept.decode()
    # A selection brings along what accounts for it: who has the file alone could say so of any entry.
    alone = export_rows.Selection(seq=wanted.entry_seq)
    rows = [one for piece in export_rows.rows(alone, export_rows.extent()) for one in piece]
    assert [one.entry.seq for one in rows if one.entry] == [wanted.entry_seq, receipt.seq]


def test_the_other_part_can_go_later(asked: Any, ada: Any, mia: Any) -> None:
    first = asked("args")
    redacting.confirm(first.pk, by=mia)
    with pytest.raises(NotAllowed, match="args is gone already"):
        redacting.ask(of(first), part="both", reason="All of it.", by=mia)
    second = redacting.ask(of(first), part="result", reason="This too.", by=mia)
    receipt = redacting.confirm(second.pk, by=ada)
    content = reading.content_of(of(first))
    assert reading.payload_of(receipt.id).args["part"] == "both"  # so that one entry accounts for all that is gone
    assert (content.redacted_by, content.args_raw, content.result_raw) == (receipt.seq, b"", b"")


def test_its_words_are_not_found_any_more(asked: Any, mia: Any, as_role: Any) -> None:
    wanted = asked("result")
    as_role("worker")
    with connection.cursor() as cursor:
        cursor.execute("insert into audit_search values (%s, %s, 'jane')", [wanted.entry_id, wanted.entry_seq])
    as_role("people")
    redacting.confirm(wanted.pk, by=mia)
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from audit_search where entry_id = %s", [wanted.entry_id])
        assert cursor.fetchone() == (0,)


def test_nobody_confirms_their_own_request(asked: Any, ada: Any) -> None:
    wanted = asked()
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        redacting.confirm(wanted.pk, by=ada)
    assert reading.content_of(of(wanted)).is_readable
    refused = Entry.objects.filter(kind=Kind.LOG_REDACTION_ASKED, subject=wanted.ref, status="refused")
    assert refused.count() == 1


def test_a_request_is_confirmed_once(asked: Any, mia: Any) -> None:
    wanted = asked("args")
    redacting.confirm(wanted.pk, by=mia)
    with pytest.raises(NotAllowed, match="confirmed already"):
        redacting.confirm(wanted.pk, by=mia)


def test_a_withdrawn_request_is_not_confirmed(asked: Any, ada: Any, mia: Any) -> None:
    wanted = asked()
    redacting.withdraw(wanted.pk, by=ada)
    with pytest.raises(NotAllowed, match="withdrawn already"):
        redacting.confirm(wanted.pk, by=mia)


def test_one_request_about_an_entry_waits(asked: Any, mia: Any) -> None:
    wanted = asked()
    with pytest.raises(NotAllowed, match="waits already"):
        redacting.ask(of(wanted), part="args", reason="Again.", by=mia)


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_only_admins_ask_and_confirm(asked: Any, make_person: Any, as_role: Any, role: str) -> None:
    wanted = asked()
    as_role("owner")
    somebody = make_person("somebody", role)
    as_role("people")
    with pytest.raises(NotAllowed, match="ask an admin"):
        redacting.confirm(wanted.pk, by=somebody)
    with pytest.raises(NotAllowed, match="ask an admin"):
        redacting.ask(of(wanted), part="args", reason="So.", by=somebody)


def test_a_request_of_somebody_who_lost_the_right_is_void(asked: Any, ada: Any, mia: Any) -> None:
    wanted = asked()
    ada.role = "viewer"
    ada.save(update_fields=["role"])
    with pytest.raises(NotAllowed, match="may not redact any more"):
        redacting.confirm(wanted.pk, by=mia)


def test_what_is_held_is_not_redacted(asked: Any, mia: Any) -> None:
    wanted = asked(incident_id=31_800)
    hold = holds.hold(by=mia, reason="A court asked.", incident_id=31_800)
    with pytest.raises(NotAllowed, match="A hold lies on I-31800"):
        redacting.confirm(wanted.pk, by=mia)
    with pytest.raises(DatabaseError, match="A hold lies on"):
        forced(wanted, mia)
    holds.lift(hold.pk, by=mia, reason="Done.")
    redacting.confirm(wanted.pk, by=mia)


def test_an_entry_about_the_log_is_not_redacted(ada: Any) -> None:
    of_log = entry(Kind.LOG_EXPORTED)
    with pytest.raises(NotAllowed, match="about the log itself"):
        redacting.ask(of_log, part="args", reason="So.", by=ada)


@pytest.mark.parametrize("part", ["args", "both"])
def test_what_vouches_for_rows_is_not_redacted(asked: Any, ada: Any, mia: Any, tamper: Any, part: str) -> None:
    """By our code and by the database's function, for every kind of such an entry."""
    kinds = [kind for kind in vouching.KINDS if not kind.startswith("log.")]
    wanted = asked(part)
    for kind in kinds:
        tamper("update audit_entry set kind = %s where id = %s", kind, wanted.entry_id)
        with pytest.raises(NotAllowed, match="they vouch for what it has put in force"):
            redacting.confirm(wanted.pk, by=mia)
        with pytest.raises(DatabaseError, match="vouch for rows, so they are not redacted"):
            forced(wanted, mia)


def test_the_text_of_what_vouches_for_rows_may_go(asked: Any, mia: Any) -> None:
    wanted = asked("result", kind=Kind.CALL_FINISHED)
    assert redacting.confirm(wanted.pk, by=mia)
    redacting.check_can_ask(entry(Kind.DEFINITION_DRAFTED), ("result",), mia)


@pytest.mark.parametrize("change", ["asked_by_id = asked_by_id + 1", "part = 'args'", "reason = 'So.'"])
def test_a_request_that_is_not_as_the_log_says_is_not_confirmed(asked: Any, mia: Any, tamper: Any, change: str) -> None:
    wanted = asked("both")
    tamper(f"update audit_redaction set {change} where id = {wanted.pk}")
    with pytest.raises(NotAllowed, match="does not say that this was asked for as it stands here"):
        redacting.confirm(wanted.pk, by=mia)
    redacting.withdraw(wanted.pk, by=mia)


def forced(wanted: Redaction, by: Any, *, said: dict[str, Any] | None = None, record: bool = True) -> None:
    """The database's function, called past our own code by a people's plane that was taken over."""
    args = {"entry": wanted.entry_seq, "entry_id": str(wanted.entry_id), "part": wanted.part, **(said or {})}
    with transaction.atomic(), connection.cursor() as cursor:
        Redaction.objects.filter(pk=wanted.pk, status="waiting").update(status="confirmed", decided_by=by)
        if record:
            log.record_with(Kind.LOG_REDACTED, log.Actor.person(by), subject=wanted.ref, args=args)
        cursor.execute("select audit_redact(%s, %s)", [wanted.pk, payloads.pack(args).kept.decode()])


@pytest.mark.parametrize("said", [{"part": "args"}, {"entry": 1}, {"entry_id": str(uuid.uuid4())}])
def test_the_function_wants_an_entry_that_says_the_same(asked: Any, mia: Any, said: dict[str, Any]) -> None:
    wanted = asked("both")
    with pytest.raises(DatabaseError, match="No entry of this transaction says"):
        forced(wanted, mia, said=said)


def test_the_function_wants_an_entry(asked: Any, mia: Any) -> None:
    with pytest.raises(DatabaseError, match="No entry of this transaction says"):
        forced(asked(), mia, record=False)


def test_the_function_wants_a_confirmed_request(asked: Any) -> None:
    wanted = asked()
    with pytest.raises(DatabaseError, match="No second person has confirmed"), connection.cursor() as cursor:
        cursor.execute("select audit_redact(%s, '{}')", [wanted.pk])
    with pytest.raises(DatabaseError, match="No second person has confirmed"), connection.cursor() as cursor:
        cursor.execute("select audit_redact(0, '{}')")


def test_the_database_knows_no_confirmation_by_who_asked(asked: Any, ada: Any) -> None:
    with pytest.raises(IntegrityError, match="audit_redaction_by_two"):
        forced(asked(), ada)


def test_no_request_is_written_down_as_confirmed(asked: Any, ada: Any, mia: Any) -> None:
    wanted = asked()
    with pytest.raises(DatabaseError, match="asked for, decided once"):
        Redaction.objects.create(
            entry_seq=wanted.entry_seq, entry_id=wanted.entry_id, part="args", reason="So.", asked_by=ada,
            status="confirmed", decided_by=mia,
        )  # fmt: skip


def test_a_done_request_is_never_changed(asked: Any, mia: Any) -> None:
    wanted = asked("args")
    redacting.confirm(wanted.pk, by=mia)
    with pytest.raises(DatabaseError, match="asked for, decided once"):
        Redaction.objects.filter(pk=wanted.pk).update(status="waiting")


CHANGES = [
    "update audit_payload set args = null where entry_id = %s",
    "update audit_payload set result = ''::bytea where entry_id = %s",
    "update audit_payload set args = null, result = null, salt = ''::bytea where entry_id = %s",
    "delete from audit_payload where entry_id = %s",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_the_owner_is_refused_every_other_change_even_with_a_confirmed_request(
    asked: Any, mia: Any, as_role: Any, statement: str
) -> None:
    wanted = asked("both")
    as_role("owner")
    with transaction.atomic(), connection.cursor() as cursor:
        Redaction.objects.filter(pk=wanted.pk).update(status="confirmed", decided_by=mia)
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(statement, [wanted.entry_id])
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "process", ["agents", "reads", "worker", "writer", "sealer", "publisher", "auditor", "retention"]
)
def test_no_other_process_can_redact(asked: Any, as_role: Any, process: str) -> None:
    wanted = asked()
    as_role(process)
    with pytest.raises(DatabaseError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute("select audit_redact(%s, '{}')", [wanted.pk])
    with pytest.raises(psycopg.Error, match=r"violates check option|permission denied"):
        log.record(Kind.LOG_REDACTED, AGENT)


def test_a_part_that_is_gone_without_a_redaction_is_a_fault(tamper: Any) -> None:
    lost = entry()
    tamper("update audit_payload set result = null where entry_id = %s", lost.pk)
    content = reading.content_of(lost)
    assert (content.redacted_by, content.why) == (None, "Its result is gone, and no redaction accounts for it.")


def test_a_change_under_cover_of_a_redaction_is_a_fault(asked: Any, mia: Any, as_role: Any, tamper: Any) -> None:
    wanted = asked("result")
    redacting.confirm(wanted.pk, by=mia)
    as_role("owner")
    forged = payloads.compress(b'{"customer":"nobody"}')
    tamper("update audit_payload set args = %s where entry_id = %s", forged, wanted.entry_id)
    content = reading.content_of(of(wanted))
    assert content.redacted_by is None
    assert "does not match the commitment" in content.why


def test_every_other_place_is_named(asked: Any, ada: Any, mia: Any) -> None:
    wanted = asked("both")
    other = Entry.objects.get(pk=log.record(Kind.COMMENT_ADDED, AGENT, call_id=of(wanted).call_id).id)
    began = log.record(Kind.LOG_EXPORTED, log.Actor.person(ada), args={"filter": {"entry": wanted.entry_seq}})
    left = log.record(
        Kind.LOG_EXPORTED, log.Actor.person(ada), parent=began.id, args={"filter": {"entry": wanted.entry_seq}},
        result={"entries": 1, "first_leaf": None, "last_leaf": None}, summary="1 entry left, as JSONL",
    )  # fmt: skip
    elsewhere = log.record(
        Kind.LOG_EXPORTED,
        log.Actor.person(ada),
        parent=began.id,
        args={"filter": {"entry": wanted.entry_seq + 10**6}},
        result={"entries": 1},
    )
    named = {copy.subject for copy in copies.of(of(wanted))}
    assert {other.ref, left.ref} <= named
    assert elsewhere.ref not in named


def test_a_verification_tells_redacted_from_missing(months: Months, make_person: Any) -> None:
    months.become("owner")
    admins = [make_person(name, "admin") for name in ("ada", "mia")]
    args, result, both = (months.write(0, count=1)[0] for _ in range(3))
    months.become("people")
    for one, part in ((args, "args"), (result, "result"), (both, "args"), (both, "result")):
        redacting.confirm(redacting.ask(one, part=part, reason="A name.", by=admins[0]).pk, by=admins[1])
    months.seal()
    months.become("auditor")
    verified = verifying.verify(Outside((note.parse_key(str(KEY.public)),)))
    assert [str(finding) for finding in verified.report.first] == []
