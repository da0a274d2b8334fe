"""What the list of rules shows: how each stands, and what has no rule yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit import definition_pages
from audit.models import Definition
from gate.triage import coverage, rule_guards, rule_marks, standing
from gate.triage.rule_models import Drift, Trial
from gate.triage.rule_versions import newest_trials
from gate.triage.rules import registry
from gate.triage.rules.language import Rule


@dataclass(frozen=True)
class Line:
    """One rule in the list."""

    row: definition_pages.Row
    rule: Rule | None
    trial: Trial | None
    passed: coverage.Passed | None
    confirmed: standing.Confirmed
    shadows: Sequence[tuple[Definition, standing.Shadow | None]]

    @property
    def about(self) -> str:
        """What the rule says of itself: the first line of its file."""
        return rule_marks.about(self.rule) if self.rule is not None else ""

    @property
    def score(self) -> str:
        return rule_guards.score(self.trial) if self.trial is not None else "none"

    @property
    def closing(self) -> str:
        """Who closes on its passes."""
        return "a person confirms" if self.row.in_force else "decides nothing"


@dataclass(frozen=True)
class List:
    """The page of all rules."""

    lines: Sequence[Line]
    coverage: coverage.Coverage
    drift: int


def rules() -> List:
    """Every rule, in a number of queries that does not grow with them."""
    rows = definition_pages.rows("rule")
    shown = [row.shown for row in rows]
    trials = newest_trials([version.pk for version in shown])
    confirmed = standing.of_versions(str(version.body["hash"]) for version in shown)
    shadows = standing.of_shadows(one.pk for row in rows for one in _in_shadow(row))
    covered = coverage.now()
    lines = [
        Line(
            row, registry.find(row.shown.body), trials.get(row.shown.pk), covered.by_rule.get(row.name),
            confirmed.get(str(row.shown.body["hash"]), standing.Confirmed(0, 0)),
            [(one, shadows.get(one.pk)) for one in _in_shadow(row)],
        )
        for row in rows
    ]  # fmt: skip
    return List(lines, covered, Drift.objects.filter(settled_at=None).count())


def _in_shadow(row: definition_pages.Row) -> list[Definition]:
    return [one for one in row.versions if one.status == Definition.Status.SHADOW]
