"""A person's decision about a write: bound to what the page showed, checked under the write's lock, recorded.

A key signs a statement that was made here and kept here; a password, where the policy lets it, stands for one.
"""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import connection, transaction

from audit import canonical, log, outbox
from audit.kinds import Kind
from gate.errors import NotAllowed, Stale
from gate.people import guessing, key_options
from gate.people.models import Person
from gate.writes import assertions, canaries, digests, guards, limits, offering, quorum, recorded, states, targets
from gate.writes.actions import judged_anew, locked, recorded_refusal
from gate.writes.models import Decision, OfferedStatement, Preview, WriteRequest

# A person approved what they saw now; a writer that was away for longer asks them again.
APPROVAL_LASTS = timedelta(minutes=15)

Act = Decision.Act
STOPS = {
    Act.REJECT: WriteRequest.Status.REJECTED,
    Act.REQUEST_CHANGES: WriteRequest.Status.CHANGES_REQUESTED,
    Act.WITHDRAW: WriteRequest.Status.WITHDRAWN,
}
KINDS = {
    Act.APPROVE: Kind.WRITE_APPROVED,
    Act.BREAK_GLASS: Kind.WRITE_APPROVED,
    Act.REJECT: Kind.WRITE_REJECTED,
    Act.REQUEST_CHANGES: Kind.WRITE_CHANGES_REQUESTED,
    Act.WITHDRAW: Kind.WRITE_WITHDRAWN,
}


class WrongPassword(NotAllowed):
    """The password that goes with an approval was not the person's."""


def decide(
    write: WriteRequest, *, by: Person, act: str, reason: str, seen_version: int, password: str = "",
    assertion: str = "", session: str = "", proposal_digest: str = "", preview_digest: str = "",
) -> Decision:  # fmt: skip
    """Approve, reject, request changes to or withdraw what `by` saw, with a key's assertion, a password, or neither.

    Raises Stale when that is not what is there now, WrongPassword, or NotAllowed; the last two are recorded.
    """
    shown = {"version": seen_version, "proposal": proposal_digest, "preview": preview_digest}
    with judged_anew(write), recorded_refusal(by, write.ref, {"act": act, "reason": reason, **shown}):
        if assertion:
            offered, signed = offering.take(write, by, assertion, session)
            return _decide(write, by, Act(act), offered.reason, shown, offered, signed)
        # Before the lock: checking a password is slow by design.
        if act in quorum.APPROVALS:
            guards.check_method(write, "password")
            _check_password(by, password)
        return _decide(write, by, Act(act), reason, shown)


def offer(
    write: WriteRequest, *, by: Person, act: str, reason: str, seen_version: int, session: str,
    proposal_digest: str = "", preview_digest: str = "",
) -> dict[str, Any]:  # fmt: skip
    """What a key of `by` is to sign, so that it decides what they saw: the options for their browser.

    Raises Stale when that is not what is there now, or NotAllowed, which is recorded.
    """
    shown = {"version": seen_version, "proposal": proposal_digest, "preview": preview_digest}
    about = {"act": act, "reason": reason, "offer": True, **shown}
    with judged_anew(write), recorded_refusal(by, write.ref, about):
        return _offer(write, by, Act(act), reason, shown, session)


@transaction.atomic
def _offer(
    write: WriteRequest, by: Person, act: Act, reason: str, shown: dict[str, Any], session: str
) -> dict[str, Any]:
    write = locked(write)
    seen = _checked(write, by, act, shown)
    usable = assertions.keys_for(write, by, act)
    decision = _decision(write, by, act, reason, seen, "passkey")
    return key_options.to_sign(offering.offer(decision, session), usable)


def _check_password(by: Person, password: str) -> None:
    left = guessing.take_again(by.username)
    if not by.check_password(password):
        raise WrongPassword(f"That is not your password. {guessing.left_in_words(left)}")
    guessing.forget_again(by.username)


