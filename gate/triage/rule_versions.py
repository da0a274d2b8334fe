"""One version of a rule with what it has to show: its change, its trial, its flips, its time in shadow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from django.db.models import Count, Q

from audit.definition_pages import Version
from audit.refusing import why_not
from gate.people.models import Person
from gate.triage import flip_rows, progress, rule_cases, rule_guards, rule_marks, standing
from gate.triage.flip_rows import FlipRow
from gate.triage.rule_cases import Spot
from gate.triage.rule_models import OPEN, Flip, Trial
from gate.triage.rules import registry
from gate.triage.rules.language import Rule


def newest_trials(definitions: Sequence[int]) -> Mapping[int, Trial]:
    """The newest trial of each version that has one, in one query."""
    found = Trial.objects.filter(definition__in=definitions).order_by("definition", "-pk").distinct("definition")
    return {trial.definition_id: trial for trial in found.select_related("asked_by")}


class Stand:
    """How far a trial is, and what it found so far."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    @property
    def is_open(self) -> bool:
        return self.trial.status in OPEN

    @property
    def left(self) -> str:
        return progress.left(self.trial.asked_at, self.trial.done, self.trial.total)

    @property
    def score(self) -> str:
        return rule_guards.score(self.trial)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many flips of each kind."""
        found = self.trial.flips.aggregate(
            known_false=Count("pk", filter=Q(is_known_false=True)),
            **{kind.value: Count("pk", filter=Q(kind=kind)) for kind in Flip.Kind},
        )
        return dict(found)


class VersionPage:
    """A version with its trial, as one person may act on it."""

    def __init__(self, version: Version, trial: Trial | None, person: Person, shadow: standing.Shadow | None) -> None:
        self.version, self.definition, self.trial, self.person = version, version.definition, trial, person
        self.shadow = shadow

    @property
    def rule(self) -> Rule | None:
        return registry.find(self.definition.body)

    @property
    def is_open(self) -> bool:
        """Whether it may still be put in force."""
        return self.definition.status in rule_guards.TRIABLE

    @property
    def stand(self) -> Stand | None:
        """Its newest trial, if there was one."""
        return Stand(self.trial) if self.trial is not None else None

    @property
    def is_trying(self) -> bool:
        return self.trial is not None and self.trial.status in OPEN

    @cached_property
    def why_not_try(self) -> str:
        return why_not(lambda: rule_guards.check_can_try(self.person, self.definition))

    @property
    def score(self) -> str:
        return rule_guards.score(self.trial) if self.trial is not None else "none"

    @cached_property
    def changed(self) -> list[str]:
        """The change against the version that it is compared with: of the source, where both files are loaded."""
        newer, base = self.rule, self.version.compared_with
        older = registry.find(base.body) if base is not None else None
        if newer is None or older is None:
            return self.version.changed
        # The same file with other readers or another engine: the change is in the hash, and only the body shows it.
        return rule_marks.source_diff(older, newer) or self.version.changed

    @cached_property
    def _spots(self) -> Sequence[Spot]:
        return rule_cases.blind_spots(self.trial) if self.trial is not None else []

    @property
    def blind_spots(self) -> Sequence[Spot]:
        """What of its evidence it does not notice: whoever puts it in force sees that before."""
        return self._spots[: rule_cases.MOST_SPOTS]

    @property
    def unshown_spots(self) -> int:
        return len(self._spots) - len(self.blind_spots)

    @cached_property
    def _flips(self) -> Sequence[FlipRow]:
        return flip_rows.of(self.trial, self.person) if self.trial is not None else []

    @property
    def flips(self) -> Sequence[FlipRow]:
        """All that has to be signed, and of the rest as much as a page takes."""
        return self._flips[: max(flip_rows.MOST, len(self.to_sign))]

    @property
    def unshown(self) -> int:
        return len(self._flips) - len(self.flips)

    @property
    def to_sign(self) -> Sequence[FlipRow]:
        return [row for row in self._flips if row.is_to_sign]
