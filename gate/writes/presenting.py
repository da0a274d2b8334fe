"""What a write's page shows, worked out from rows and log before any template sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from django.shortcuts import get_object_or_404
from django.utils import timezone

from audit import receipts, retention
from audit.kinds import Kind
from audit.models import Retained
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import (
    comparing,
    display,
    guards,
    history,
    http_display,
    lookalikes,
    policy_words,
    quorum,
    settle_page,
    targets,
    undo,
    ways,
)
from gate.writes.around import Around
from gate.writes.effect_panel import EffectPanel
from gate.writes.grouping import SHOWN
from gate.writes.http_target import HttpAction
from gate.writes.models import Decision, Execution, FirstLook, Preview, WriteRequest
from gate.writes.policy import Policy

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
    Status.SETTLED_EXECUTED: ("✓", "", "Executed, as people found"),
    Status.SETTLED_FAILED: ("✕", "", "Not executed, as people found"),
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


def of_quorum(given: int, needed: int) -> State:
    """How far a write that waits has come: ◐ 1 of 2 approved."""
    return State("◐" if given else "◌", "state--wait", f"{given} of {needed} approved")


def told(decided: Decision) -> str:
    """What became of the write by a decision, in a sentence."""
    write = decided.write
    if decided.act in quorum.APPROVALS and write.status == Status.WAITING:
        policy = targets.of(write.target).policy
        left = quorum.seats_in_words(quorum.open_seats(policy, quorum.counted(write, decided.preview)))
        return f"{write.ref}: your approval is recorded; it still needs {left}."
    return f"{write.ref}: {guards.words(write)}."


def _refusal(check: Callable[..., None], *about: object) -> str:
    """The sentence that a guard raises; empty when it lets the act pass."""
    try:
        check(*about)
    except NotAllowed as reason:
        return str(reason)
    return ""


VOIDED = (Status.REFUSED_STALE, Status.EXPIRED, Status.REJECTED, Status.WITHDRAWN, Status.CHANGES_REQUESTED)


@dataclass(frozen=True)
class Slot:
    """A place for an approval, filled or open."""

    role: str
    given: Decision | None = None
    is_void: bool = False
    is_hidden: bool = False  # its reason, from whoever is still to decide
    is_yours: bool = False  # open, and of the role of whoever looks


@dataclass
class WritePage:
    """One write as one person sees it."""

    write: WriteRequest
    person: Person

    @property
    def state(self) -> State:
        if self.is_waiting and self.counted:
            return of_quorum(len({one.by_id for one in self.counted}), self.policy.number)
        return state_of(self.write)

    @cached_property
    def around(self) -> Around:
        """Comments, editions, the broken glass."""
        return Around(self.write, self.person)

    @cached_property
    def may_break_glass(self) -> bool:
        return not self.ways.none and not self.log_off and not self._why_not(Act.BREAK_GLASS)

    @property
    def is_open(self) -> bool:
        return self.write.status in guards.OPEN

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
    def lookalikes(self) -> list[lookalikes.Lookalike]:
        """Words of the statement, its parameters and its title that are not what they look like."""
        given = [(f"${number}", one["v"] or "") for number, one in enumerate(self.write.parameters, 1)]
        return lookalikes.found([("Title", self.write.title), ("Statement", self.write.statement), *given])

    @cached_property
    def preview(self) -> Preview | None:
        """The preview that was approved, else the newest one."""
        if self.approvals and not self.is_waiting:
            return self.approvals[-1].preview
        return quorum.latest_preview(self.write)

    @cached_property
    def decisions(self) -> list[Decision]:
        return list(self.write.decisions.select_related("by", "preview").order_by("at", "pk"))

    @property
    def is_waiting(self) -> bool:
        return self.write.status == Status.WAITING

    @cached_property
    def policy(self) -> Policy:
        return targets.of(self.write.target).policy

    @cached_property
    def approvals(self) -> list[Decision]:
        """The approvals of the newest edition, whatever effect they were about."""
        return [one for one in self.decisions if one.act in quorum.APPROVALS and one.edition == self.write.edition]

    @cached_property
    def counted(self) -> list[Decision]:
        """Those of them that count for what is shown now."""
        return [one for one in self.approvals if self.preview and quorum.is_of(one, self.write, self.preview)]

    @cached_property
    def slots(self) -> list[Slot]:
        """A slot for each approval, and for each seat that is still open."""
        given = [self._slot(one) for one in self.approvals]
        open_now = quorum.open_seats(self.policy, self.counted) if self.is_waiting else {}
        seats = [role for role, number in sorted(open_now.items()) for _ in range(number)]
        return given + [Slot(Person.Role(role).label, is_yours=role == self.person.role) for role in seats]

    def _slot(self, one: Decision) -> Slot:
        is_void = one not in self.counted or self.write.status in VOIDED
        return Slot(Person.Role(one.role).label, one, is_void, is_hidden=not self._may_read(one))

    def _may_read(self, one: Decision) -> bool:
        """Whether a reason is shown. Whoever may still decide reads nobody's before they did."""
        has_decided = any(mine.by_id == self.person.pk for mine in self.approvals)
        return not self.is_waiting or has_decided or bool(self.no_approver)

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

    @cached_property
    def effect(self) -> EffectPanel | None:
        """What is approved about, or was written; None before a preview found an effect."""
        if self.preview is None or self.preview.error:
            return None
        return EffectPanel(self.write, self.preview, self.executed, self.person)

    @cached_property
    def first_look(self) -> FirstLook | None:
        """What a read-only credential saw of the newest edition."""
        looks = FirstLook.objects.filter(request__write=self.write, edition=self.write.edition)
        return looks.order_by("-pk").first()

    @property
    def first_look_rows(self) -> list[comparing.Compared]:
        """As many of its rows as stand one below the other."""
        return comparing.compared(self.first_look.rows[:SHOWN]) if self.first_look else []

    @cached_property
    def undos(self) -> list[WriteRequest]:
        """The proposals to undo it, oldest first."""
        return list(self.write.undos.order_by("pk"))

    @cached_property
    def no_undo(self) -> str:
        """Why nobody may propose to undo it now, or this person may not; empty when they may."""
        return _refusal(guards.check_can_propose, self.person) or _refusal(undo.check, self.write)

    @property
    def differences(self) -> list[comparing.Compared]:
        """What a stale write found changed."""
        is_stale = self.write.status == Status.REFUSED_STALE and self.execution is not None
        return comparing.compared(self.execution.rows) if is_stale and self.execution else []

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
    def is_running(self) -> bool:
        """Whether the writer is at work on it, so that the page changes by itself soon."""
        if self.write.status == Status.EXECUTING:
            return True
        if self.write.status == Status.APPROVED and self.approvals:
            return self.approvals[-1].at > timezone.now() - guards.PREVIEW_TAKES
        return self.write.status == Status.WAITING and guards.is_being_previewed(self.write)

    @property
    def is_idle(self) -> bool:
        """Whether people may decide and nothing is about to change the page."""
        return (self.is_open or self.may_withdraw) and not self.is_running

    @property
    def is_last(self) -> bool:
        """Whether one more approval is all that it needs."""
        return sum(quorum.open_seats(self.policy, self.counted).values()) <= 1

    @property
    def policy_words(self) -> str:
        """Who approves, and with what, under the version that it was proposed under."""
        return policy_words.in_short(self.write.target)

    def _why_not(self, act: str) -> str:
        return _refusal(guards.check_may_act, self.person, self.write, act, self.preview)

    @cached_property
    def log_off(self) -> str:
        """Why nobody approves or previews anything now; empty while the log verifies."""
        return _refusal(guards.check_log_verifies)

    @cached_property
    def no_approval(self) -> str:
        """Why this person may not approve now; empty when they may."""
        return self.no_approver or self.ways.none or self._why_not(Act.APPROVE)

    @cached_property
    def ways(self) -> ways.Ways:
        """With what this person may approve: a passkey, a password, or both."""
        return ways.of(self.write, self.person)

    @cached_property
    def no_approver(self) -> str:
        """Why this person may never approve this write, preview or not; empty when they may."""
        return _refusal(guards.check_can_approve, self.person, self.write) or self.log_off

    @cached_property
    def may_turn_down(self) -> bool:
        return not self._why_not(Act.REJECT)

    @cached_property
    def may_edit(self) -> bool:
        return not _refusal(partial(guards.check_can_edit, self.write, person=self.person, agent=None))

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

    @cached_property
    def settling(self) -> settle_page.Settling | None:
        """What people look for, and found, where the writer could not say; None for any other write."""
        return settle_page.of(self.write, self.person, self.execution)

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
