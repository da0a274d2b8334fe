"""The condition under which a metric is good again: an operator and a number, such as `< 0.05`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

OPERATORS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CONDITION = re.compile(r"(==|!=|<=|>=|<|>) (-?\d{1,30}(?:\.\d{1,30})?)", re.ASCII)


@dataclass(frozen=True)
class Condition:
    """What a sample has to be. Compared as decimals, before any rounding."""

    operator: str
    bound: Decimal

    def is_met_by(self, value: Decimal) -> bool:
        """Whether one sample is good."""
        return OPERATORS[self.operator](value, self.bound)

    def __str__(self) -> str:
        return f"{self.operator} {self.bound:f}"


def parse(text: str) -> Condition | None:
    """The condition that a text says; None when it is not exactly one operator, one space and one number."""
    found = _CONDITION.fullmatch(text)
    return Condition(found[1], Decimal(found[2])) if found is not None else None
