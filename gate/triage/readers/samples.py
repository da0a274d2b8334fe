"""What every answer with samples of a metric says, whatever the tool: of what, over which time, how much and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gate.triage.readers.document import Answer, Unreadable


@dataclass(frozen=True)
class Range:
    """The asked time, and how far apart samples were asked to be."""

    begins: datetime
    ends: datetime
    step: timedelta


@dataclass(frozen=True)
class Sample:
    """One value at one moment."""

    at: datetime
    value: Decimal


@dataclass(frozen=True)
class Metric:
    """What was asked for: which metric, of what, and how many values became one."""

    names: tuple[str, ...]
    demands: tuple[tuple[str, str, str], ...]  # label, "=" or "!=", value
    taken: frozenset[str]  # sum, avg, max, min, rate, …
    looks_back: timedelta
    is_plain_ratio: bool  # a share between 0 and 1, not in percent
    is_abridged: bool  # the record leaves a part of the query out


class Samples(Answer):
    """An answer with samples. What a system does not say is unreadable."""

    def metric(self) -> Metric:
        """What was asked for."""
        raise Unreadable("", "what was asked for cannot be told.", "not said")

    def asked(self) -> Range:
        """Over which time it was asked."""
        raise Unreadable("", "over which time was asked cannot be told.", "not said")

    def complete(self) -> bool:
        """True. Raises Unreadable unless the answer is whole, by every mark that its system has."""
        raise Unreadable("", "nothing says that the answer is whole.", "not said")

    def series(self) -> int:
        """How many series there are."""
        raise Unreadable("", "the answer has no series.", "no series")

    def labels(self, index: int) -> dict[str, str]:
        """What one series is of."""
        raise Unreadable("", "the answer does not say what it is of.", "not said")

    def samples(self, index: int) -> tuple[Sample, ...]:
        """The samples of one series, oldest first."""
        raise Unreadable("", "the answer has no samples.", "no samples")
