"""Fewer attempts: each entity as if those beyond a number had not been made.

Rows are attempts, numbered from 1. A failed one wastes what it used; a succeeding one costs by how late it came; an
entity whose last allowed attempt failed is lost. More attempts than there were have no outcome, and none is invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from evidence.metrics import columns
from evidence.metrics.measure import Measure, Unmeasured
from evidence.metrics.rows import Line
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.status import Code, Reason, because

ATTEMPT, OUTCOME, LATE, LATE_UNIT, LOST_UNIT = "attempt", "outcome", "late", "late_unit", "lost_unit"
SUCCEEDED, FAILED = "succeeded", "failed"
WASTED, DELAYED, LOST = "wasted_compute", "delay_penalty", "permanent_loss"  # kinds, as the prices know them


def run(measure: Measure, lines: Sequence[Line], factual: str, value: str) -> Simulated:
    """The cost with at most `value` attempts each.

    What a shorter run frees could have helped another entity to be less late, and no more than that: the value can only
    be lower, by at most the delay that is left.
    """
    allowed, made = _count(value), _count(factual)
    total, delay, reasons = Fraction(0), Fraction(0), list[Reason]()
    for name, its_own in _by_entity(lines).items():
        attempts = _numbered(its_own)
        if allowed > made and _is_spent(attempts, made):
            raise Unmeasured(because(Code.NO_DATA, entity=name, attempt=made + 1))
        kept = attempts[:allowed]
        total += sum((_wasted(measure, line) for line in kept if _outcome(line) == FAILED), Fraction(0))
        late = _late(measure, kept)
        total, delay = total + late, delay + late
        if _is_spent(kept, allowed):
            total += measure.worth(LOST, Fraction(1), kept[-1].text(LOST_UNIT))
        elif _outcome(kept[-1]) == FAILED:
            reasons.append(because(Code.STILL_OPEN, entity=name))
    is_freed = any(line.whole(ATTEMPT) > allowed for line in lines)
    return Simulated(total, total - delay if is_freed else total, total, reasons=tuple(reasons))


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value) < 10**6):
        raise Unmeasured(because(Code.NOT_LISTED, value=value))
    return int(value)


def _by_entity(lines: Sequence[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.text(columns.ENTITY), []).append(line)
    return found


def _numbered(lines: Sequence[Line]) -> list[Line]:
    """The attempts in order. Raises Unmeasured when one of them is missing, or one comes after it went well."""
    attempts = sorted(lines, key=lambda line: line.whole(ATTEMPT))
    entity = attempts[0].text(columns.ENTITY)
    if [line.whole(ATTEMPT) for line in attempts] != list(range(1, len(attempts) + 1)):
        raise Unmeasured(because(Code.NO_DATA, entity=entity, column=ATTEMPT))
    if any(_outcome(line) == SUCCEEDED for line in attempts[:-1]):
        raise Unmeasured(because(Code.CONTRADICTION, entity=entity, column=OUTCOME))
    return attempts


def _outcome(line: Line) -> str:
    outcome = line.text(OUTCOME)
    if outcome not in (SUCCEEDED, FAILED):
        raise Unmeasured(because(Code.UNKNOWN_VALUE, column=OUTCOME, value=outcome))
    return outcome


def _is_spent(attempts: Sequence[Line], allowed: int) -> bool:
    return len(attempts) >= allowed and _outcome(attempts[-1]) == FAILED


def _wasted(measure: Measure, line: Line) -> Fraction:
    return measure.worth(WASTED, line.number_of(columns.QUANTITY), line.text(columns.UNIT))


def _late(measure: Measure, kept: Sequence[Line]) -> Fraction:
    succeeded: Iterator[Line] = (line for line in kept if _outcome(line) == SUCCEEDED)
    return sum((measure.worth(DELAYED, line.number_of(LATE), line.text(LATE_UNIT)) for line in succeeded), Fraction(0))


MODEL = Model(
    run,
    frozenset({
        columns.ENTITY, ATTEMPT, OUTCOME, columns.QUANTITY, columns.UNIT, LATE, LATE_UNIT, LOST_UNIT,
    }),
)  # fmt: skip
