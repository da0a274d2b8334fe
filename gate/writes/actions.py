"""What people and agents do to writes. Each change is one function: lock, check, change, record, announce."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from audit import log, masking, outbox
from audit.agents import Principal
from audit.kinds import Kind
from gate.errors import NotAllowed, Stale
from gate.people import guessing
from gate.people.models import Person
from gate.triage.models import Incident, Investigation
from gate.writes import digests, guards, parameters, states, targets
from gate.writes.characters import hidden
from gate.writes.errors import Unfit
from gate.writes.models import Decision, Preview, PreviewRequest, WriteRequest
from gate.writes.statement import canonical

LONGEST_TITLE = 200
LONGEST_REASON = 2_000
# A person approved what they saw now; a writer that was away for longer asks them again.
APPROVAL_LASTS = timedelta(minutes=15)

Act = Decision.Act
STATUSES = {
    Act.APPROVE: WriteRequest.Status.APPROVED,
    Act.REJECT: WriteRequest.Status.REJECTED,
    Act.REQUEST_CHANGES: WriteRequest.Status.CHANGES_REQUESTED,
    Act.WITHDRAW: WriteRequest.Status.WITHDRAWN,
}
KINDS = {
    Act.APPROVE: Kind.WRITE_APPROVED,
    Act.REJECT: Kind.WRITE_REJECTED,
    Act.REQUEST_CHANGES: Kind.WRITE_CHANGES_REQUESTED,
    Act.WITHDRAW: Kind.WRITE_WITHDRAWN,
}


class WrongPassword(NotAllowed):
    """The password that goes with an approval was not the person's."""


@transaction.atomic
def propose(
    *, target: str, statement: str, parameters: Any, title: str, reason: str, incident: str = "",
    by_agent: Principal | None = None, by_person: Person | None = None,
) -> WriteRequest:  # fmt: skip
    """A write that waits for a person. Exactly one proposer. Raises Unfit or NotAllowed with a sentence."""
    if by_person is not None:
        with _recorded_refusal(by_person, "a write", {"title": title}):
            guards.check_can_propose(by_person)
    write = _proposal(target, statement, parameters, title, reason, incident)
    write.proposed_by_agent_id = by_agent.agent_id if by_agent else None
    write.proposed_by_person = by_person
    write.investigation = _investigation(write, by_agent)
    write.proposal_digest = digests.of_proposal(write)
    write.save()
    _record_proposal(write, _proposer(by_agent, by_person))
    return write


def _proposal(
    target: str, statement: str, given: Any, title: str, reason: str, incident: str
) -> WriteRequest:  # fmt: skip
    definition = targets.active(target)
    typed = parameters.read(given)
    text = canonical(statement, len(typed))
    return WriteRequest(
        target=definition, statement=text.text, verb=text.verb, table=text.table,
        parameters=parameters.as_json(typed), title=_prose(title, "title", LONGEST_TITLE),
        reason=_prose(reason, "reason", LONGEST_REASON, allow="\n\r\t"), incident=_incident(incident),
        expires_at=timezone.now() + timedelta(seconds=targets.of(definition).expiry_seconds),
    )  # fmt: skip


def _prose(text: str, what: str, longest: int, allow: str = "") -> str:
    kept = text.strip()
    if not kept:
        raise Unfit(f"A write needs a {what}: one sentence that the next reader can check.")
    if len(kept) > longest:
        raise Unfit(f"The {what} is longer than {longest:,} characters.")
    if code := hidden(kept, allow):
        raise Unfit(f"The {what} holds the character {code}, which a reader would not see.")
    return kept


def _incident(ref: str) -> Incident | None:
    if not ref:
        return None
    number = re.fullmatch(r"I-([1-9][0-9]{0,17})", ref)
    found = Incident.objects.filter(pk=int(number[1])).first() if number else None
    if found is None:
        raise Unfit("There is no open incident of this number; name one like I-318, or leave it out.")
    return found


def _investigation(write: WriteRequest, by_agent: Principal | None) -> Investigation | None:
    if by_agent is None or write.incident_id is None:
        return None
    own = Investigation.objects.filter(agent_id=by_agent.agent_id, incident_id=write.incident_id)
    return own.order_by("-pk").first()


def _proposer(by_agent: Principal | None, by_person: Person | None) -> log.Actor:
    if by_agent is not None:
        return by_agent.actor()
    assert by_person is not None  # the table's constraint says the same
    return by_person.actor()


