"""Precedence: each entity is in exactly one bucket, the first of the order that claims it, so nothing counts twice.

The order is a part of the definition, as a rule of accounting. It is no order of handling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from evidence.metrics.decomposers.parts import Component, Decomposition, Share
from evidence.metrics.status import Code, Reason, because


def value(claims: Sequence[Share]) -> Fraction:
    """Each entity's amount once, however many buckets claim it."""
    return sum(_amounts(claims).values(), Fraction(0))


def decompose(claims: Sequence[Share], order: Sequence[str]) -> Decomposition:
    """A component for each bucket, in the order.

    An entity that only unknown buckets claim is in none. One whose claims differ in their amount is a contradiction.
    """
    buckets = winners(claims, order)
    amounts = dict.fromkeys(order, Fraction(0))
    for entity, amount in _amounts(claims).items():
        if entity in buckets:
            amounts[buckets[entity]] += amount
    components = tuple(Component(*pair) for pair in amounts.items())
    return Decomposition("precedence", value(claims), components, _reasons(claims, order))


def winners(claims: Sequence[Share], order: Sequence[str]) -> Mapping[str, str]:
    """The bucket of each entity."""
    places = {bucket: place for place, bucket in enumerate(order)}
    found: dict[str, str] = {}
    for claim in claims:
        now = found.get(claim.entity, claim.kind)
        if claim.kind in places and places[claim.kind] <= places[now]:
            found[claim.entity] = claim.kind
    return found


def _amounts(claims: Sequence[Share]) -> Mapping[str, Fraction]:
    return {claim.entity: claim.amount for claim in reversed(claims)}


def _reasons(claims: Sequence[Share], order: Sequence[str]) -> tuple[Reason, ...]:
    amounts = _amounts(claims)
    unknown = dict.fromkeys(claim.kind for claim in claims if claim.kind not in order)
    differing = dict.fromkeys(claim.entity for claim in claims if claim.amount != amounts[claim.entity])
    return (
        *(because(Code.UNKNOWN_VALUE, column="kind", value=kind) for kind in unknown),
        *(because(Code.CONTRADICTION, entity=entity, column="quantity") for entity in differing),
    )
