"""Running an approved write once, whatever dies in between.

The target itself keeps the proof: a ledger row under the proposal's key commits with the change, or neither does. So
a run that follows a crash asks the ledger first. Each run also takes the next attempt number before it touches the
ledger, and a run that holds an older number stops before its commit: either it finds the newer number, or the newer
run finds its ledger row. Where the target keeps no ledger, the transaction's number does the same: see gate.writes.xid.
"""

from __future__ import annotations

from typing import Any

import psycopg
from django.db import transaction
from django.utils import timezone
from psycopg import errors

from audit import log
from audit.kinds import Kind
from audit.receipts import Receipt
from gate.writes import (
    approval,
    digests,
    effect,
    elsewhere,
    http_execution,
    ledger,
    proofs,
    sentences,
    session,
    states,
    xid,
)
from gate.writes.approval import Approved, Lapsed, NotApproved
from gate.writes.attempts import OVERTAKEN, Claim, Outcome, Refused, State, Status
from gate.writes.differences import differences
from gate.writes.effect import Effect, Row
from gate.writes.images import TooLarge
from gate.writes.models import Execution, Preview, Settlement, WriteRequest
from gate.writes.older_servers import Unpaired
from gate.writes.statement import Statement

MAY_RUN = (Status.APPROVED, Status.EXECUTING, Status.UNKNOWN)


class TryAgain(Exception):
    """What became of the write is not known yet; the job stays open and runs again."""


class _Executed(Exception):
    """The target already has the change."""


def execute(write_id: int) -> None:
    """Run an approved write at most once and record what became of it.

    Raises TryAgain while that is not known, and sealed.NotYet while nothing may be run yet.
    """
    approval.await_seals(write_id)
    claim = _claim(write_id)
    if claim is None:
        return
    outcome = _attempt(claim)
    is_recorded = _record(claim, outcome)
    # A run that was overtaken may have committed all the same: the job stays open, and the next run asks the ledger.
    if not is_recorded or outcome.status == Status.UNKNOWN:
        raise TryAgain(outcome.error or OVERTAKEN)


def _claim(write_id: int) -> Claim | None:
    """Take the next attempt, or None when there is nothing left to run."""
    with transaction.atomic():
        write = WriteRequest.objects.select_for_update(of=("self",)).select_related("target").get(pk=write_id)
        executions = Execution.objects.select_for_update(of=("self",)).select_related("preview")
        execution = executions.filter(write=write).first()
        if execution is not None:
            return _next_claim(write, execution)
        return _first_claim(write) if write.status in MAY_RUN else None


def _first_claim(write: WriteRequest) -> Claim | None:
    try:
        approved = approval.verified(write)
    except NotApproved as reason:
        _close_unclaimed(write, reason)
        return None
    keys = [str(decision.pk) for decision in approved.decisions]
    execution = Execution.objects.create(
        write=write, preview=approved.preview, approvals=keys, ledger_key=digests.ledger_key(write)
    )
    return _claimed(write, execution)


def _next_claim(write: WriteRequest, execution: Execution) -> Claim | None:
    # The writer's own record decides, not a status that others may set: what is over is not taken up again.
    if execution.state not in (State.CLAIMED, State.UNKNOWN):
        return None
    # Somebody looked and said what is there; a run after that could make it untrue.
    if Settlement.objects.filter(write=write).exists():
        return None
    execution.attempt, execution.state = execution.attempt + 1, State.CLAIMED
    execution.save(update_fields=["attempt", "state"])
    states.take_back(write)
    return _claimed(write, execution)


def _claimed(write: WriteRequest, execution: Execution) -> Claim:
    states.move(write, Status.EXECUTING)
    args = {"approvals": execution.approvals, "ledger": str(execution.ledger_key), "attempt": execution.attempt}
    _log(Kind.WRITE_CLAIMED, write, summary=f"attempt {execution.attempt}", args=args)
    return Claim(
        write, execution.preview, execution.approvals, execution.ledger_key, execution.attempt, execution.noted
    )  # fmt: skip


