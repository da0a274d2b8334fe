"""Sending an agreed answer: the attempt is committed, then the mail server is asked once, then what came of it.

A process that dies in between leaves the attempt as it is, and pages say that nobody can tell. Nothing tries again.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from django.db import transaction

from audit import log
from audit.kinds import Kind
from audit.templatetags.ui import minutes_until
from gate.errors import NotAllowed
from gate.people import changes, limits, mail
from gate.people.models import Person
from gate.triage import sending_guards
from gate.triage.answers import wording
from gate.triage.models import Draft, Sending

Status = Sending.Status
KINDS = {
    Status.SENT: Kind.ANSWER_SENT,
    Status.REFUSED: Kind.ANSWER_REFUSED,
    Status.UNKNOWN: Kind.ANSWER_UNKNOWN,
}
MOST_BY_ONE, WITHIN = 30, timedelta(hours=1)  # whoever sends more writes to strangers in our name


def send(pk: int, *, by: Person, to: str, text: str, seen_sendings: int, again: bool) -> Sending:
    """Send the answer of a draft once, outside of any transaction. Raises Stale or NotAllowed before an attempt.

    The answer's status says what came of it: sent, refused, or unknown.
    """
    sending = _begin(pk, by, to, text, seen_sendings, again)
    status, why = _hand_over(sending)
    return _end(sending, by, status, why)


@transaction.atomic
def _begin(pk: int, by: Person, to: str, text: str, seen_sendings: int, again: bool) -> Sending:
    # Lock first, then check: a double press waits here and then finds one sending more than it saw.
    drafts = Draft.objects.select_for_update(of=("self",)).select_related("investigation__incident")
    draft = drafts.select_related("investigation__agent").get(pk=pk)
    with changes.recorded_refusal(by, draft.ref, act="send", to=to):
        sending_guards.check_can_send(by, draft)
        sending_guards.check_evidence_stands(draft)
        sending_guards.check_is_deliberate(list(draft.sendings.all()), seen_sendings, again)
        _take(by)
    sending = Sending.objects.create(draft=draft, by=by, to=to, subject=subject_of(draft), text=text)
    _record(Kind.ANSWER_ATTEMPTED, sending, by, summary=f"to {to}")
    return sending


def _take(by: Person) -> None:
    try:
        limits.take(f"answers by {by.pk}", most=MOST_BY_ONE, within=WITHIN)
    except limits.UsedUp as used:
        wait = minutes_until(used.until)
        raise NotAllowed(f"You sent {MOST_BY_ONE} answers within an hour. Try again in {wait}.") from used


def subject_of(draft: Draft) -> str:
    """The subject of the letter."""
    incident = draft.investigation.incident
    return mail.one_line(f"{incident.ref}: {incident.title}")[: mail.LONGEST_SUBJECT]


def _hand_over(sending: Sending) -> tuple[Status, str]:
    try:
        mail.send(to=sending.to, subject=sending.subject, text=sending.text)
    except mail.NotSent as problem:
        return (Status.UNKNOWN if problem.is_doubtful else Status.REFUSED), str(problem)
    return Status.SENT, ""


@transaction.atomic
def _end(sending: Sending, by: Person, status: Status, why: str) -> Sending:
    sending.status, sending.why = status, why
    sending.save(update_fields=["status", "why"])
    _record(KINDS[status], sending, by, summary=f"to {sending.to}", status=_in_the_log(status), error=why)
    return sending


def _in_the_log(status: Status) -> str:
    return "ok" if status == Status.SENT else status.value


def _record(kind: Kind, sending: Sending, by: Person, **about: Any) -> None:
    investigation = sending.draft.investigation
    log.record_with(
        kind, by.actor(), subject=sending.draft.ref, incident_id=investigation.incident_id,
        run_id=str(investigation.pk), **about,
        args={
            "sending": sending.pk, "to": sending.to, "subject": sending.subject, "text": sending.text,
            "sha256": hashlib.sha256(sending.text.encode()).hexdigest(), "agent": investigation.agent.name,
            "is_edited": sending.text != wording(investigation),
        },
    )  # fmt: skip
