"""An answer about a metric: its value, of what it is made, and how far that can be relied on. Pure.

It is decided by code from what was read. Nothing here tries again, fills a hole, or says why something happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics import rows
from evidence.metrics.decomposers.parts import Component, Decomposition
from evidence.metrics.decomposers.rate_mix import ZeroDenominator
from evidence.metrics.definition import MetricVersion
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.measuring import measured
from evidence.metrics.medians import Median
from evidence.metrics.rows import Row, Unreadable
from evidence.metrics.status import Code, Reason, Standing, because, settle
from evidence.metrics.valuation import Valuation


@dataclass(frozen=True)
class Reading:
    """What a read brought back, and what is known about it. Rows that were cut off are not a smaller number."""

    rows: Sequence[Row] = ()
    is_truncated: bool = False
    is_stale: bool = False  # the replica was further behind than its source allows
    failed: str = ""  # the code of a read that was not done

    def reasons(self) -> Iterator[Reason]:
        """Why nothing can be made of it."""
        if self.failed:
            yield because(Code.READ_FAILED, code=self.failed)
        if self.is_truncated:
            yield because(Code.ROW_LIMIT, rows=len(self.rows))
        if self.is_stale:
            yield because(Code.STALE_REPLICA)


@dataclass(frozen=True)
class Explanation:
    """A value with its components; without any where the value is not known, for they would be parts of nothing."""

    version: MetricVersion
    decomposition_type: str
    standing: Standing
    components: Sequence[Component]
    residual: Fraction
    medians: tuple[Median, ...] = ()  # of a metric whose measure is stages


def explain(
    version: MetricVersion, reading: Reading, valuation: Valuation | None = None, decomposition: str | None = None
) -> Explanation:
    """The explanation. Raises ValueError for a decomposition that the metric does not have."""
    measure = Measure(version, valuation, version.decomposer(decomposition))
    found, reasons = _measured(measure, reading)
    residual = found.residual if found else Fraction(0)
    standing = settle(found.value if found else None, reasons, residual=residual, raised=_raised(version))
    if found is None or standing.value is None:
        return Explanation(version, measure.decomposer.type, standing, (), Fraction(0))
    return Explanation(version, measure.decomposer.type, standing, found.components, residual, found.medians)


def _measured(measure: Measure, reading: Reading) -> tuple[Decomposition | None, list[Reason]]:
    """What the rows make, with every reason against it; None where they make nothing.

    Which rows a limit left is the server's choice, so nothing is said of them.
    """
    reasons = list(reading.reasons())
    if reading.failed or reading.is_truncated:
        return None, reasons
    lines = rows.lines(reading.rows)
    try:
        reasons += rows.standing(lines)
        if not lines:
            return None, reasons
        found = measured(measure, lines)
    except (Unreadable, Unmeasured) as error:
        return None, [*reasons, error.reason]
    except ZeroDenominator:
        return None, [*reasons, because(Code.ZERO_DENOMINATOR)]
    return found, [*reasons, *found.reasons]


def _raised(version: MetricVersion) -> frozenset[Code]:
    """What this metric takes as unresolved although it could be partial."""
    return frozenset({Code.STILL_OPEN}) if version.null_policy["still_open"] == "unresolved" else frozenset()
