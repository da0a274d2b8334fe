"""What a write's page shows, worked out from rows and log before any template sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone

from audit import receipts, retention
from audit.kinds import Kind
from audit.models import Retained
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import actions, comparing, display, guards, history
from gate.writes.models import Decision, Execution, Preview, WriteRequest

Status = WriteRequest.Status
Act = Decision.Act

STATES = {
    Status.PROPOSED: ("◌", "", "Proposed"),
    Status.BLOCKED: ("✕", "state--bad", "Blocked"),
    Status.WAITING: ("◌", "state--wait", "Waits for an approval"),
    Status.APPROVED: ("✓", "state--ok", "Approved, not run yet"),
    Status.EXECUTING: ("●", "state--wait", "Executing"),
    Status.EXECUTED: ("✓", "state--ok", "Executed"),
    Status.REFUSED_STALE: ("✕", "state--bad", "Refused as stale"),
    Status.FAILED: ("✕", "state--bad", "Failed"),
    Status.UNKNOWN: ("?", "state--wait", "Not known if it ran"),
    Status.REJECTED: ("✕", "state--bad", "Rejected"),
    Status.WITHDRAWN: ("–", "", "Withdrawn"),
    Status.EXPIRED: ("–", "", "Expired"),
    Status.CHANGES_REQUESTED: ("↻", "state--wait", "Changes requested"),
}


@dataclass(frozen=True)
class State:
    """A status as people read it: glyph, color, words."""

    glyph: str
    css: str
    words: str


def state_of(write: WriteRequest) -> State:
    """The state of a write."""
    return State(*STATES[Status(write.status)])


def _refusal(check: Callable[..., None], *about: object) -> str:
    """The sentence that a guard raises; empty when it lets the act pass."""
    try:
        check(*about)
    except NotAllowed as reason:
        return str(reason)
    return ""


@dataclass
class WritePage:
    """One write as one person sees it."""

    write: WriteRequest
    person: Person

    @property
    def state(self) -> State:
        return state_of(self.write)

    @property
    def is_open(self) -> bool:
        return self.write.status in guards.OPEN

    @property
    def by_agent(self) -> bool:
        return self.write.proposed_by_agent_id is not None

    @property
    def proposer(self) -> str:
        agent = self.write.proposed_by_agent
        return agent.name if agent is not None else str(self.write.proposed_by_person)

    @cached_property
    def owner(self) -> str:
        """Who answers for the agent that proposed; empty for a person's proposal."""
        agent = self.write.proposed_by_agent
        return str(agent.owner) if agent is not None else ""

    @property
    def edge(self) -> str:
        """Dashed violet is an agent's, dashed ink a person's, solid what is recorded."""
        if self.write.status in (Status.EXECUTED, Status.EXECUTING):
            return ""
        return "proposed" if self.by_agent else "drafted"

    @cached_property
    def lines(self) -> list[display.Line]:
        return display.lines(self.write.statement)

    @cached_property
    def preview(self) -> Preview | None:
        """The preview that was decided about, else the newest one."""
        if self.approval is not None:
            return self.approval.preview
        return actions.latest_preview(self.write)

    @cached_property
    def decisions(self) -> list[Decision]:
        return list(self.write.decisions.select_related("by", "preview").order_by("at"))

    @cached_property
    def approval(self) -> Decision | None:
        return next((one for one in self.decisions if one.act == Act.APPROVE), None)

    @cached_property
    def execution(self) -> Execution | None:
        return Execution.objects.filter(write=self.write).first()

    @cached_property
    def receipt(self) -> receipts.Checked | None:
        """The receipt of what the writer recorded, held against the log now; None before it did."""
        if self.execution is None or self.execution.receipt is None:
            return None
        given = receipts.Receipt.of_json(self.execution.receipt)
        return receipts.recheck([given])[given]

    @cached_property
    def executed(self) -> Execution | None:
        """The run that wrote, when one did."""
        return self.execution if self.write.status == Status.EXECUTED else None

    @property
    def rows(self) -> list[comparing.Compared]:
        """The rows that are approved about, or that were written."""
        if self.executed is not None:
            return comparing.compared(self.executed.rows)
        return comparing.compared(self.preview.rows, self.preview.volatile) if self.preview else []

    @property
    def differences(self) -> list[comparing.Compared]:
        """What a stale write found changed."""
        is_stale = self.write.status == Status.REFUSED_STALE and self.execution is not None
        return comparing.compared(self.execution.rows) if is_stale and self.execution else []

    @property
    def touched(self) -> list[tuple[int, str, str]]:
        return comparing.touched(self.preview.footprint) if self.preview else []

    @property
    def consequence(self) -> str:
        """What approving does, as its button says: update 1 row in shop.jobs."""
        count = self.preview.row_count if self.preview else None
        rows = "rows" if count is None else f"{count:,} {'row' if count == 1 else 'rows'}"
        words = {"insert": "insert {} into {}", "update": "update {} in {}", "delete": "delete {} from {}"}
        return words[self.write.verb].format(rows, self.write.table)

    @cached_property
    def is_running(self) -> bool:
        """Whether the writer is at work on it, so that the page changes by itself soon."""
        if self.write.status == Status.EXECUTING:
            return True
        if self.write.status == Status.APPROVED and self.approval is not None:
            return self.approval.at > timezone.now() - guards.PREVIEW_TAKES
        return self.write.status == Status.WAITING and guards.is_being_previewed(self.write)

    @property
    def is_idle(self) -> bool:
        """Whether people may decide and nothing is about to change the page."""
        return self.is_open and not self.is_running

    def _why_not(self, act: str) -> str:
        return _refusal(guards.check_act, self.person, self.write, act, self.preview)

    @cached_property
    def log_off(self) -> str:
        """Why nobody approves or previews anything now; empty while the log verifies."""
        return _refusal(guards.check_log_verifies)

    @cached_property
    def no_approval(self) -> str:
        """Why this person may not approve now; empty when they may."""
        return self.no_approver or self._why_not(Act.APPROVE)

    @cached_property
    def no_approver(self) -> str:
        """Why this person may never approve this write, preview or not; empty when they may."""
        return _refusal(guards.check_can_approve, self.person, self.write) or self.log_off

    @cached_property
    def may_turn_down(self) -> bool:
        return not self._why_not(Act.REJECT)

    @cached_property
    def may_withdraw(self) -> bool:
        return not self._why_not(Act.WITHDRAW)

    @property
    def may_decide(self) -> bool:
        return not self.no_approval or self.may_turn_down or self.may_withdraw

    @cached_property
    def no_preview(self) -> str:
        """Why this person may not ask for a preview now."""
        return _refusal(guards.check_can_preview, self.person, self.write) or self.log_off

    @cached_property
    def events(self) -> list[history.Event]:
        return history.of(self.write)

    @cached_property
    def pruned(self) -> list[Retained]:
        """The months since it was proposed that were dropped: its history has a hole there."""
        return retention.pruned_since(self.write.proposed_at)

    @property
    def outcome_entry(self) -> history.Event | None:
        """The entry of what the writer did last."""
        return next((event for event in self.events if event.did in OUTCOMES), None)

    @property
    def writer_says(self) -> str:
        """Why the writer did not write, in its sentence."""
        if self.execution is not None and self.execution.error:
            return self.execution.error
        return self.outcome_entry.note if self.outcome_entry else ""


