"""How often answers were right, as a page shows it: numbers in words, and a picture beside a table of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gate.admission import calibration
from gate.admission.calibration import TARGET, Bin, Share
from gate.admission.measuring import Measured

# The picture's own coordinates.
LEFT, RIGHT, TOP, BOTTOM = 34.0, 284.0, 20.0, 190.0
NO_MODEL = "a model that nobody named"


@dataclass(frozen=True)
class Dot:
    """One step of what was said: where its mean stands, and its interval up and down."""

    found: Bin
    x: float
    y: float
    low: float
    high: float

    @property
    def range(self) -> str:
        return f"{self.found.low:.1f} to {self.found.high:.1f}"

    @property
    def between(self) -> str:
        interval = self.found.share.interval
        return f"{_percent(interval.low)} to {_percent(interval.high)}"


@dataclass(frozen=True)
class Picture:
    """The dots, and where the question's thresholds stand."""

    dots: Sequence[Dot]
    limits: Sequence[tuple[float, str]]  # where each stands, and what it is

    @property
    def words(self) -> str:
        """What the picture shows, for who does not see it."""
        told = [
            f"said {dot.found.said:.2f}, was so {dot.found.share.right} of {dot.found.share.n}" for dot in self.dots
        ]
        return f"Reliability: {'; '.join(told)}."


@dataclass(frozen=True)
class Reliability:
    """What a page says of one question's answers by one model, or by its probe."""

    measured: Measured

    @property
    def title(self) -> str:
        return self.measured.model or ("the probe" if self.is_of_probe else NO_MODEL)

    @property
    def is_of_probe(self) -> bool:
        return self.measured.question.by == "probe"

    @cached_property
    def share(self) -> Share:
        """Of a model's answers those that its threshold lets through; of a probe's all."""
        return self.measured.right if self.is_of_probe else self.measured.at_threshold

    @property
    def threshold(self) -> str:
        """The threshold in words; empty for a question without one."""
        band, least = self.measured.question.unsure_between, self.measured.question.min_confidence
        if band is not None:
            return f"outside {band[0]:.2f} to {band[1]:.2f}"
        return "" if least is None else f"from {least:.2f} on"

    @property
    def percent(self) -> str:
        return _percent(self.share.value) if self.share.n else ""

    @property
    def between(self) -> str:
        found = self.share.interval
        return f"{_percent(found.low)} and {_percent(found.high)}"

    @cached_property
    def suggestion(self) -> str:
        """The threshold that the labels bear, and how far it moves; or that they bear none."""
        found = self.measured.suggestion
        if found.threshold is None or found.interval is None:
            return f"No threshold is earned yet: at none are {_percent(TARGET)} right by the interval's lower end."
        said = f"from {found.threshold:.2f} on"
        if self.measured.question.type == "yesno":
            said = f"unsure between {1 - found.threshold:.2f} and {found.threshold:.2f}"
        moved = f"{found.interval.low:.2f} to {found.interval.high:.2f} in nine of ten resamples"
        lost = f"; {_percent(1 - found.found)} of them earn none" if found.found < 1 else ""
        return f"Suggested: {said} ({moved}{lost}), where at least {_percent(TARGET)} are right."

    @cached_property
    def picture(self) -> Picture | None:
        """None where there is nothing to draw: no answer of a model that was said to be right or wrong."""
        found = calibration.bins(self.measured.samples)
        return Picture([_dot(one) for one in found], self._limits()) if found else None

    def _limits(self) -> list[tuple[float, str]]:
        band, least = self.measured.question.unsure_between, self.measured.question.min_confidence
        ends = [*(band or ()), *(() if least is None else (least,))]
        return [(_x(one), f"{one:.2f}") for one in ends]


def _dot(found: Bin) -> Dot:
    interval = found.share.interval
    return Dot(found, _x(found.said), _y(found.share.value), _y(interval.low), _y(interval.high))


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _percent(share: float) -> str:
    return f"{share * 100:.1f}%"
