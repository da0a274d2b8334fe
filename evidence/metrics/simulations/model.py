"""What a bounded counterfactual's model takes and gives. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics.measure import Measure
from evidence.metrics.rows import Line
from evidence.metrics.status import Reason


@dataclass(frozen=True)
class Simulated:
    """The metric's value with the variable set, and how far that goes.

    `low` and `high` hold what the model leaves out; `interval` what a sample leaves open. `off` is how far the model is
    from the recorded world in what it makes besides the value, when the variable is as it was.
    """

    value: Fraction
    low: Fraction | None  # None: what is left out could move the value anywhere
    high: Fraction | None
    interval: tuple[Fraction, Fraction] | None = None
    reasons: tuple[Reason, ...] = ()
    off: Fraction = Fraction(0)


Run = Callable[[Measure, Sequence[Line], str, str], Simulated]
"""From the measure, the rows, what the variable was, and what it is set to. Raises Unreadable and Unmeasured."""


@dataclass(frozen=True)
class Model:
    """A way to recount or to simulate; the columns that its rows need and may have."""

    run: Run
    needed: frozenset[str]
    possible: frozenset[str] = frozenset()
    is_sampled: bool = False  # its numbers are shares of a sample, so they come with an interval
    is_simulator: bool = False  # it makes a world of its own, so it is held against the recorded one
