"""What the page of a replay shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.utils import timezone

from gate.triage.presenting import Part, parts
from gate.triage.rule_guards import OPEN
from gate.triage.rule_models import Replay, ReplayLine
from gate.triage.rule_pages import GLYPHS

MOST_LINES = 500


class Line:
    """One case of a replay, with its marks."""

    def __init__(self, line: ReplayLine) -> None:
        self.line = line

    @property
    def expected(self) -> tuple[str, str, str]:
        return GLYPHS[self.line.expected]

    @property
    def verdict(self) -> tuple[str, str, str]:
        return GLYPHS[self.line.verdict]

    @property
    def decided_by(self) -> Sequence[Part]:
        return parts(self.line.decided_by)


class ReplayPage:
    """One replay, with its rows as far as they are there."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    @property
    def is_running(self) -> bool:
        return self.replay.status in OPEN

    @cached_property
    def lines(self) -> Sequence[Line]:
        """Those that came out otherwise first."""
        found = [Line(line) for line in self.replay.lines.all()[:MOST_LINES]]
        return sorted(found, key=lambda one: one.line.is_as_expected)

    @property
    def done(self) -> int:
        return len(self.lines)

    @property
    def other(self) -> int:
        """How many came out otherwise than was expected."""
        return sum(not one.line.is_as_expected for one in self.lines)

    @property
    def false_passes(self) -> int:
        """How many passed that must not: the ones that cost most."""
        return sum(one.line.expected == "fail" and one.line.verdict == "pass" for one in self.lines)

    @property
    def passes(self) -> int:
        return sum(one.line.verdict == "pass" for one in self.lines)

    @property
    def left(self) -> str:
        """About how long it still takes, from how long it took so far; empty while nothing is done."""
        if not self.done or not self.replay.total:
            return ""
        took = (timezone.now() - self.replay.asked_at).total_seconds()
        return f"about {max(1, int(took / self.done * (self.replay.total - self.done)))} s left"