OUTCOMES = frozenset(
    history.DID[kind] for kind in (Kind.WRITE_EXECUTED, Kind.WRITE_REFUSED_STALE, Kind.WRITE_FAILED, Kind.WRITE_UNKNOWN)
)


def write_page(pk: int, person: Person) -> WritePage:
    """The page of one write. Raises Http404."""
    writes = WriteRequest.objects.select_related("target", "incident", "proposed_by_agent__owner", "proposed_by_person")
    return WritePage(get_object_or_404(writes, pk=pk), person)


@dataclass(frozen=True)
class ListRow:
    """One line of the list."""

    write: WriteRequest
    state: State

    @property
    def proposer(self) -> str:
        agent = self.write.proposed_by_agent
        return agent.name if agent is not None else str(self.write.proposed_by_person)


PAGE = 50
NOT_OVER = (Status.PROPOSED, Status.WAITING, Status.APPROVED, Status.EXECUTING, Status.UNKNOWN)


@dataclass(frozen=True)
class WritesPage:
    """The list: what is not over, oldest first, and what is, newest first."""

    waiting: list[ListRow]
    over: list[ListRow]
    older: int | None


def writes_page(before: int | None) -> WritesPage:
    """The list from a place on: keyset paging by number. Later pages show only what is over."""
    writes = WriteRequest.objects.select_related("proposed_by_agent", "proposed_by_person")
    waiting = [] if before else _rows(writes.filter(status__in=NOT_OVER).order_by("pk")[:PAGE])
    over = writes.exclude(status__in=NOT_OVER).order_by("-pk")
    found = _rows((over.filter(pk__lt=before) if before else over)[: PAGE + 1])
    older = found[PAGE - 1].write.pk if len(found) > PAGE else None
    return WritesPage(waiting, found[:PAGE], older)


def _rows(writes: QuerySet[WriteRequest]) -> list[ListRow]:
    return [ListRow(write, state_of(write)) for write in writes]
