"""A bounded counterfactual: what the value would be had one listed variable been otherwise, everything else held.

Seven conditions decide whether there is an answer (each reason says which one failed); without all of them the answer
is that it is not known. It is a number with its bounds, never a proposal. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metrics import rows
from evidence.metrics.asking import Variable
from evidence.metrics.explaining import Explanation, Reading
from evidence.metrics.measure import Measure, Unmeasured, check_size
from evidence.metrics.rows import Line, Unreadable
from evidence.metrics.simulations import MODELS
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.status import Code, Reason, Standing, Status, because, settle
from evidence.metrics.valuation import Valuation


@dataclass(frozen=True)
class Fidelity:
    """How far the model is from the recorded world before the variable is changed, and how far it may be."""

    off: Fraction
    tolerance: Fraction | None  # None: not at all

    @property
    def holds(self) -> bool:
        return self.off <= (self.tolerance or 0)


@dataclass(frozen=True)
class Compared:
    """The factual and the counterfactual value. All of it but the lists is missing when the standing is unresolved."""

    variable: str
    value: str
    factual: Fraction | None
    standing: Standing  # of the counterfactual value
    bounds: tuple[Fraction, Fraction] | None
    interval: tuple[Fraction, Fraction] | None
    fidelity: Fidelity | None
    held_fixed: tuple[str, ...]
    not_modelled: tuple[str, ...]

    @property
    def delta(self) -> Fraction | None:
        """The counterfactual less the factual value."""
        if self.standing.value is None or self.factual is None:
            return None
        return self.standing.value - self.factual


@dataclass(frozen=True)
class _World:
    """What a model works on: the recorded rows, what the variable was in them, and the value that they gave."""

    model: Model
    measure: Measure
    lines: Sequence[Line]
    was: str
    factual: Fraction

    def set_to(self, value: str) -> Simulated:
        return self.model.run(self.measure, self.lines, self.was, value)


def compare(
    explained: Explanation, name: str, value: str, reading: Reading, valuation: Valuation | None = None
) -> Compared:
    """What `explained` would be with the variable `name` set to `value`; `reading` is of the variable's own rows."""
    variable = explained.version.variable(name)
    if variable is None or value not in variable.values:
        return _unknown(variable, name, value, explained, [because(Code.NOT_LISTED, condition=1, variable=name)])
    if not variable.held_fixed:
        return _unknown(variable, name, value, explained, [because(Code.NOT_HELD, condition=2)])
    reasons = [*_of_factual(explained), *reading.reasons()]
    lines = rows.lines(reading.rows)
    try:
        reasons += () if reading.is_truncated else rows.standing(lines)
        if not _is_lost(reasons):
            return _compared(_world(variable, lines, explained, valuation), variable, value, reasons)
    except (Unreadable, Unmeasured) as error:
        # What a model cannot be computed from is condition 6: nothing is extrapolated.
        reasons.append(error.reason)
    return _unknown(variable, name, value, explained, reasons)


def _of_factual(explained: Explanation) -> Iterator[Reason]:
    """A counterfactual is never better known than the value that it is compared with."""
    if explained.standing.status == Status.UNRESOLVED:
        yield because(Code.FACTUAL_NOT_RESOLVED)
    yield from explained.standing.reasons


def _is_lost(reasons: Sequence[Reason]) -> bool:
    return settle(Fraction(0), reasons).status == Status.UNRESOLVED


def _world(variable: Variable, lines: Sequence[Line], explained: Explanation, valuation: Valuation | None) -> _World:
    were = {line.text(variable.factual) for line in lines}
    if len(were) != 1:
        raise Unmeasured(because(Code.CONTRADICTION, column=variable.factual))
    if explained.standing.value is None:
        raise Unmeasured(because(Code.FACTUAL_NOT_RESOLVED))
    measure = Measure(explained.version, valuation, explained.version.decomposer(None))
    return _World(MODELS[variable.model], measure, lines, were.pop(), explained.standing.value)


def _compared(world: _World, variable: Variable, value: str, reasons: Sequence[Reason]) -> Compared:
    same = world.set_to(world.was)
    fidelity = Fidelity(max(abs(same.value - world.factual), same.off), variable.tolerance)
    found = world.set_to(value)
    bounds = _bounds(found, fidelity)
    check_size(found.value, found.value - world.factual, fidelity.off, *(bounds or ()))
    reasons = [*reasons, *_of_fidelity(fidelity), *_of_bounds(found), *_of_sample(world.model, found), *found.reasons]
    standing = settle(found.value, reasons)
    is_known = standing.value is not None
    return Compared(
        variable=variable.name,
        value=value,
        factual=world.factual,
        standing=standing,
        bounds=bounds if is_known else None,
        interval=found.interval if is_known else None,
        fidelity=fidelity,
        held_fixed=variable.held_fixed,
        not_modelled=variable.not_modelled,
    )


def _of_fidelity(fidelity: Fidelity) -> Iterator[Reason]:
    """Conditions 3 and 4: set to what it was, a recount gives exactly the value, a simulation nearly."""
    if fidelity.holds:
        return
    if fidelity.tolerance is None:
        yield because(Code.IDENTITY_FAILED, condition=3, off=fidelity.off)
    else:
        yield because(Code.FIDELITY_FAILED, condition=4, off=fidelity.off, tolerance=fidelity.tolerance)


def _of_bounds(found: Simulated) -> Iterator[Reason]:
    """Condition 5: what is left out can move the value so far and no further."""
    if found.low is None or found.high is None:
        yield because(Code.UNBOUNDED, condition=5)
    elif not found.low <= found.value <= found.high:
        yield because(Code.CONTRADICTION, condition=5)
    elif found.low != found.high:
        yield because(Code.WIDE_BOUNDS, low=found.low, high=found.high)


def _of_sample(model: Model, found: Simulated) -> Iterator[Reason]:
    """Condition 7: a share of a sample comes with its interval."""
    if model.is_sampled and (found.interval is None or not found.interval[0] <= found.value <= found.interval[1]):
        yield because(Code.NO_INTERVAL, condition=7)


def _bounds(found: Simulated, fidelity: Fidelity) -> tuple[Fraction, Fraction] | None:
    """The bounds, wider by how far the model was off where nothing was changed."""
    if found.low is None or found.high is None:
        return None
    return found.low - fidelity.off, found.high + fidelity.off


def _unknown(
    variable: Variable | None, name: str, value: str, explained: Explanation, reasons: Sequence[Reason]
) -> Compared:
    return Compared(
        variable=name,
        value=value,
        factual=explained.standing.value,
        standing=settle(None, reasons),
        bounds=None,
        interval=None,
        fidelity=None,
        held_fixed=variable.held_fixed if variable else (),
        not_modelled=variable.not_modelled if variable else (),
    )
