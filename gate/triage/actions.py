"""What people do to drafts. Each change is one function: lock, check, change, record."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.people import changes
from gate.people.models import Person
from gate.triage import guards
from gate.triage.models import Draft, Incident, Review

LEASE = timedelta(minutes=15)
SNOOZE = timedelta(hours=1)

KINDS = {
    Review.Act.AGREE: Kind.DRAFT_AGREED,
    Review.Act.OVERRULE: Kind.DRAFT_OVERRULED,
    Review.Act.SEND_BACK: Kind.DRAFT_SENT_BACK,
}
STATUSES = {
    Review.Act.AGREE: Draft.Status.AGREED,
    Review.Act.OVERRULE: Draft.Status.OVERRULED,
    Review.Act.SEND_BACK: Draft.Status.SENT_BACK,
}


def _lock(pk: int) -> Draft:
    # Lock first, then check: a rule tested on an unlocked row can be untrue by the next line.
    drafts = Draft.objects.select_for_update(of=("self",)).select_related("investigation__incident", "claimed_by")
    return drafts.get(pk=pk)


@transaction.atomic
def claim(pk: int, *, by: Person) -> Draft:
    """Take a draft for 15 minutes, or take it for longer. Raises NotAllowed."""
    draft = _lock(pk)
    guards.check_can_claim(by, draft)
    draft.status, draft.claimed_by, draft.claimed_until = Draft.Status.CLAIMED, by, timezone.now() + LEASE
    draft.save(update_fields=["status", "claimed_by", "claimed_until"])
    _record(Kind.DRAFT_CLAIMED, draft, by, "for 15 minutes")
    return draft


@transaction.atomic
def snooze(pk: int, *, by: Person) -> Draft:
    """Put a draft away for an hour. Raises NotAllowed."""
    draft = _lock(pk)
    guards.check_can_claim(by, draft)
    draft.status, draft.claimed_by, draft.claimed_until = Draft.Status.WAITING, None, None
    draft.snoozed_until = timezone.now() + SNOOZE
    draft.save(update_fields=["status", "claimed_by", "claimed_until", "snoozed_until"])
    _record(Kind.DRAFT_SNOOZED, draft, by, "for an hour")
    return draft


@transaction.atomic
def review(pk: int, *, by: Person, act: str, reason: str, seen_version: int) -> Review:
    """Decide about the version of a draft that `by` saw. Raises Stale or NotAllowed."""
    draft = _lock(pk)
    guards.check_can_review(by, draft, seen_version)
    if act == Review.Act.AGREE and draft.outcome == Draft.Outcome.PASS:
        # Locked before it is looked at: nothing is grouped into it between the look and the closing.
        draft.investigation.incident = _lock_incident(draft)
        _check_evidence(draft, by, reason)
    decision = Review.objects.create(draft=draft, act=act, reason=reason, seen_version=seen_version, by=by)
    draft.status, draft.version = STATUSES[Review.Act(act)], draft.version + 1
    draft.claimed_by = draft.claimed_until = None
    draft.save(update_fields=["status", "version", "claimed_by", "claimed_until"])
    _record(KINDS[Review.Act(act)], draft, by, reason, seen_version=seen_version, rendered=draft.outcome)
    _move_incident(draft, decision)
    return decision


def _check_evidence(draft: Draft, by: Person, reason: str) -> None:
    """Have it in the log when somebody was kept from closing on a pass: something happened to its evidence."""
    incident = draft.investigation.incident_id
    about = {"act": "agree", "draft": draft.pk, "reason": reason}
    with changes.recorded_refusal(by, draft.ref, incident_id=incident, **about):
        guards.check_evidence(draft)


def _lock_incident(draft: Draft) -> Incident:
    incidents = Incident.objects.select_for_update(of=("self",)).select_related("incident_class")
    return incidents.get(pk=draft.investigation.incident_id)


def _move_incident(draft: Draft, decision: Review) -> None:
    incident = _lock_incident(draft)
    incident.version += 1
    if decision.act == Review.Act.SEND_BACK:
        _send_back(incident, decision)
    elif is_fine(draft.outcome, decision.act):
        _close(incident, decision)
    else:
        _keep_open(incident, decision)


def is_fine(outcome: str, act: str) -> bool:
    """Whether the person says that the incident is over: a pass agreed with, or a fail overruled."""
    return (outcome == Draft.Outcome.PASS) == (act == Review.Act.AGREE)


def _close(incident: Incident, decision: Review) -> None:
    incident.status, incident.closed_at = Incident.Status.CLOSED, timezone.now()
    incident.save(update_fields=["status", "closed_at", "version"])
    _record_incident(Kind.INCIDENT_CLOSED, incident, decision)


def _keep_open(incident: Incident, decision: Review) -> None:
    incident.status, incident.owner = Incident.Status.OPEN, decision.by
    incident.save(update_fields=["status", "owner", "version"])
    _record_incident(Kind.ASSIGNMENT_CHANGED, incident, decision)


def _send_back(incident: Incident, decision: Review) -> None:
    # The next investigation's briefing carries the person's sentence; the agents' plane cannot read reviews.
    incident.status, incident.guidance = Incident.Status.OPEN, decision.reason
    incident.save(update_fields=["status", "guidance", "version"])
    _record_incident(Kind.INCIDENT_UPDATED, incident, decision)


def _record_incident(kind: Kind, incident: Incident, decision: Review) -> None:
    by = decision.by
    log.record_with(
        kind, by.actor(), subject=incident.ref, incident_id=incident.pk,
        summary=f"{decision.draft.ref} {decision.draft.get_status_display().lower()}",
        args={"status": incident.status, "review": decision.pk, "owner": by.username if incident.owner_id else None},
    )  # fmt: skip


def _record(kind: Kind, draft: Draft, by: Person, reason: str, **seen: object) -> None:
    investigation = draft.investigation
    log.record_with(
        kind, by.actor(), subject=draft.ref, summary=reason, incident_id=investigation.incident_id,
        run_id=str(investigation.pk), args={"draft": draft.pk, "reason": reason, "version": draft.version, **seen},
    )  # fmt: skip
