"""The page of one version of a metric: what it changes, whether it is a policy, and whether its golden values hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import definition_pages
from audit.definition_pages import Row, Version
from audit.models import Definition
from audit.refusing import why_not
from evidence import metric_asks
from evidence.metrics import golden, lint, registry, valuation
from evidence.metrics.asking import Golden, goldens
from evidence.metrics.flaws import Flaw
from evidence.models import MetricAsk


@dataclass(frozen=True)
class GoldenLine:
    """One golden value, and what the newest run found; nothing found yet where it has not been run."""

    golden: Golden
    found: Mapping[str, Any] | None

    @property
    def expected(self) -> str | None:
        """The value that the version has to give; None where it must not be known."""
        return golden.text(self.golden.value)

    @property
    def scope(self) -> str:
        """What it is asked of, in one line."""
        return ", ".join(f"{key} {value}" for key, value in self.golden.scope.items())


class GoldenRun:
    """The golden values of a version beside its newest run."""

    def __init__(self, definition: Definition, person: Any) -> None:
        self.definition = definition
        self.asked: MetricAsk | None = metric_asks.newest_golden(definition)
        self.may_run = not why_not(lambda: metric_asks.check_can_ask(MetricAsk.Kind.GOLDEN, person))

    @property
    def is_open(self) -> bool:
        """Whether the reads worker has still to answer."""
        return self.asked is not None and not self.asked.is_answered

    @property
    def problem(self) -> str:
        """Why the run came to nothing at all."""
        return self.asked.problem if self.asked is not None else ""

    @cached_property
    def lines(self) -> Sequence[GoldenLine]:
        """Each golden value with what was found."""
        wanted = goldens(self.definition.body["golden"])
        answer = self.asked.answer if self.asked is not None else None
        found = list(answer["golden"]) if answer else []
        return [GoldenLine(one, found[at] if at < len(found) else None) for at, one in enumerate(wanted)]

    @property
    def holds(self) -> bool:
        """Whether every golden value was given by the newest run."""
        return all(line.found is not None and line.found["matches"] for line in self.lines)

    @property
    def missed(self) -> int:
        """How many golden values the newest run did not give."""
        return sum(line.found is not None and not line.found["matches"] for line in self.lines)


class DraftPage:
    """One version, for whoever reads it before it is put in force, and after."""

    def __init__(self, row: Row, version: Version, person: Any) -> None:
        self.row = row
        self.version = version
        self.definition = version.definition
        self.run = GoldenRun(version.definition, person)

    @cached_property
    def findings(self) -> Sequence[Flaw]:
        """What would make a policy of it, by the lint of today."""
        return list(lint.flaws(self.definition.name, self.definition.body))

    @cached_property
    def misfit(self) -> str:
        """Why it is no metric any more, as one sentence: a source or a table of prices may be gone."""
        try:
            registry.check_metric(self.definition.name, self.definition.body)
        except ValueError as problem:
            return str(problem)
        return ""

    @property
    def table(self) -> str:
        """The name of the table of prices that it rests on; empty for none."""
        named = valuation.named(self.definition.body["valuation"])
        return named[0] if named else ""

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """Its statements, with their line breaks."""
        return definition_pages.long_texts(self.definition)

    @property
    def body(self) -> Any:
        """The whole of it, line by line."""
        return definition_pages.body_lines(self.definition)


def page(name: str, number: int, person: Any) -> DraftPage | None:
    """The page of a version, or None when there is none."""
    found = definition_pages.one(registry.METRIC, name, person)
    if found is None:
        return None
    row, versions = found
    version = next((one for one in versions if one.definition.version == number), None)
    return None if version is None else DraftPage(row, version, person)
