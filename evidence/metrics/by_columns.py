"""Values of many rows by columns: the same as row by row, where every cell that is read is plainly what it should be.

What makes a value is linear in what the rows count, so those of one kind, unit and key are added as whole numbers and
priced once. None says that some cell is not plain, or that rows contradict each other: `measuring` then goes row by row
and says which. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from evidence.metrics import columns, sums
from evidence.metrics.decomposers import additive, partition
from evidence.metrics.decomposers.parts import Component, Decomposition, Many, Share
from evidence.metrics.measure import Measure
from evidence.metrics.rows import Row


def summed(measure: Measure, rows: Sequence[Row]) -> Decomposition | None:
    """What the rows add, in the metric's unit, those of one kind, unit and key together. Raises Unmeasured."""
    kinds, units, entities = (
        sums.column(rows, name, sums.TEXTS) for name in (columns.KIND, columns.UNIT, columns.ENTITY)
    )
    keys, quantities = _keys(measure, rows), sums.numbers(rows, columns.QUANTITY)
    if kinds is None or units is None or entities is None or keys is None or quantities is None:
        return None
    found = quantities.by(zip(kinds, units, keys, strict=True))
    pairs = dict.fromkeys(zip(kinds, units, strict=True))
    worth = {pair: measure.worth_of_one(*map(str, pair)) for pair in pairs}
    below = lcm(*(one.denominator for one in worth.values()))
    counts = {pair: one.numerator * (below // one.denominator) for pair, one in worth.items()}
    by_kind: dict[Any, int] = {}
    by_key: dict[Any, int] = {}
    for (kind, unit, key), amount in found.items():
        added = amount * counts[kind, unit]
        by_kind[kind] = by_kind.get(kind, 0) + added
        by_key[key] = by_key.get(key, 0) + added
    unit_of_sums = Fraction(1, below * quantities.scale)
    shares = [Share("", str(kind), added * unit_of_sums) for kind, added in by_kind.items()]
    value = sum(by_kind.values()) * unit_of_sums
    whole = additive.decompose(value, shares, measure.version.decomposers[0].kinds)
    return _or_by_key(measure, whole, by_key, unit_of_sums)


def _keys(measure: Measure, rows: Sequence[Row]) -> list[Any] | None:
    """What each row is divided by; nothing where no division is asked for."""
    return sums.column(rows, measure.decomposer.key, sums.KEYS) if measure.divides else [None] * len(rows)


def _or_by_key(measure: Measure, whole: Decomposition, totals: Mapping[Any, int], one: Fraction) -> Decomposition:
    """The whole, or its division by a key whose `totals` count so many of `one`."""
    if not measure.divides:
        return whole
    return Decomposition("partition", whole.value, _divided(totals, one), whole.reasons)


def _divided(totals: Mapping[Any, int], one: Fraction) -> Many:
    """As `partition.decompose`: a component for each key by its name; what has none comes last."""
    count, amounts = one.numerator, dict[str, int]()
    for key, total in totals.items():
        name = str(key)  # 1 and "1" are one group
        if key is not None:
            amounts[name] = amounts.get(name, 0) + total * count
    names = sorted(amounts)
    parts, numerators = [(name, "") for name in names], [amounts[name] for name in names]
    if None in totals:
        parts.append((partition.OTHER, partition.OTHER))
        numerators.append(totals[None] * count)
    return Many(parts, numerators, one.denominator)


def ratio(measure: Measure, rows: Sequence[Row]) -> Decomposition | None:
    """The ratio, divided by whose numerators make it up. Raises Unmeasured."""
    above, below = sums.numbers(rows, columns.NUMERATOR), sums.numbers(rows, columns.DENOMINATOR)
    keys = _keys(measure, rows)
    if above is None or below is None or keys is None or min(below.values) <= 0:
        return None
    one = measure.share_of(Fraction(below.scale, _total(below))) / above.scale
    return Decomposition("partition", _total(above) * one, _divided(above.by(keys), one))


def _total(numbers: sums.Numbers) -> int:
    return numbers.by([None] * len(numbers.values))[None]


def precedence(measure: Measure, rows: Sequence[Row]) -> Decomposition | None:
    """The value by its buckets, or by the keys of the rows that count. Raises Unmeasured."""
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
    one = measure.worth_of_one(kinds[0], units[0]) / counted.scale
    buckets = counted.by(kinds[place] for place in won)
    components = tuple(Component(kind, buckets.get(kind, 0) * one) for kind in order)
    whole = Decomposition("precedence", sum(buckets.values()) * one, components)
    return _or_by_key(measure, whole, counted.by(keys[place] for place in won), one)


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
