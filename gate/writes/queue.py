"""The list of writes: what asks for this reader first, then what waits for others, then what is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Prefetch, QuerySet

from gate.people.models import Person
from gate.writes import quorum, targets
from gate.writes.models import Decision, Edition, Preview, WriteRequest
from gate.writes.policy import Policy
from gate.writes.state_words import State, of_quorum, state_of

Status = WriteRequest.Status
PAGE = 50
NOT_OVER = (
    Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED, Status.APPROVED, Status.EXECUTING, Status.UNKNOWN,
)  # fmt: skip
EXPIRES = (Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED, Status.APPROVED)


@dataclass
class Row:
    """One line of the list, as one person sees it. What it asks for is worked out from rows that were read at once."""

    write: WriteRequest
    person: Person

    @property
    def expires(self) -> bool:
        """Whether time still runs out for it."""
        return self.write.status in EXPIRES

    @cached_property
    def policy(self) -> Policy:
        return targets.of(self.write.target).policy

    @cached_property
    def approvals(self) -> list[Decision]:
        """The approvals that count for the effect which is shown now."""
        shown = max(self._previews, key=lambda one: one.pk, default=None)
        given = [one for one in self._decisions if one.act in quorum.APPROVALS and shown is not None]
        return [
            one for one in given
            if shown is not None and quorum.is_of(one, self.write, shown) and quorum.holds_its_seat(one)
        ]  # fmt: skip

    @property
    def state(self) -> State:
        """How it stands, with the parts of its quorum that are there."""
        if self.write.status == Status.WAITING:
            return of_quorum(len({one.by_id for one in self.approvals}), self.policy.number)
        return state_of(self.write)

    @cached_property
    def is_own(self) -> bool:
        return self.write.proposed_by_person_id == self.person.pk

    @cached_property
    def asks_for_me(self) -> bool:
        """Whether this person holds a seat that is open, and had no part in the write. Its page has the last word."""
        if self.write.status != Status.WAITING or not self.person.has_perm("gate.decide_write"):
            return False
        if self._is_party or any(one.by_id == self.person.pk for one in [*self._stops, *self.approvals]):
            return False
        left: Counter[str] = quorum.open_seats(self.policy, self.approvals)
        return left[self.person.role] > 0

    @property
    def _is_party(self) -> bool:
        agent = self.write.proposed_by_agent
        owners = {one.edited_by_agent.owner_id for one in self._edits if one.edited_by_agent is not None}
        editors = {one.edited_by_person_id for one in self._edits}
        return self.is_own or self.person.pk in {agent.owner_id if agent else None, *owners, *editors}

    @property
    def _stops(self) -> list[Decision]:
        return [one for one in self._decisions if one.act not in quorum.APPROVALS]

    @property
    def _decisions(self) -> list[Decision]:
        return [one for one in self.write.decisions.all() if one.edition == self.write.edition]

    @property
    def _previews(self) -> list[Preview]:
        return [one for one in self.write.previews.all() if one.edition == self.write.edition]

    @property
    def _edits(self) -> list[Edition]:
        return list(self.write.editions.all())


@dataclass(frozen=True)
class Group:
    """Rows that ask the same thing."""

    title: str
    rows: list[Row]
    note: str = ""


@dataclass(frozen=True)
class Page:
    """The groups that hold something, and where what is over goes on."""

    groups: list[Group]
    asking: int
    waiting: int
    older: int | None


def page(person: Person, before: int | None) -> Page:
    """The list from a place on: keyset paging by number. Later pages show only what is over."""
    writes = WriteRequest.objects.all()
    waiting = [] if before else listed(writes.filter(status__in=NOT_OVER).order_by("pk")[: PAGE * 2], person)
    over = writes.exclude(status__in=NOT_OVER).order_by("-pk")
    found = listed((over.filter(pk__lt=before) if before else over)[: PAGE + 1], person)
    older = found[PAGE - 1].write.pk if len(found) > PAGE else None
    groups = [*_grouped(waiting), Group("Decided", found[:PAGE], "newest first")]
    return Page([one for one in groups if one.rows], sum(row.asks_for_me for row in waiting), len(waiting), older)


def _grouped(rows: Iterable[Row]) -> list[Group]:
    left = list(rows)
    groups = []
    for title, belongs in GROUPS:
        groups.append(Group(title, [row for row in left if belongs(row)]))
        left = [row for row in left if not belongs(row)]
    return groups


GROUPS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("Asks for your approval", lambda row: row.asks_for_me),
    ("Came back to you", lambda row: row.is_own and row.write.status == Status.CHANGES_REQUESTED),
    ("Proposed by you", lambda row: row.is_own),
    ("Waits for others", lambda row: True),
)


def listed(writes: QuerySet[WriteRequest], person: Person) -> list[Row]:
    """These writes as lines of a list, read in four queries however many there are."""
    decided = Decision.objects.select_related("by")
    edits = Edition.objects.select_related("edited_by_agent").only(
        "write_id", "edited_by_person_id", "edited_by_agent__owner_id"
    )
    # Without the rows of what they show: those may be many.
    previews = Preview.objects.only("write_id", "edition", "digest")
    found = writes.select_related("target", "proposed_by_agent", "proposed_by_person").prefetch_related(
        Prefetch("decisions", decided), Prefetch("editions", edits), Prefetch("previews", previews)
    )
    return [Row(write, person) for write in found]
