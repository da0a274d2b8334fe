"""Incidents as people read them: a list by age, and one with all that happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import holds, retention, sentences
from audit.models import Entry, Hold, Retained
from gate.errors import NotAllowed
from gate.people import permissions
from gate.people.models import Person
from gate.triage import answers, given_up, guards, incident_guards, nothing, receipts
from gate.triage.models import Comment, Draft, Incident, Investigation
from gate.triage.rule_models import PromotedCase
from gate.writes.models import WriteRequest

PAGE_SIZE = 50
MOST_EVENTS = 200
MOST_PEOPLE = 500
# Calls are told as one line per investigation; the log has each of them.
NOT_IN_TIMELINE = ("call.started", "call.finished")


@dataclass(frozen=True)
class IncidentList:
    """One page of incidents, and where the older ones start."""

    incidents: Sequence[Incident]
    status: str
    statuses: Sequence[tuple[str, str]]
    older: int | None

    @property
    def way_out(self) -> nothing.WayOut:
        """What the list would show without its filter."""
        return nothing.of_incidents()


def page(query: Mapping[str, str]) -> IncidentList:
    """A page of the list, newest first, by number: the address carries the last number seen."""
    status, before = query.get("status", ""), query.get("before", "")
    found = Incident.objects.select_related("incident_class", "owner").order_by("-pk")
    if status in Incident.Status.values:
        found = found.filter(status=status)
    if before.isdecimal() and len(before) <= 18:
        found = found.filter(pk__lt=int(before))
    rows = list(found[: PAGE_SIZE + 1])
    older = rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
    return IncidentList(rows[:PAGE_SIZE], status, Incident.Status.choices, older)


class IncidentPage:
    """What the page of one incident shows."""

    def __init__(self, incident: Incident, person: Person) -> None:
        self.incident = incident
        self.person = person

    @property
    def means(self) -> dict[str, Any]:
        """The body of the class version that the incident was opened under."""
        return dict(self.incident.incident_class.body)

    @cached_property
    def holds(self) -> Sequence[Hold]:
        """The holds that keep what is recorded about it."""
        return holds.of_incident(self.incident.pk)

    @cached_property
    def pruned(self) -> Sequence[Retained]:
        """The months since it was opened that were dropped: the timeline has a hole there."""
        return retention.pruned_since(self.incident.opened_at)

    @cached_property
    def investigations(self) -> Sequence[Investigation]:
        return list(self.incident.investigations.select_related("agent").order_by("-pk"))

    @cached_property
    def given_up(self) -> set[int]:
        """The investigations whose verdict was given up: they wait for more than a moment."""
        return given_up.verdicts_of(self.investigations)

    @cached_property
    def drafts(self) -> Sequence[Draft]:
        found = Draft.objects.filter(investigation__incident=self.incident)
        return list(found.select_related("review__by", "investigation__agent").order_by("-pk"))

    @property
    def verdicts(self) -> Sequence[tuple[Draft, receipts.Shown]]:
        """The drafts, each with its verdict as it stands now."""
        shown = receipts.glanced(self.drafts)
        return [(draft, shown[draft.pk]) for draft in self.drafts]

    @cached_property
    def answer(self) -> answers.Answer | None:
        """The answer to copy or send: the newest that somebody agreed with."""
        agreed = (draft for draft in self.drafts if draft.status == Draft.Status.AGREED)
        return answers.of(next(agreed, None), self.person)

    @cached_property
    def writes(self) -> Sequence[WriteRequest]:
        return list(self.incident.writes.order_by("-pk"))

    @cached_property
    def events(self) -> Sequence[tuple[Entry, str, str]]:
        """The incident's entries with their sentences and what was said, newest first, without its calls."""
        found = Entry.objects.filter(incident_id=self.incident.pk).exclude(kind__in=NOT_IN_TIMELINE)
        entries = list(found.order_by("-seq")[:MOST_EVENTS])
        said = dict(self._comments(entries[-1].seq if entries else 0))
        return [(one, sentences.sentence(one), said.get(one.seq) or one.error or one.summary) for one in entries]

    def _comments(self, oldest: int) -> Iterable[tuple[int, str]]:
        # The header of an entry cuts a long text; the comment has it whole.
        return Comment.objects.filter(incident=self.incident, entry_seq__gte=oldest).values_list("entry_seq", "text")

    @cached_property
    def case(self) -> PromotedCase | None:
        """The case that was made of it."""
        return PromotedCase.objects.filter(incident=self.incident).defer("document").order_by("-pk").first()

    @property
    def may_promote(self) -> bool:
        """Whether this person could make a case of it; its form says what else is missing."""
        is_closed = self.incident.status == Incident.Status.CLOSED
        return is_closed and bool(self.drafts) and self.person.has_perm("gate.promote_case")

    @cached_property
    def why_not_close(self) -> str:
        """The sentence that keeps this person from closing it now; empty when nothing does."""
        return _sentence(lambda: incident_guards.check_can_close(self.person, self.incident))

    @cached_property
    def why_not_reopen(self) -> str:
        """The same for reopening it."""
        return _sentence(lambda: incident_guards.check_can_reopen(self.person, self.incident))

    @property
    def people(self) -> Sequence[Person]:
        """Those who can hold it."""
        roles = permissions.MATRIX["gate.discuss_incident"]
        return list(Person.objects.filter(is_active=True, role__in=roles).order_by("username")[:MOST_PEOPLE])

    @property
    def waiting(self) -> Sequence[Draft]:
        """The drafts that wait for a person."""
        return [draft for draft in self.drafts if draft.status in guards.OPEN]


def _sentence(check: Callable[[], None]) -> str:
    try:
        check()
    except NotAllowed as refusal:
        return str(refusal)
    return ""