def _record_proposal(write: WriteRequest, proposer: log.Actor) -> None:
    log.record_with(
        Kind.WRITE_PROPOSED, proposer, subject=write.ref, summary=f"{write.verb} in {write.table}",
        incident_id=write.incident_id, run_id=str(write.investigation_id or ""),
        args=masking.mask({
            "target": write.target.name, "target_version": write.target.version, "target_digest": write.target.digest,
            "statement": write.statement, "parameters": write.parameters, "title": write.title,
            "reason": write.reason, "incident": write.incident_id, "proposal": write.proposal_digest,
        }),
    )  # fmt: skip


@transaction.atomic
def ask_preview(write: WriteRequest, by: Person) -> PreviewRequest:
    """Ask the writer to show what the write would do. Raises NotAllowed."""
    write = _lock(write)
    with _recorded_refusal(by, write.ref, {"act": "preview"}):
        guards.check_can_preview(by, write)
        guards.check_log_verifies()
    request = PreviewRequest.objects.create(write=write, by=by)
    outbox.enqueue("gate.writes.tasks.preview_write", "writes", request.pk)
    return request


def decide(
    write: WriteRequest, *, by: Person, act: str, reason: str, seen_version: int, password: str = "",
    proposal_digest: str = "", preview_digest: str = "",
) -> Decision:  # fmt: skip
    """Approve, reject, request changes to or withdraw what `by` saw.

    Raises Stale when that is not what is there now, WrongPassword, or NotAllowed; the last two are recorded.
    """
    shown = {"version": seen_version, "proposal": proposal_digest, "preview": preview_digest}
    with _recorded_refusal(by, write.ref, {"act": act, "reason": reason, **shown}):
        # Before the lock: checking a password is slow by design.
        if act == Act.APPROVE:
            _check_password(by, password)
        return _decide(write, by, Act(act), reason, shown)


@contextmanager
def _recorded_refusal(by: Person, subject: str, args: dict[str, Any]) -> Iterator[None]:
    """Have a refusal in the log before it is shown. To have read an old page is no attempt at anything."""
    try:
        yield
    except Stale:
        raise
    except NotAllowed as refusal:
        log.record(
            Kind.PERSON_REFUSED, by.actor(), subject=subject, status="refused", summary=str(refusal)[:200], args=args
        )
        raise


def _check_password(by: Person, password: str) -> None:
    left = guessing.take_again(by.username)
    if not by.check_password(password):
        raise WrongPassword(f"That is not your password. {guessing.left_in_words(left)}")
    guessing.forget_again(by.username)


@transaction.atomic
def _decide(write: WriteRequest, by: Person, act: Act, reason: str, shown: dict[str, Any]) -> Decision:
    write = _lock(write)
    seen = latest_preview(write)
    guards.check_is_current(write, seen, **shown)
    guards.check_act(by, write, act, seen)
    if act == Act.APPROVE:
        guards.check_log_verifies()
    decision = _decision(write, by, act, reason, seen)
    decision.save(force_insert=True)  # its key is drawn here, and nobody may update a decision
    states.move(write, STATUSES[act])
    _record_decision(decision)
    if act == Act.APPROVE:
        outbox.enqueue("gate.writes.tasks.execute_write", "writes", write.pk)
    return decision


def _lock(write: WriteRequest) -> WriteRequest:
    # Lock first, then check: a rule tested on an unlocked row can be untrue by the next line.
    writes = WriteRequest.objects.select_for_update(of=("self",)).select_related("target", "proposed_by_agent")
    return writes.get(pk=write.pk)


def latest_preview(write: WriteRequest) -> Preview | None:
    """The preview that counts: the newest one."""
    return write.previews.order_by("-pk").first()


def _decision(write: WriteRequest, by: Person, act: Act, reason: str, seen: Preview | None) -> Decision:
    decision = Decision(
        id=uuid4(), write=write, preview=seen, act=act, reason=reason, by=by,
        method="password" if act == Act.APPROVE else "session",
        expires_at=min(write.expires_at, timezone.now() + APPROVAL_LASTS),
    )  # fmt: skip
    decision.statement = digests.approval_statement(decision, approver=by.username, nonce=secrets.token_hex(16))
    decision.digest = digests.of_approval(decision.statement)
    return decision


def _record_decision(decision: Decision) -> None:
    log.record_with(
        KINDS[Act(decision.act)], decision.by.actor(), subject=decision.write.ref, summary=decision.reason[:200],
        incident_id=decision.write.incident_id, run_id=str(decision.write.investigation_id or ""),
        args={"digest": decision.digest, "statement": decision.statement, "reason": decision.reason},
    )  # fmt: skip