def _close_unclaimed(write: WriteRequest, reason: NotApproved) -> None:
    """End a write whose approval does not hold. Nothing was run."""
    if isinstance(reason, Lapsed):
        states.move(write, Status.EXPIRED)
        _log(Kind.WRITE_EXPIRED, write, status="refused", error=str(reason), summary="before it was run")
        return
    states.move(write, Status.FAILED)
    _log(Kind.WRITE_FAILED, write, status="refused", error=str(reason), summary="no valid approval, nothing was run")


def _attempt(claim: Claim) -> Outcome:
    if claim.target.action is not None:
        return _over_http(claim)
    try:
        with session.opened(claim.target) as connection:
            return _run_on(connection, claim)
    except session.Unreachable as reason:
        return Outcome(_nothing_or_unknown(claim), error=str(reason))


def _over_http(claim: Claim) -> Outcome:
    try:
        return http_execution.run(claim, still_approved=_still_approved, check_log=_check_log_still_verifies)
    except Refused as refused:
        return refused.outcome


def _run_on(connection: psycopg.Connection[Any], claim: Claim) -> Outcome:
    try:
        return _transaction(connection, claim)
    except _Executed:
        connection.execute("ROLLBACK")
        return _from_ledger(connection, claim) if claim.target.ledger else _from_noted(claim)
    except Refused as refused:
        if not connection.closed:
            connection.execute("ROLLBACK")
        return refused.outcome


def _transaction(connection: psycopg.Connection[Any], claim: Claim) -> Outcome:
    number = _enter(connection, claim)
    approved = _still_approved(claim)
    found = _change(connection, approved)
    _check_same_effect(connection, approved, found)
    _check_same_elsewhere(connection, approved, found)
    _check_log_still_verifies()
    _check_newest_attempt(claim)
    _commit(connection)
    return Outcome(Status.EXECUTED, found.rows, len(found.rows), claim.preview.effect_digest, number)


def _enter(connection: psycopg.Connection[Any], claim: Claim) -> str:
    """Open the transaction and have it be found again whatever happens; its number.

    Raises _Executed when an earlier attempt committed, Refused when that cannot be told or made sure of.
    """
    try:
        return _enter_ledger(connection, claim) if claim.target.ledger else _enter_noted(connection, claim)
    except errors.UniqueViolation as error:
        raise _Executed from error
    except (ledger.Unusable, xid.Unusable) as reason:
        raise Refused(Outcome(_nothing_or_unknown(claim), error=str(reason))) from reason
    except xid.Unanswerable as reason:
        raise Refused(Outcome(Status.UNKNOWN, error=str(reason))) from reason
    except psycopg.Error as error:
        raise Refused(Outcome(_nothing_or_unknown(claim), error=sentences.of(error))) from error


def _enter_ledger(connection: psycopg.Connection[Any], claim: Claim) -> str:
    """Write the ledger row. One of an attempt that is still open is waited for; one that committed is in the way."""
    session.begin(connection)
    mine = xid.identity(connection)
    ledger.enter(connection, claim.target, claim.ledger_key, claim.preview, mine["xid"])
    _note(claim, mine)
    return mine["xid"]


def _enter_noted(connection: psycopg.Connection[Any], claim: Claim) -> str:
    """Note the transaction's number. What an earlier attempt noted is asked about first; what it did not note never
    committed, and cannot be noted any more."""
    xid.check(connection, claim.target.name)
    if claim.earlier is not None and xid.has_committed(connection, claim.earlier):
        raise _Executed
    session.begin(connection)
    mine = xid.flushed(connection, claim.ledger_key)
    _note(claim, mine)
    return mine["xid"]


def _note(claim: Claim, mine: xid.Noted) -> None:
    if not claim.note(mine):
        raise Refused(Outcome(Status.UNKNOWN, error=OVERTAKEN))


def _nothing_or_unknown(claim: Claim) -> Status:
    """What can be said of an attempt that did not reach the target's proof: an earlier one may have committed."""
    return Status.FAILED if claim.is_first else Status.UNKNOWN


