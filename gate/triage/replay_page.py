"""What the page of a replay shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from django.db.models import Count, F, Q

from gate.triage import progress
from gate.triage.presenting import Part, parts
from gate.triage.rule_marks import GLYPHS
from gate.triage.rule_models import OPEN, Replay, ReplayLine

MOST_LINES = 500
FALSE_PASS = Q(expected="fail", verdict="pass")
OTHERWISE = ~Q(expected="") & ~Q(expected=F("verdict"))


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
        """Those that came out otherwise first, and of them the false passes; as many as a page takes."""
        found = self.replay.lines.annotate(is_other=OTHERWISE, is_false=FALSE_PASS)
        return [Line(line) for line in found.order_by("-is_false", "-is_other", "position")[:MOST_LINES]]

    @property
    def unshown(self) -> int:
        return self.done - len(self.lines)

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        """Over all of the cases, however many are shown."""
        return self.replay.lines.aggregate(
            done=Count("pk"), other=Count("pk", filter=OTHERWISE),
            false_passes=Count("pk", filter=FALSE_PASS), passes=Count("pk", filter=Q(verdict="pass")),
        )  # fmt: skip

    @property
    def done(self) -> int:
        return self._counts["done"]

    @property
    def other(self) -> int:
        """How many came out otherwise than was expected."""
        return self._counts["other"]

    @property
    def false_passes(self) -> int:
        """How many passed that must not: the ones that cost most."""
        return self._counts["false_passes"]

    @property
    def passes(self) -> int:
        return self._counts["passes"]

    @property
    def left(self) -> str:
        return progress.left(self.replay.asked_at, self.done, self.replay.total)
