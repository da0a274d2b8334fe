"""Making a case for replay of a closed incident: who may, when, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.db import transaction

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import history, promotion
from gate.triage.models import Draft, Incident, Investigation, Review
from gate.triage.promotion import Ending
from gate.triage.rule_forms import ENDINGS
from gate.triage.rule_models import PromotedCase


@dataclass(frozen=True)
class Told:
    """What a person says about the end of an incident."""

    ending: str  # one of ENDINGS
    source: str
    reference: str
    on: date
    why: str


def candidate(incident: Incident) -> Draft | None:
    """The newest draft of an incident: its evidence is what the case keeps."""
    drafts = Draft.objects.filter(investigation__incident=incident).select_related("investigation", "review__by")
    return drafts.order_by("-pk").first()


def check_can_promote(person: Person, incident: Incident) -> None:
    """Raises NotAllowed when the role does not, the incident is open, or there is nothing to keep or it is kept."""
    if not person.has_perm("gate.promote_case"):
        raise NotAllowed("Your role makes no cases; someone on call or an admin does.")
    if incident.status != Incident.Status.CLOSED:
        raise NotAllowed(f"{incident.ref} is open: how it ends is not known yet.")
    draft = candidate(incident)
    if draft is None:
        raise NotAllowed(f"Nothing was handed in about {incident.ref}, so there is no evidence to keep.")
    if PromotedCase.objects.filter(investigation=draft.investigation).exists():
        raise NotAllowed(f"{incident.ref} is a case already.")


def check_is_independent(person: Person, draft: Draft, told: Told) -> None:
    """Raises NotAllowed when who says how it ended is who decided about the verdict, or said so before it began."""
    review: Review | None = getattr(draft, "review", None)
    if told.source == PromotedCase.Source.SECOND_REVIEWER and review is not None and review.by_id == person.pk:
        raise NotAllowed(f"You decided about {draft.ref} yourself; a second reviewer is somebody else.")
    if told.on < draft.investigation.incident.began_at.date():
        raise NotAllowed(f"{draft.investigation.incident.ref} had not begun on that day.")


@transaction.atomic
def promote(pk: int, told: Told, *, by: Person) -> PromotedCase:
    """Keep the incident's newest investigation as a case. Raises NotAllowed."""
    incident = Incident.objects.select_for_update(of=("self",)).select_related("incident_class").get(pk=pk)
    check_can_promote(by, incident)
    draft = candidate(incident)
    assert draft is not None  # checked just now
    check_is_independent(by, draft, told)
    case = _create(incident, draft.investigation, told, by)
    log.record_with(
        Kind.CASE_PROMOTED, by.actor(), subject=incident.ref, incident_id=incident.pk, summary=told.why[:200],
        args={"case": case.name, "sha256": case.sha256, "expected": case.expected, "outcome": case.outcome,
              "source": told.source, "reference": told.reference, "on": told.on.isoformat(), "why": told.why},
    )  # fmt: skip
    return case


def _create(incident: Incident, investigation: Investigation, told: Told, by: Person) -> PromotedCase:
    outcome, expected = ENDINGS[told.ending]
    name = f"{investigation.hypothesis}-{incident.pk}-{investigation.pk}".replace("_", "-").lower()
    source = f"{PromotedCase.Source(told.source).label}: {told.reference}"
    ending = Ending(name, incident.title, expected, outcome, told.why, source, told.on.isoformat())
    situation = history.situation_of(_with_class(investigation, incident), None)
    document = promotion.text_of(promotion.document_of(situation, ending))
    return PromotedCase.objects.create(
        investigation=investigation, incident=incident, name=name, hypothesis=investigation.hypothesis,
        document=document, sha256=promotion.sha256_of(document), expected=expected, outcome=outcome,
        outcome_source=told.source, outcome_reference=told.reference, outcome_on=told.on, why=told.why,
        promoted_by=by,
    )  # fmt: skip


def _with_class(investigation: Investigation, incident: Incident) -> Investigation:
    """The investigation with its incident as it is locked here: nothing is read a second time."""
    investigation.incident = incident
    return investigation
