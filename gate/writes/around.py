"""What stands around a write on its page: comments, editions, the broken glass, and that it was a canary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import breaking_glass, commenting, editions, viewing
from gate.writes.models import Canary, Decision, GlassReview, WriteComment, WriteRequest


@dataclass
class Glass:
    """An approval that one person gave alone, with the reviews that it got."""

    decision: Decision
    person: Person

    @cached_property
    def reviews(self) -> list[GlassReview]:
        return list(self.decision.reviews.select_related("by").order_by("at"))

    @property
    def missing(self) -> int:
        return breaking_glass.REVIEWS - len(self.reviews)

    @cached_property
    def why_not(self) -> str:
        """Why this person reviews nothing here; empty when they may."""
        try:
            breaking_glass.check_can_review(self.person, self.decision)
        except NotAllowed as reason:
            return str(reason)
        return ""


@dataclass
class Around:
    """The surroundings of one write as one person sees them."""

    write: WriteRequest
    person: Person

    @cached_property
    def comments(self) -> list[WriteComment]:
        return list(self.write.comments.select_related("by").order_by("pk"))

    @cached_property
    def may_comment(self) -> bool:
        try:
            commenting.check_can_comment(self.person)
        except NotAllowed:
            return False
        return True

    @cached_property
    def editions(self) -> list[editions.Step]:
        return editions.of(self.write) if self.write.edition > 1 else []

    @cached_property
    def glass(self) -> Glass | None:
        """The approval that was given alone, when one was."""
        found = self.write.decisions.filter(act=Decision.Act.BREAK_GLASS).select_related("by", "write").first()
        return Glass(found, self.person) if found is not None else None

    @cached_property
    def canary(self) -> Canary | None:
        """That it was placed to be turned down: not before somebody decided, or its time is over."""
        if self.write.status == WriteRequest.Status.WAITING:
            return None
        return Canary.objects.filter(write=self.write).first()

    @property
    def seconds(self) -> int:
        """How long the page is read before it can be approved."""
        return viewing.seconds(self.write)
