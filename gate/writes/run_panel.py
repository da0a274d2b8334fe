"""What became of an approved write: its run, the receipt, what was found changed, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from audit import receipts
from audit.kinds import Kind
from gate.people.models import Person
from gate.writes import comparing, guards, history, undo
from gate.writes.may import refusal
from gate.writes.models import Execution, WriteRequest

Status = WriteRequest.Status
OUTCOMES = frozenset(
    history.DID[kind] for kind in (Kind.WRITE_EXECUTED, Kind.WRITE_REFUSED_STALE, Kind.WRITE_FAILED, Kind.WRITE_UNKNOWN)
)


@dataclass
class RunPanel:
    """The run of one write, as one person sees it."""

    write: WriteRequest
    person: Person
    events: list[history.Event]

    @cached_property
    def execution(self) -> Execution | None:
        """The writer's one run, however it ended."""
        return Execution.objects.filter(write=self.write).first()

    @cached_property
    def executed(self) -> Execution | None:
        """The run that wrote, when one did."""
        return self.execution if self.write.status == Status.EXECUTED else None

    @cached_property
    def receipt(self) -> receipts.Checked | None:
        """The receipt of what the writer recorded, held against the log now; None before it did."""
        if self.execution is None or self.execution.receipt is None:
            return None
        given = receipts.Receipt.of_json(self.execution.receipt)
        return receipts.recheck([given])[given]

    @property
    def differences(self) -> list[comparing.Compared]:
        """What a stale write found changed."""
        is_stale = self.write.status == Status.REFUSED_STALE and self.execution is not None
        return comparing.compared(self.execution.rows) if is_stale and self.execution else []

    @property
    def strayed_to(self) -> str:
        """The table whose rows those are: the write's own, or another one that a trigger or a cascade writes."""
        rows = self.execution.rows if self.execution else []
        return str(rows[0].get("table", self.write.table)) if rows else self.write.table

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

    @cached_property
    def undos(self) -> list[WriteRequest]:
        """The proposals to undo it, oldest first."""
        return list(self.write.undos.order_by("pk"))

    @cached_property
    def no_undo(self) -> str:
        """Why nobody may propose to undo it now, or this person may not; empty when they may."""
        return refusal(guards.check_can_propose, self.person) or refusal(undo.check, self.write)