def _still_approved(claim: Claim) -> Approved:
    """The approval, checked again now that no other attempt can be running. Raises Refused."""
    try:
        approved = approval.verified(WriteRequest.objects.select_related("target").get(pk=claim.write.pk))
        _check_same_approval(claim, approved)
        return approved
    except Lapsed as reason:
        raise Refused(Outcome(Status.EXPIRED, error=str(reason))) from reason
    except NotApproved as reason:
        raise Refused(Outcome(Status.FAILED, error=str(reason))) from reason


def _check_same_approval(claim: Claim, approved: Approved) -> None:
    """Raises NotApproved when others opened the gate than were claimed: the record would name the wrong ones."""
    keys = [str(decision.pk) for decision in approved.decisions]
    if keys != claim.approvals or approved.preview.pk != claim.preview.pk:
        raise NotApproved(f"{claim.write.ref} has other approvals now than those that it was claimed with.")


def _change(connection: psycopg.Connection[Any], approved: Approved) -> Effect:
    assert isinstance(approved.statement, Statement)  # an HTTP action goes another way
    try:
        return effect.run(connection, approved.target, approved.statement, approved.parameters)
    except (TooLarge, Unpaired) as reason:
        raise Refused(Outcome(Status.REFUSED_STALE, error=str(reason))) from reason
    except session.Unreachable as reason:
        raise Refused(Outcome(Status.FAILED, error=str(reason))) from reason
    except errors.SerializationFailure as error:
        raise Refused(Outcome(Status.REFUSED_STALE, error=sentences.of(error))) from error
    except psycopg.Error as error:
        raise Refused(Outcome(Status.FAILED, error=sentences.of(error))) from error


def _check_same_effect(connection: psycopg.Connection[Any], approved: Approved, found: Effect) -> None:
    """Raises Refused with what differs, when this is not the effect that was approved."""
    seen = approved.preview
    digest = found.digest(seen.volatile, seen.bound)
    if digest == seen.effect_digest and found.footprint == seen.footprint:
        return
    rows, why = _differences(connection, approved, found), _what_differs(seen, found, digest)
    raise Refused(Outcome(Status.REFUSED_STALE, rows, len(found.rows), digest, error=why))


def _check_same_elsewhere(connection: psycopg.Connection[Any], approved: Approved, found: Effect) -> None:
    """Raises Refused when triggers or cascades do something else to other tables than was approved."""
    try:
        strayed = elsewhere.strayed(connection, approved.target, approved.preview)
    except psycopg.Error as error:
        raise Refused(Outcome(Status.FAILED, error=sentences.of(error))) from error
    if strayed is not None:
        digest = approved.preview.effect_digest
        raise Refused(
            Outcome(Status.REFUSED_STALE, strayed.rows, len(found.rows), digest, error=strayed.why)
        )  # fmt: skip


def _differences(connection: psycopg.Connection[Any], approved: Approved, found: Effect) -> list[Row]:
    """Row by row; none when the target stops answering, for the refusal stands without them."""
    assert isinstance(approved.statement, Statement)
    try:
        connection.execute("ROLLBACK")
        session.begin(connection)
        return differences(connection, approved.statement, approved.preview, found)
    except (TooLarge, psycopg.Error):
        return []


def _what_differs(seen: Preview, found: Effect, digest: str) -> str:
    if digest != seen.effect_digest:
        return (
            f"The writer found another change, of {len(found.rows)} rows, than the approved one, of {seen.row_count}."
        )
    return "The rows are the approved ones, but it would touch other tables, or more of them, than was approved."


def _check_log_still_verifies() -> None:
    try:
        approval.check_log_verifies()
    except NotApproved as reason:
        raise Refused(Outcome(Status.FAILED, error=str(reason))) from reason


def _check_newest_attempt(claim: Claim) -> None:
    if not claim.is_newest():
        raise Refused(Outcome(Status.UNKNOWN, error=OVERTAKEN))


