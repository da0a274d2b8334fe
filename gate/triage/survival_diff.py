"""Two investigations of one incident: what each of them read, and what of it each of them said again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evidence.survival import difference
from evidence.survival.fields import LIMITATION
from gate.triage import survival_grounds, survival_reports
from gate.triage.models import Incident, Investigation
from gate.triage.survival_grounds import Grounds
from gate.triage.survival_reports import Measured

MOST_PAIRS = 200


@dataclass(frozen=True)
class Looked:
    """One of the two, measured from the log."""

    investigation: Investigation
    measured: Measured

    @property
    def results(self) -> Sequence[difference.Result]:
        report = self.measured.report
        return difference.results_of(self.measured.run.steps, report["finer"]) if report is not None else []

    @property
    def grounds(self) -> Grounds | None:
        report = self.measured.report
        return survival_grounds.of_answer(self.measured.run, report) if report is not None else None


class DifferencePage:
    """The second is compared with the first; without a choice, the newest with the one before."""

    limitation = LIMITATION

    def __init__(self, incident: Incident, query: Mapping[str, str]) -> None:
        self.incident = incident
        self.query = query

    @cached_property
    def investigations(self) -> Sequence[Investigation]:
        return list(self.incident.investigations.select_related("agent").order_by("pk"))

    @cached_property
    def one(self) -> Looked | None:
        return self._looked("one", -2)

    @cached_property
    def other(self) -> Looked | None:
        return self._looked("other", -1)

    def _looked(self, name: str, default: int) -> Looked | None:
        by_number = {str(one.pk): one for one in self.investigations}
        newest = self.investigations[default] if len(self.investigations) > 1 else None
        chosen = by_number.get(self.query.get(name, "")) or newest
        return Looked(chosen, survival_reports.of_log(chosen)) if chosen is not None else None

    @property
    def is_measured(self) -> bool:
        """Whether both are: a large one waits for its worker."""
        return all(one is not None and one.measured.report is not None for one in (self.one, self.other))

    @cached_property
    def pairs(self) -> Sequence[difference.Pair]:
        if self.one is None or self.other is None:
            return []
        found = difference.compared(self.one.results, self.other.results)
        # What differs stands first.
        return sorted(found, key=lambda pair: pair.kind == difference.SAME and not pair.is_newly_unmet)[:MOST_PAIRS]

    @property
    def counts(self) -> Sequence[tuple[str, int]]:
        kinds = Counter(pair.kind for pair in self.pairs)
        unmet = sum(pair.is_newly_unmet for pair in self.pairs)
        order = (difference.LOST, difference.GAINED, difference.CHANGED, difference.SAME)
        return [*((kind, kinds[kind]) for kind in order), ("met only by the first", unmet)]

    @cached_property
    def values(self) -> tuple[Sequence[survival_grounds.Ground], Sequence[survival_grounds.Ground]]:
        """The values that only the first answer says, and those that only the second does."""
        ones, others = (
            list(looked.grounds.rows) if looked is not None and looked.grounds is not None else []
            for looked in (self.one, self.other)
        )
        first, second = {one.text for one in ones}, {one.text for one in others}
        return [one for one in ones if one.text not in second], [one for one in others if one.text not in first]
