"""Approved by one person alone, in an emergency: two others say afterwards whether it could have waited."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, QuerySet

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import guards
from gate.writes.actions import locked, recorded_refusal
from gate.writes.models import Decision, GlassReview

REVIEWS = 2
MOST_SHOWN = 20


@dataclass(frozen=True)
class Open:
    """A write that was approved alone and is not reviewed yet, as everybody's banner says it."""

    decision: Decision
    reviewed: int

    @property
    def missing(self) -> int:
        return REVIEWS - self.reviewed


def unreviewed() -> list[Open]:
    """What was approved alone and lacks a review, oldest first."""
    found = _unreviewed().select_related("write", "by").prefetch_related("reviews").order_by("at")[:MOST_SHOWN]
    return [Open(one, len(one.reviews.all())) for one in found]


def count() -> int:
    """How many were approved alone and lack a review."""
    return _unreviewed().count()


def _unreviewed() -> QuerySet[Decision]:
    alone = Decision.objects.filter(act=Decision.Act.BREAK_GLASS)
    return alone.annotate(given=Count("reviews")).filter(given__lt=REVIEWS)


def check_can_review(person: Person, decision: Decision) -> None:
    """Raises NotAllowed unless somebody reviews who decides about writes and had no part in this one."""
    if not person.has_perm("gate.decide_write"):
        raise NotAllowed("Your role reviews no writes; someone who decides about them does.")
    if decision.act != Decision.Act.BREAK_GLASS:
        raise NotAllowed(f"{decision.write.ref} was not approved alone, so there is nothing to review afterwards.")
    if decision.by_id == person.pk:
        raise NotAllowed(f"You approved {decision.write.ref} alone, so two other people review it.")
    guards.check_is_no_party(person, decision.write, "review")
    given = list(decision.reviews.values_list("by", flat=True))
    if person.pk in given:
        raise NotAllowed("You already reviewed it; somebody else does the other review.")
    if len(given) >= REVIEWS:
        raise NotAllowed(f"{decision.write.ref} has both its reviews.")


def review(decision: Decision, *, by: Person, finding: str, reason: str) -> GlassReview:
    """Say whether it could have waited. Raises NotAllowed, which is recorded."""
    with recorded_refusal(by, decision.write.ref, {"act": "review", "finding": finding, "reason": reason}):
        return _review(decision, by, GlassReview.Finding(finding), reason)


@transaction.atomic
def _review(decision: Decision, by: Person, finding: GlassReview.Finding, reason: str) -> GlassReview:
    write = locked(decision.write)  # so that a third review waits, and finds two
    check_can_review(by, decision)
    made = GlassReview.objects.create(decision=decision, by=by, finding=finding, reason=reason)
    log.record_with(
        Kind.WRITE_GLASS_REVIEWED, by.actor(), subject=write.ref, incident_id=write.incident_id,
        summary=f"{finding.label}: {reason}",
        args={"approval": decision.digest, "finding": finding.value, "reason": reason},
    )  # fmt: skip
    return made
