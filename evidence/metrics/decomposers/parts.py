"""What decompositions are made from and of. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from evidence.metrics import sums
from evidence.metrics.medians import Median
from evidence.metrics.status import Reason


@dataclass(frozen=True)
class Share:
    """A part of a value as a row states it, in the metric's unit."""

    entity: str
    kind: str
    amount: Fraction
    keys: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """A part of an entity's time, in seconds."""

    kind: str
    starts: Fraction
    ends: Fraction


@dataclass(frozen=True)
class Component:
    """A named part. `part` tells apart what has one name: `other` for shares without a key, `rate` or `mix` of one."""

    name: str
    amount: Fraction
    part: str = ""


@dataclass(frozen=True, eq=False)
class Many(Sequence[Component]):
    """Components that count whole numbers of one fraction, each made when somebody looks at it: they may be thousands.

    It equals any sequence of the same components.
    """

    names: Sequence[tuple[str, str]]  # with the part
    numerators: Sequence[int]
    denominator: int

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [*self][place]
        name, part = self.names[place]
        return Component(name, Fraction(self.numerators[place], self.denominator), part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash(tuple(self))


def total(components: Sequence[Component]) -> Fraction:
    """What they add up to."""
    if isinstance(components, Many):
        return Fraction(sum(components.numerators), components.denominator)
    return sums.total(component.amount for component in components)


def largest(components: Sequence[Component]) -> Fraction:
    """The largest of them, whatever its sign; nothing of none."""
    if isinstance(components, Many):
        return Fraction(max(map(abs, components.numerators), default=0), components.denominator)
    return max((abs(component.amount) for component in components), default=Fraction(0))


@dataclass(frozen=True)
class Decomposition:
    """A value, its components, and what stands against it."""

    type: str
    value: Fraction
    components: Sequence[Component]
    reasons: tuple[Reason, ...] = ()
    medians: tuple[Median, ...] = ()

    @property
    def residual(self) -> Fraction:
        """What the components leave of the value. It is shown, and never spread over them."""
        return self.value - total(self.components)
