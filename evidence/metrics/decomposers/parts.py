"""What decompositions are made from and of. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from evidence.metrics import sums
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


@dataclass(frozen=True)
class Decomposition:
    """A value, its components, and what stands against it."""

    type: str
    value: Fraction
    components: tuple[Component, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def residual(self) -> Fraction:
        """What the components leave of the value. It is shown, and never spread over them."""
        return self.value - sums.total(component.amount for component in self.components)
