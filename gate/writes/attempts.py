"""One attempt at an approved write, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from gate.writes import targets
from gate.writes.effect import Row
from gate.writes.models import Execution, Preview, WriteRequest
from gate.writes.targets import WriteTarget

Status = WriteRequest.Status
State = Execution.State
OVERTAKEN = "A newer attempt took over."


@dataclass(frozen=True)
class Claim:
    """The right to run one attempt."""

    write: WriteRequest
    preview: Preview
    approvals: list[str]  # the keys of the decisions
    ledger_key: UUID
    attempt: int
    earlier: dict[str, str] | None = None  # what an earlier attempt noted; None when none came that far

    @property
    def target(self) -> WriteTarget:
        return targets.of(self.write.target)

    @property
    def is_first(self) -> bool:
        """Whether no earlier attempt can have left a trace in the target."""
        return self.attempt == 1

    def is_newest(self) -> bool:
        """Whether no other attempt took over."""
        return self._mine().exists()

    def note(self, noted: dict[str, str]) -> bool:
        """Keep, before the point of no return, by what this attempt is found again; False when one took over."""
        return self._mine().update(noted=noted) == 1

    def _mine(self) -> QuerySet[Execution]:
        return Execution.objects.filter(write_id=self.write.pk, attempt=self.attempt, state=State.CLAIMED)


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to."""

    status: Status
    rows: list[Row] = field(default_factory=list)
    row_count: int | None = None
    effect_digest: str = ""
    xid: str = ""
    error: str = ""
    answer: dict[str, Any] | None = None  # of an HTTP action


class Refused(Exception):
    """The attempt ended here; the outcome says with what."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.error)
        self.outcome = outcome
