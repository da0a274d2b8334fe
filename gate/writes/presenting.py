"""What a write's page shows, worked out from rows and log before any template sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from django.shortcuts import get_object_or_404
from django.utils import timezone

from audit import retention
from audit.models import Retained
from gate.admission import decision_page, labels
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import (
    admission,
    admission_jobs,
    admission_panel,
    comparing,
    display,
    guards,
    history,
    http_display,
    lookalikes,
    policy_words,
    quorum,
    seats,
    settle_page,
    survival_marks,
    targets,
)
from gate.writes.around import Around
from gate.writes.effect_panel import EffectPanel
from gate.writes.grouping import SHOWN
from gate.writes.http_target import HttpAction
from gate.writes.may import May
from gate.writes.models import Decision, FirstLook, Preview, WriteRequest
from gate.writes.policy import Policy
from gate.writes.run_panel import RunPanel
from gate.writes.seats import Seats
from gate.writes.state_words import State, of_quorum, state_of

Status = WriteRequest.Status
UNDECIDED = (Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED)


@dataclass(frozen=True)
class Parameter:
    """A parameter, and what it rests on where there is anything to hold it against."""

    name: str
    type: str
    value: str | None
    argument: survival_marks.Argument | None


@dataclass
class WritePage:
    """One write as one person sees it."""

    write: WriteRequest
    person: Person

    @property
    def state(self) -> State:
        if self.is_waiting:
            return of_quorum(self.seats.given, self.policy.number)
        return state_of(self.write)

    @property
    def is_waiting(self) -> bool:
        return self.write.status == Status.WAITING

    @property
    def is_checked(self) -> bool:
        """Whether admission is still to answer."""
        return self.write.status == Status.PROPOSED

    @cached_property
    def check_trouble(self) -> str:
        """Why it is still being checked, where that went wrong again and again; empty when it did not."""
        return admission_jobs.trouble_with(self.write) if self.is_checked else ""

    @cached_property
    def admission(self) -> admission_panel.AdmissionPanel | None:
        """What a policy asked before anybody saw it, and what followed."""
        return admission_panel.of(self.write)

    @cached_property
    def labels(self) -> labels.Asked | None:
        """Whether the answers were right: asked once it is decided, for before that nobody knows."""
        entry = self.admission.entry if self.admission and self.write.status not in UNDECIDED else None
        page = decision_page.one(entry.tool, entry.seq) if entry else None
        return labels.asked(page, self.person) if page and page.version else None

    @cached_property
    def outdated(self) -> str:
        """That another version of the policy came in force since it was checked; empty when none did."""
        try:
            admission.check_is_current(self.write)
        except admission.Outdated as reason:
            return str(reason) if self.is_waiting else ""
        except NotAllowed:
            return ""
        return ""

    @property
    def is_open(self) -> bool:
        return self.write.status in guards.OPEN

    @property
    def is_idle(self) -> bool:
        """Whether people may decide and nothing is about to change the page."""
        return (self.is_open or self.may.withdraw) and not self.is_running

    @cached_property
    def is_running(self) -> bool:
        """Whether the writer is at work on it, so that the page changes by itself soon."""
        if self.write.status in (Status.PROPOSED, Status.EXECUTING):
            return True
        if self.write.status == Status.APPROVED and self.seats.approvals:
            return self.seats.approvals[-1].at > timezone.now() - guards.PREVIEW_TAKES
        return self.is_waiting and self._newest[0]

    @cached_property
    def _newest(self) -> tuple[bool, Preview | None]:
        """Whether a preview is being made, then the newest there is: one that comes in between is not missed."""
        return guards.is_being_previewed(self.write), quorum.latest_preview(self.write)

    @cached_property
    def decisions(self) -> list[Decision]:
        return list(self.write.decisions.select_related("by", "preview").order_by("at", "pk"))

    @cached_property
    def preview(self) -> Preview | None:
        """The preview that was approved, else the newest one."""
        approvals = seats.approvals(self.write, self.decisions)
        if approvals and not self.is_waiting:
            return approvals[-1].preview
        return self._newest[1]

    @cached_property
    def may(self) -> May:
        """What this person may do."""
        return May(self.write, self.person, self.preview)

    @cached_property
    def seats(self) -> Seats:
        """Who approved, and who is still to."""
        return Seats(self.write, self.decisions, self.preview, self.may)

    @cached_property
    def run(self) -> RunPanel:
        """What became of it."""
        return RunPanel(self.write, self.person, self.events)

    @cached_property
    def around(self) -> Around:
        """Comments, editions, the broken glass."""
        return Around(self.write, self.person)

    @cached_property
    def settling(self) -> settle_page.Settling | None:
        """What people look for, and found, where the writer could not say; None for any other write."""
        return settle_page.of(self.write, self.person, self.run.execution)

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
        return "proposed" if self.write.by_agent else "drafted"

    @cached_property
    def policy(self) -> Policy:
        return targets.of(self.write.target).policy

    @property
    def policy_words(self) -> str:
        """Who approves, and with what, under the version that it was proposed under."""
        return policy_words.in_short(self.write.target)

    @property
    def action(self) -> HttpAction | None:
        """What it sends, when it is no statement for a database."""
        return targets.of(self.write.target).action

    @property
    def target_ledger(self) -> str | None:
        """The table that proves a run; None where the transaction's number does."""
        return targets.of(self.write.target).ledger

    @cached_property
    def lines(self) -> list[display.Line]:
        return http_display.lines(self.write.statement) if self.action else display.lines(self.write.statement)

    @cached_property
    def marks(self) -> survival_marks.Marks:
        """What its arguments rest on."""
        return survival_marks.Marks(self.write)

    @property
    def parameters(self) -> list[Parameter]:
        pairs = zip_longest(self.write.parameters, self.marks.parameters)
        return [Parameter(f"${number}", one["t"], one["v"], mark) for number, (one, mark) in enumerate(pairs, 1)]

    @cached_property
    def lookalikes(self) -> list[lookalikes.Lookalike]:
        """Words of the statement, its parameters and its title that are not what they look like."""
        given = [(f"${number}", one["v"] or "") for number, one in enumerate(self.write.parameters, 1)]
        return lookalikes.found([("Title", self.write.title), ("Statement", self.write.statement), *given])

    @property
    def consequence(self) -> str:
        """What approving does, as its button says: update 1 row in shop.jobs."""
        if self.action:
            return f"send {self.action.method} to {self.write.table}"
        count = self.preview.row_count if self.preview else None
        rows = "rows" if count is None else f"{count:,} {'row' if count == 1 else 'rows'}"
        words = {"insert": "insert {} into {}", "update": "update {} in {}", "delete": "delete {} from {}"}
        return words[self.write.verb].format(rows, self.write.table)

    @cached_property
    def effect(self) -> EffectPanel | None:
        """What is approved about, or was written; None before a preview found an effect."""
        if self.preview is None or self.preview.error:
            return None
        return EffectPanel(self.write, self.preview, self.run.executed, self.person)

    @cached_property
    def first_look(self) -> FirstLook | None:
        """What a read-only credential saw of the newest edition."""
        looks = FirstLook.objects.filter(write=self.write, edition=self.write.edition)
        return looks.order_by("-pk").first()

    @property
    def first_look_rows(self) -> list[comparing.Compared]:
        """As many of its rows as stand one below the other."""
        return comparing.compared(self.first_look.rows[:SHOWN]) if self.first_look else []

    @cached_property
    def events(self) -> list[history.Event]:
        return history.of(self.write)

    @cached_property
    def pruned(self) -> list[Retained]:
        """The months since it was proposed that were dropped: its history has a hole there."""
        return retention.pruned_since(self.write.proposed_at)


def write_page(pk: int, person: Person) -> WritePage:
    """The page of one write. Raises Http404."""
    writes = WriteRequest.objects.select_related("target", "incident", "proposed_by_agent__owner", "proposed_by_person")
    return WritePage(get_object_or_404(writes, pk=pk), person)
