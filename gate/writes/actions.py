"""What people and agents do to writes. Each change is one function: lock, check, change, record, announce."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit import log, masking, outbox
from audit.agents import Principal
from audit.kinds import Kind
from gate.people import changes
from gate.people.models import Person
from gate.triage.models import Incident, Investigation
from gate.writes import admission, digests, guards, http_statement, limits, parameters, states, targets
from gate.writes.characters import hidden, unkept
from gate.writes.errors import Unfit
from gate.writes.models import PreviewRequest, WriteRequest
from gate.writes.statement import canonical

NOTHING: Mapping[str, Any] = MappingProxyType({})
LONGEST_TITLE = 200
LONGEST_REASON = 2_000


@transaction.atomic
def propose(
    *, target: str, statement: str, parameters: Any, title: str, reason: str, incident: str = "",
    by_agent: Principal | None = None, by_person: Person | None = None, undoes: WriteRequest | None = None,
    answers: Mapping[str, Any] = NOTHING, model: Mapping[str, Any] = NOTHING,
) -> WriteRequest:  # fmt: skip
    """A write that admission judges before a person sees it. Exactly one proposer.

    `answers` are the proposer's model's, to what the target's policy asks of a model. Raises Unfit, Duplicate or
    NotAllowed with a sentence.
    """
    if by_person is not None:
        with recorded_refusal(by_person, "a write", {"title": title}):
            guards.check_can_propose(by_person)
    write = proposal(target, statement, parameters, title, reason, incident)
    guards.check_may_propose_here(write.target, by_person)
    write.proposed_by_agent_id = by_agent.agent_id if by_agent else None
    write.proposed_by_person = by_person
    write.undoes = undoes
    take_answers(write, answers, model)
    with recorded_refusal(by_person, "a write", {"title": title}):
        limits.check_proposal(write, by_agent, by_person)
    write.investigation = _investigation(write, by_agent)
    write.proposal_digest = digests.of_proposal(write)
    write.save()
    record_proposal(write, proposer(by_agent, by_person))
    return write


def proposal(
    target: str, statement: str, given: Any, title: str, reason: str, incident: str
) -> WriteRequest:  # fmt: skip
    """What is proposed, read and bounded, not yet saved. Raises Unfit."""
    definition = targets.active(target)
    typed = parameters.read(given)
    action = targets.of(definition).action
    text = http_statement.canonical(action, statement, typed) if action else canonical(statement, len(typed))
    return WriteRequest(
        target=definition, statement=text.text, verb=text.verb, table=text.table,
        parameters=parameters.as_json(typed), title=_prose(title, "title", LONGEST_TITLE),
        reason=_prose(reason, "reason", LONGEST_REASON, allow="\n\r\t"), incident=_incident(incident),
        expires_at=timezone.now() + timedelta(seconds=targets.of(definition).policy.expiry_seconds),
    )  # fmt: skip


def take_answers(write: WriteRequest, answers: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Put down what the proposer's model answered. Raises Unfit where it holds what cannot be kept."""
    if code := unkept([answers, model]):
        raise Unfit(f"An answer holds the character {code}, which cannot be kept; leave it out.")
    write.answers, write.model = dict(answers), dict(model)


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


def proposer(by_agent: Principal | None, by_person: Person | None) -> log.Actor:
    """Whoever proposes or edits, in the log's words."""
    if by_agent is not None:
        return by_agent.actor()
    assert by_person is not None  # the table's constraint says the same
    return by_person.actor()


def record_proposal(write: WriteRequest, proposer: log.Actor) -> None:
    """Have a proposal in the log, and admission asked for it, in the transaction that saved it."""
    ask_admission(write)
    log.record_with(
        Kind.WRITE_PROPOSED, proposer, subject=write.ref, summary=f"{write.verb} in {write.table}",
        incident_id=write.incident_id, run_id=str(write.investigation_id or ""),
        args=masking.mask({
            "target": write.target.name, "target_version": write.target.version, "target_digest": write.target.digest,
            "statement": write.statement, "parameters": write.parameters, "title": write.title,
            "reason": write.reason, "incident": write.incident_id, "proposal": write.proposal_digest,
            "answers": write.answers, "model": write.model,
        }),
    )  # fmt: skip


def ask_admission(write: WriteRequest) -> None:
    """Have what is proposed observed and judged: until then nobody can do anything with it.

    Each time is a row of its own, for the outbox runs a task once for one subject.
    """
    with connection.cursor() as cursor:
        # Only these columns are granted: who asks cannot say what a model answered.
        cursor.execute(
            "insert into writes_admissionrequest (write_id, edition) values (%s, %s) returning id",
            [write.pk, write.edition],
        )
        (request_id,) = cursor.fetchone()
    outbox.enqueue("gate.writes.tasks.admit_write", "reads", request_id)


def ask_preview(write: WriteRequest, by: Person) -> PreviewRequest:
    """Ask the writer to show what the write would do.

    Raises NotAllowed; where that is admission.Outdated, the write is being judged anew by then.
    """
    with judged_anew(write):
        return _ask_preview(write, by)


@transaction.atomic
def _ask_preview(write: WriteRequest, by: Person) -> PreviewRequest:
    write = locked(write)
    with recorded_refusal(by, write.ref, {"act": "preview"}):
        guards.check_can_preview(by, write)
        guards.check_log_verifies()
    request = PreviewRequest.objects.create(write=write, by=by)
    if targets.of(write.target).first_look_source is not None:
        outbox.enqueue("gate.writes.tasks.first_look", "reads", request.pk)
    outbox.enqueue("gate.writes.tasks.preview_write", "writes", request.pk)
    return request


@contextmanager
def judged_anew(write: WriteRequest) -> Iterator[None]:
    """Have a write judged anew when what is done in here finds its admission outdated; the refusal goes on."""
    try:
        yield
    except admission.Outdated:
        _judge_anew(write)
        raise


@transaction.atomic
def _judge_anew(write: WriteRequest) -> None:
    """Back to being checked: nobody previews or approves it until admission has answered. Approvals given stay."""
    write = locked(write)
    if write.status == WriteRequest.Status.WAITING:
        states.move(write, WriteRequest.Status.PROPOSED)
        ask_admission(write)


def recorded_refusal(by: Person | None, subject: str, args: dict[str, Any]) -> AbstractContextManager[None]:
    """Have a person's refusal in the log before it is shown; an agent's desk records what it is refused itself."""
    return nullcontext() if by is None else changes.recorded_refusal(by, subject, **args)


def locked(write: WriteRequest) -> WriteRequest:
    """The write as it is now, kept so until the transaction ends. A rule tested before can be untrue by then."""
    return _writes().select_for_update(of=("self",)).get(pk=write.pk)


def found(write: WriteRequest) -> WriteRequest:
    """The write as it is now, which may be another in the next moment."""
    return _writes().get(pk=write.pk)


def _writes() -> QuerySet[WriteRequest]:
    return WriteRequest.objects.select_related("target", "proposed_by_agent")
