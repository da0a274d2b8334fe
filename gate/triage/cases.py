"""What a verdict is given: the incident, the findings, and the calls as the log recorded them. Pure; no Django."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Finding:
    """A fact and the entry that is said to show it. There is no field for prose, so no check can read any."""

    fact: str
    audit_id: str


@dataclass(frozen=True)
class RecordedCall:
    """A finished call as the log holds it."""

    audit_id: str  # A-48213
    incident_id: int | str | None  # a text where the call comes from a recorded case
    run_id: str
    tool: str
    tool_version: int | None
    tool_hash: str
    source: str
    status: str  # "ok", or what became of it
    # When the call began: what was read is at least as new. None where the record does not say: then nothing is read.
    called_at: datetime | None
    finished_at: datetime | None
    args: Any
    result: Any
    truncated: bool
    is_intact: bool  # commitment and digest were recomputed from the stored bytes and agree
    digest: str
    entry_id: str = ""  # the entry's key


@dataclass(frozen=True)
class IncidentFacts:
    """What the intake and the incident's class say. Nothing of it comes from an agent."""

    id: int | str  # a text where it comes from a recorded case
    kind: str
    subject: Mapping[str, Any]
    began_at: datetime
    watch_from: datetime
    recurrence_seconds: int
    freshness_seconds: int
    ingestion_lag_seconds: int
    hypotheses: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)  # error, job_kind, amount_cents, metric_good, …
    members: tuple[Mapping[str, Any], ...] = ()  # the subjects grouped into it besides its own: each must be shown
    undelivered: int = 0  # how many more the monitor says there are and did not name

    @property
    def ref(self) -> str:
        """I-318 for an incident of this installation; a recorded one keeps the name that it came with."""
        return f"I-{self.id}" if type(self.id) is int else str(self.id)
