"""Values of many rows by columns: the same as row by row, where every cell that is read is plainly what it should be.

What makes a value is linear in what the rows count, so those of one kind, unit and key are added as whole numbers and
priced once. None says that some cell is not plain, or that rows contradict each other: `measuring` then goes row by row
and says which. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evidence.metrics import columns, sums
from evidence.metrics.decomposers import partition
from evidence.metrics.decomposers.parts import Component, Decomposition, Share
from evidence.metrics.rows import Row

if TYPE_CHECKING:
    from evidence.metrics.measuring import Measure


def summed(measure: Measure, rows: Sequence[Row]) -> list[Share] | None:
    """What the rows add, in the metric's unit, those of one kind, unit and key together. Raises Unmeasured."""
    kinds, units, entities = (
        sums.column(rows, name, sums.TEXTS) for name in (columns.KIND, columns.UNIT, columns.ENTITY)
    )
    keys, quantities = _keys(measure, rows), sums.numbers(rows, columns.QUANTITY)
    if kinds is None or units is None or entities is None or keys is None or quantities is None:
        return None
    found = quantities.by(zip(kinds, units, keys, strict=True))
    return [
        _share(measure, kind, measure.worth_of_one(str(kind), str(unit)), amount, quantities.scale, key)
        for (kind, unit, key), amount in found.items()
    ]


def _share(measure: Measure, kind: Any, worth: Fraction, amount: int, scale: int, key: Any) -> Share:
    priced = Fraction(amount * worth.numerator, scale * worth.denominator)
    return Share("", str(kind), priced, named(measure, key))


def _keys(measure: Measure, rows: Sequence[Row]) -> list[Any] | None:
    """What each row is divided by; nothing where no division is asked for."""
    return sums.column(rows, measure.decomposer.key, sums.KEYS) if measure.divides else [None] * len(rows)


def named(measure: Measure, key: Any) -> dict[str, str | None]:
    """A key that was read in a column, as `Measure.keys` gives that of a line."""
    return {measure.decomposer.key: None if key is None else str(key)} if measure.divides else {}


def ratio(measure: Measure, rows: Sequence[Row]) -> Decomposition | None:
    """The ratio, divided by whose numerators make it up. Raises Unmeasured."""
    above, below = sums.numbers(rows, columns.NUMERATOR), sums.numbers(rows, columns.DENOMINATOR)
    keys = _keys(measure, rows)
    if above is None or below is None or keys is None or min(below.values) <= 0:
        return None
    per = measure.share_of(Fraction(below.scale, _total(below)))
    shares = [
        Share("", "", Fraction(amount, above.scale) * per, named(measure, key))
        for key, amount in above.by(keys).items()
    ]
    return partition.decompose(Fraction(_total(above), above.scale) * per, shares, measure.decomposer.key)


def _total(numbers: sums.Numbers) -> int:
    return numbers.by([None] * len(numbers.values))[None]


def precedence(measure: Measure, rows: Sequence[Row]) -> tuple[Decomposition, list[Share]] | None:
    """The value by its buckets, and what each key that it is divided by adds to it. Raises Unmeasured."""
    order = measure.version.decomposers[0].kinds
    kinds, entities = (sums.column(rows, name, frozenset({str})) for name in (columns.KIND, columns.ENTITY))
    units, keys = sums.column(rows, columns.UNIT, frozenset({str})), _keys(measure, rows)
    quantities = sums.numbers(rows, columns.QUANTITY)
    if kinds is None or entities is None or units is None or keys is None or quantities is None:
        return None
    # With a price for each kind, claims of one entity would be worth different amounts.
    if measure.version.valuation is not None or len(set(units)) != 1 or not set(kinds) <= set(order):
        return None
    won = _winners(entities, kinds, quantities.values, order)
    if won is None:
        return None
    counted = sums.Numbers([quantities.values[place] for place in won], quantities.scale)
    worth = measure.worth_of_one(kinds[0], units[0])
    buckets = {kind: Fraction(0) for kind in order}
    for kind, amount in counted.by(kinds[place] for place in won).items():
        buckets[kind] = Fraction(amount, counted.scale) * worth
    shares = [
        _share(measure, "", worth, amount, counted.scale, key)
        for key, amount in counted.by(keys[place] for place in won).items()
    ]
    components = tuple(Component(*pair) for pair in buckets.items())
    return Decomposition("precedence", sums.total(buckets.values()), components), shares


def _winners(
    entities: Iterable[str], kinds: Sequence[str], values: Sequence[Any], order: Sequence[str]
) -> list[int] | None:
    """The place of the row that counts for each entity; None where an entity's rows differ in their amount."""
    places = {kind: place for place, kind in enumerate(order)}
    found: dict[str, int] = {}
    for place, (entity, kind) in enumerate(zip(entities, kinds, strict=True)):
        now = found.setdefault(entity, place)
        if values[now] != values[place]:
            return None
        if places[kind] < places[kinds[now]]:
            found[entity] = place
    return list(found.values())