@transaction.atomic
def _decide(
    write: WriteRequest, by: Person, act: Act, reason: str, shown: dict[str, Any],
    offered: OfferedStatement | None = None, assertion: dict[str, Any] | None = None,
) -> Decision:  # fmt: skip
    write = locked(write)
    if act in quorum.APPROVALS:
        limits.take_turns_approving(by)
    seen = _checked(write, by, act, shown)
    if offered is not None:
        decision = _signed(write, by, act, seen, offered, assertion)
    else:
        method = "password" if act in quorum.APPROVALS else "session"
        decision = _decision(write, by, act, reason, seen, method)
        _state(decision, digests.approval_statement(decision, approver=by.username, nonce=secrets.token_hex(16)))
    decision.save(force_insert=True)  # its key is drawn here, and nobody may update a decision
    _record_decision(decision)
    if not canaries.answer(decision):
        _move_on(write, act, seen)
    return decision


def _checked(write: WriteRequest, by: Person, act: Act, shown: dict[str, Any]) -> Preview | None:
    """The preview that a decision is about, with every rule about it held. Raises Stale or NotAllowed."""
    seen = quorum.latest_preview(write)
    guards.check_is_current(write, seen, **shown)
    guards.check_act(by, write, act, seen)
    if act in quorum.APPROVALS:
        guards.check_log_verifies()
    return seen


def _signed(
    write: WriteRequest, by: Person, act: Act, seen: Preview | None, offered: OfferedStatement,
    assertion: dict[str, Any] | None,
) -> Decision:  # fmt: skip
    """The decision that was signed, when the same would be offered now. Raises Stale.

    The signature is over what was offered up to five minutes ago; between then and the lock, anything may have come.
    """
    assertions.check_usable(write, by, act, assertion)
    decision = _decision(write, by, act, offered.reason, seen, "passkey")
    latest = decision.expires_at
    decision.expires_at = datetime.fromisoformat(offered.statement["expires_at"])
    made = digests.approval_statement(decision, approver=by.username, nonce=offered.statement["nonce"])
    if made != offered.statement or decision.expires_at > latest:
        raise Stale(
            f"{write.ref} changed between your key's signature and its arrival; decide again. Nothing was recorded.",
            seen=write.version, current=write.version,
        )  # fmt: skip
    _state(decision, made)
    decision.assertion = assertion
    return decision


def _move_on(write: WriteRequest, act: Act, seen: Preview | None) -> None:
    """Where the decision leaves the write. An approval that leaves a seat open leaves it waiting."""
    if act in STOPS:
        states.move(write, STOPS[act])
    elif quorum.is_complete(targets.of(write.target).policy, quorum.counted(write, seen)):
        states.move(write, WriteRequest.Status.APPROVED)
        outbox.enqueue("gate.writes.tasks.execute_write", "writes", write.pk)


def _decision(write: WriteRequest, by: Person, act: Act, reason: str, seen: Preview | None, method: str) -> Decision:
    return Decision(
        id=uuid4(), write=write, preview=seen, act=act, edition=write.edition, reason=reason, by=by, role=by.role,
        method=method, expires_at=_end_of(write, by, act, seen),
    )  # fmt: skip


def _state(decision: Decision, statement: dict[str, canonical.Scalar]) -> None:
    decision.statement, decision.digest = statement, digests.of_approval(statement)


def _end_of(write: WriteRequest, by: Person, act: Act, seen: Preview | None) -> datetime:
    """When the decision lapses. One that others must join waits with the write; the last one is for now."""
    policy = targets.of(write.target).policy
    left = quorum.open_seats(policy, quorum.counted(write, seen)) - Counter([by.role])
    if act == Act.APPROVE and left:
        return write.expires_at
    return min(write.expires_at, _now() + APPROVAL_LASTS)


def _now() -> datetime:
    """By the clock of the database, which the writer asks as well: a process may have a wrong one."""
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found


def _record_decision(decision: Decision) -> None:
    log.record_with(
        KINDS[Act(decision.act)], decision.by.actor(), subject=decision.write.ref, summary=decision.reason,
        incident_id=decision.write.incident_id, run_id=str(decision.write.investigation_id or ""),
        args=recorded.of(decision),
    )  # fmt: skip
