"""People as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from audit.refusing import why_not
from gate.people import guards, leaving, visits
from gate.people.key_page import ShownKey, shown_keys
from gate.people.models import Change, Person, Visit

MOST_CHANGES = 50


def rows() -> QuerySet[Person]:
    """Everyone, those who left last, with the number of their sessions."""
    alone = visits.live().filter(person=OuterRef("pk")).order_by().values("person")
    sessions = Coalesce(Subquery(alone.annotate(number=Count("pk")).values("number")), 0)
    return Person.objects.annotate(sessions=sessions).order_by("-is_active", "username")


def waiting() -> QuerySet[Change]:
    """Changes that wait for a second admin, the oldest first."""
    return Change.objects.filter(status=Change.Status.WAITING).select_related("person", "drafted_by").order_by("pk")


class PersonPage:
    """What the page of one person shows."""

    def __init__(self, person: Person, reader: Person) -> None:
        self.person = person
        self.reader = reader

    @cached_property
    def changes(self) -> Sequence[Change]:
        found = self.person.changes.select_related("drafted_by", "decided_by", "person")
        return list(found.order_by("-pk")[:MOST_CHANGES])

    @cached_property
    def keys(self) -> Sequence[ShownKey]:
        return shown_keys(self.person)

    @property
    def waiting(self) -> Change | None:
        """The change that waits for a second admin."""
        return next((change for change in self.changes if change.status == Change.Status.WAITING), None)

    @property
    def deed(self) -> str:
        """What confirming does: change of role to on-call."""
        change = self.waiting
        if change is None:
            return ""
        return f"{change.get_act_display()}{f' to {change.get_role_display()}' if change.role else ''}"

    @property
    def effect(self) -> str:
        """What comes of confirming, for the reader."""
        is_solo = self.waiting is not None and self.waiting.drafted_by_id == self.reader.pk
        if is_solo and not self.why_not_confirm:
            return "You drafted it and there is no other admin: this is recorded as solo."
        return "It takes effect at once."

    @cached_property
    def why_not_confirm(self) -> str:
        """The sentence that keeps this reader from confirming; empty when nothing does."""
        waiting = self.waiting
        return "" if waiting is None else why_not(lambda: guards.check_can_confirm(waiting, self.reader))

    @cached_property
    def left(self) -> leaving.Left:
        """What would become of their work."""
        return leaving.of(self.person)

    @property
    def visits(self) -> QuerySet[Visit]:
        """Where they are signed in."""
        return visits.of(self.person)
