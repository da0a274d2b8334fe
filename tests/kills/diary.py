"""What the clients were told, and when: the promises that the product must have kept in the end.

Only what was acknowledged is written here. What a client could not learn ("unknown") is counted and never assumed.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


def now() -> datetime:
    """The moment, as the databases' clocks tell it."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Call:
    """An evidence call with the answer that the agent got; `result` is None for one that failed."""

    audit_id: str
    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any] | None


@dataclass(frozen=True)
class Submission:
    """What was handed in and received."""

    hypothesis: str
    findings: list[dict[str, str]]
    answer: str


@dataclass(frozen=True)
class Act:
    """What a person did, and the reason that they gave, which no other act has."""

    act: str
    reason: str


@dataclass
class Proposal:
    """A write that an agent was told the number of."""

    number: int
    title: str
    job: int
    seen: list[tuple[datetime, str]] = field(default_factory=list)  # each status that was shown, when it was new

    def saw(self, status: str) -> None:
        """Keep a status that was shown."""
        if not self.seen or self.seen[-1][1] != status:
            self.seen.append((now(), status))


@dataclass
class Diary:
    """One run. Each list has one writer; the main thread reads between rounds, when all others stand still."""

    incidents: dict[str, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    submissions: dict[int, Submission] = field(default_factory=dict)
    proposals: dict[int, Proposal] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)  # of each try to propose, answered or not
    decisions: dict[int, Act] = field(default_factory=dict)
    reviews: dict[int, Act] = field(default_factory=dict)
    acts: Counter[str] = field(default_factory=Counter)  # begun, answered or not
    unknown: Counter[str] = field(default_factory=Counter)
    doubts: list[tuple[datetime, str, str]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def could_not_tell(self, what: str, why: str) -> None:
        """Count an answer that did not come, and keep why."""
        with self._lock:
            self.unknown[what] += 1
            self.doubts.append((now(), what, why))

    def found(self, sentence: str) -> None:
        """Something that must not be."""
        with self._lock:
            self.findings.append(sentence)

    def undecided(self) -> list[Proposal]:
        """The proposals that no person has decided about, as far as is known."""
        return [one for number, one in list(self.proposals.items()) if number not in self.decisions]
