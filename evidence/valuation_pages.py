"""What the pages of valuation tables show: prices with their sources, and which metrics rest on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import definition_pages
from audit.definition_pages import Row, Version
from audit.models import Definition
from evidence import reviewing
from evidence.metrics import registry, valuation


@dataclass(frozen=True)
class Use:
    """A version of a metric that names a version of the table."""

    metric: Definition
    version: int  # of the table


@dataclass(frozen=True)
class Line:
    """One table in the list."""

    row: Row
    uses: Sequence[Use]

    @property
    def is_due(self) -> bool:
        """Whether somebody has to look at its prices again."""
        return reviewing.is_due(self.row.shown.body["review_by"])

    @property
    def metrics(self) -> int:
        """How many metrics rest on it."""
        return len({use.metric.name for use in self.uses})


class ValuationPage:
    """One table: the version that is shown, its versions, and what rests on it."""

    def __init__(self, row: Row, versions: Sequence[Version]) -> None:
        self.row = row
        self.versions = versions
        self.line = Line(row, uses_by_table().get(row.name, ()))

    @property
    def prices(self) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """What has a price, with what it is."""
        return list(self.row.shown.body["prices"].items())

    @cached_property
    def behind(self) -> Sequence[Use]:
        """Metrics in force that name another version than the one in force: a new price has not reached them."""
        in_force = self.row.in_force
        return [use for use in self.line.uses if in_force is not None and use.version != in_force.version]


def lines() -> list[Line]:
    """Every table, with two queries however many there are."""
    uses = uses_by_table()
    return [Line(row, uses.get(row.name, ())) for row in definition_pages.rows(registry.VALUATION)]


def uses_by_table() -> dict[str, list[Use]]:
    """Which metrics rest on which table: those in force, and those that are drafted."""
    found: dict[str, list[Use]] = {}
    for metric in registry.counting():
        if table := valuation.named(metric.body["valuation"]):
            name, version = table
            found.setdefault(name, []).append(Use(metric, version))
    return found
