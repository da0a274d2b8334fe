"""What the page of one rule shows: its source, its versions, and all that it has to show for itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from audit import definition_pages
from audit.definition_pages import Version
from gate.people.models import Person
from gate.triage import coverage, late, rule_cases, rule_marks, standing
from gate.triage.models import Draft, LateEvent
from gate.triage.rule_cases import CheckUse, Tried
from gate.triage.rule_models import ShadowResult, Trial
from gate.triage.rule_versions import VersionPage, newest_trials

MOST_SHADOWS = 20


class RulePage:
    """One rule: its source, its versions, and what each has to show for itself."""

    def __init__(self, row: definition_pages.Row, versions: Sequence[Version], person: Person) -> None:
        self.row, self.person = row, person
        pks = [version.definition.pk for version in versions]
        trials, shadows = newest_trials(pks), standing.of_shadows(pks)
        self.versions = [
            VersionPage(one, trials.get(one.definition.pk), person, shadows.get(one.definition.pk)) for one in versions
        ]

    @property
    def shown(self) -> VersionPage:
        """The version in force, or the newest when none is."""
        return next(one for one in self.versions if one.definition.pk == self.row.shown.pk)

    @property
    def open(self) -> Sequence[VersionPage]:
        """The versions that may still be put in force."""
        reached = self.row.in_force.version if self.row.in_force else 0
        return [one for one in self.versions if one.is_open and one.definition.version > reached]

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def title(self) -> str:
        """What it is about, where its file is loaded here."""
        rule = self.shown.rule
        return rule_marks.about(rule) if rule is not None else self.name

    @property
    def source(self) -> str:
        rule = self.shown.rule
        return rule_marks.source(rule) if rule is not None else ""

    @property
    def _hash(self) -> str:
        return str(self.shown.definition.body["hash"])

    @cached_property
    def confirmed(self) -> standing.Confirmed:
        return standing.of_versions([self._hash]).get(self._hash, standing.Confirmed(0, 0))

    @cached_property
    def late(self) -> Sequence[LateEvent]:
        """Its passes that turned out to be none after they had closed something."""
        return late.of_version(self._hash)

    @property
    def enough(self) -> int:
        return standing.ENOUGH

    @cached_property
    def trial(self) -> Trial | None:
        """The newest trial of the version shown."""
        return self.shown.trial

    @cached_property
    def cases(self) -> Sequence[Tried]:
        return rule_cases.of(self.trial, self.name) if self.trial is not None else []

    @property
    def as_expected(self) -> int:
        return sum(case.is_as_expected for case in self.cases)

    @property
    def passes(self) -> int:
        return sum(case.said["verdict"] == "pass" for case in self.cases)

    @property
    def checks(self) -> Sequence[CheckUse]:
        return rule_cases.uses(self.trial) if self.trial is not None else []

    @cached_property
    def passed(self) -> coverage.Passed:
        return coverage.now().by_rule.get(self.name, coverage.Passed(0, 0))

    @cached_property
    def shadow_results(self) -> Sequence[tuple[ShadowResult, Draft | None]]:
        """The newest results of versions in shadow, each with the draft of the version in force."""
        found = ShadowResult.objects.filter(definition__kind="rule", definition__name=self.name).select_related(
            "definition", "investigation__incident", "investigation__draft"
        )
        return [(one, getattr(one.investigation, "draft", None)) for one in found.order_by("-pk")[:MOST_SHADOWS]]


def one(name: str, person: Person) -> RulePage | None:
    """The page of one rule, or None when there is none."""
    found = definition_pages.one("rule", name, person)
    return RulePage(*found, person) if found is not None else None
