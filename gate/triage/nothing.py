"""What an inbox and a list of incidents say when they hold nothing: what was decided last, and what would show more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from gate.people.models import Person
from gate.triage import inbox
from gate.triage.models import Incident, Review

MOST_COUNTED = 1_000


@dataclass(frozen=True)
class WayOut:
    """A filter to drop: its words, the address without it, and how much that would show."""

    words: str
    query: str
    number: int

    @property
    def counted(self) -> str:
        """The number in words; counting stops early."""
        return f"more than {MOST_COUNTED:,}" if self.number > MOST_COUNTED else f"{self.number:,}"


class EmptyInbox:
    """An inbox without rows. It asks nothing of the database unless a page says it."""

    def __init__(self, filters: inbox.Filters, reader: Person) -> None:
        self.filters = filters
        self.reader = reader

    @property
    def last_review(self) -> Review | None:
        """The decision that emptied it."""
        return Review.objects.select_related("by").order_by("-pk").first()

    @property
    def ways_out(self) -> Sequence[WayOut]:
        """The filters that hide something, each with what it hides."""
        wider = []
        if self.filters.kind:
            wider.append(("Any kind", replace(self.filters, kind="")))
        if self.filters.text:
            wider.append(("Any words", replace(self.filters, text="")))
        found = [WayOut(words, _query(filters), self._shown(filters)) for words, filters in wider]
        return [way for way in found if way.number]

    def _shown(self, filters: inbox.Filters) -> int:
        return sum(len(group.rows) for group in inbox.groups(filters, self.reader))


def _query(filters: inbox.Filters) -> str:
    said = {"kind": filters.kind, "order": filters.order, "q": filters.text}
    return urlencode({name: value for name, value in said.items() if value})


def of_incidents() -> WayOut:
    """What a list of incidents without its filter would show."""
    return WayOut("Any status", "", Incident.objects.all()[: MOST_COUNTED + 1].count())