def _commit(connection: psycopg.Connection[Any]) -> None:
    """Commit change and ledger row together. Raises Refused when the answer did not come, or was no."""
    try:
        answer = connection.execute("COMMIT").statusmessage
    except psycopg.Error as error:
        # A session that is ended while it waits for a standby has committed; only a plain error says that it has not.
        is_answer = error.diag.severity_nonlocalized == "ERROR" and not connection.closed
        raise Refused(Outcome(Status.FAILED if is_answer else Status.UNKNOWN, error=sentences.of(error))) from error
    if answer != "COMMIT":
        raise Refused(Outcome(Status.FAILED, error="The target rolled the write back when it was to be committed."))


def _from_ledger(connection: psycopg.Connection[Any], claim: Claim) -> Outcome:
    """What an earlier attempt wrote, by the target's own record."""
    kept = ledger.effect_of(connection, claim.target, claim.ledger_key, claim.write)
    if kept is None or kept.get("effect_digest") != claim.preview.effect_digest:
        return Outcome(Status.UNKNOWN, error="The ledger has this proposal with another effect; look at the target.")
    return Outcome(
        Status.EXECUTED, _without_volatile(claim.preview), kept["row_count"], kept["effect_digest"], kept["xid"]
    )


def _from_noted(claim: Claim) -> Outcome:
    """What an earlier attempt wrote: it commits the approved effect or nothing."""
    assert claim.earlier is not None  # it was asked about
    seen = claim.preview
    return Outcome(
        Status.EXECUTED, _without_volatile(seen), seen.row_count, seen.effect_digest, claim.earlier["xid"]
    )  # fmt: skip


def _without_volatile(seen: Preview) -> list[Row]:
    """The approved rows. What was assigned at execution was not kept, and is left out rather than guessed."""
    return [
        {**row, "after": row["after"] and {c: v for c, v in row["after"].items() if c not in seen.volatile}}
        for row in seen.rows
    ]


STATES = {
    Status.EXECUTED: (State.EXECUTED, Kind.WRITE_EXECUTED, "ok"),
    Status.REFUSED_STALE: (State.REFUSED_STALE, Kind.WRITE_REFUSED_STALE, "stale"),
    Status.FAILED: (State.FAILED, Kind.WRITE_FAILED, "failed"),
    Status.EXPIRED: (State.FAILED, Kind.WRITE_EXPIRED, "refused"),
    Status.UNKNOWN: (State.UNKNOWN, Kind.WRITE_UNKNOWN, "unknown"),
}


@transaction.atomic
def _record(claim: Claim, outcome: Outcome) -> bool:
    """Write down what became of the attempt; False when a newer one took over in the meantime."""
    write = WriteRequest.objects.select_for_update(of=("self",)).get(pk=claim.write.pk)
    state, kind, status = STATES[outcome.status]
    # Compare and set: a run that was overtaken records nothing.
    mine = Execution.objects.filter(write=write, attempt=claim.attempt, state=State.CLAIMED).update(
        state=state, finished_at=timezone.now(), rows=outcome.rows, row_count=outcome.row_count,
        effect_digest=outcome.effect_digest, target_xid=outcome.xid, error=outcome.error,
    )  # fmt: skip
    if not mine:
        return False
    states.take_back(write)
    states.move(write, outcome.status)
    recorded = _log(
        kind, write, status=status, error=outcome.error, summary=_summary(write, outcome),
        args={
            "approvals": claim.approvals, "ledger": str(claim.ledger_key), "attempt": claim.attempt,
            "effect": claim.preview.effect_digest, "proof": proofs.of(claim.target),
        },
        result={
            "rows": outcome.rows, "row_count": outcome.row_count, "effect": outcome.effect_digest, "xid": outcome.xid,
            "answer": outcome.answer,
        },
    )  # fmt: skip
    Execution.objects.filter(write=write).update(receipt=Receipt.given(recorded).as_json())
    return True


def _summary(write: WriteRequest, outcome: Outcome) -> str:
    if outcome.status == Status.EXECUTED:
        return f"{write.verb} of {outcome.row_count} in {write.table}, as approved"
    return outcome.error


def _log(kind: Kind, write: WriteRequest, **about: Any) -> log.Recorded:
    return log.record_with(kind, log.Actor.process(), subject=write.ref, incident_id=write.incident_id, **about)
