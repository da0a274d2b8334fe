"""What the page of one metric shows: what was asked of it, at one decision point, and its versions.

The page stands somewhere: on a version, a scope and a decision point, those of a question that somebody asked. Each
panel shows the newest question of its kind there, answered or not yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property

from audit import marked_json
from audit.definition_pages import Row, Version
from audit.models import Definition
from evidence import reviewing
from evidence.metric_asked import Asked
from evidence.metric_moments import Changed, OtherMoment, changes, other_moment
from evidence.metrics import registry, serving, valuation, wording
from evidence.metrics.asking import Variable
from evidence.metrics.definition import MetricVersion
from evidence.metrics.reading_answers import Explained
from evidence.metrics.reading_parts import Provenance
from evidence.models import MetricAsk

MOST_ASKS = 20  # questions on one page
MOST_HERE = 60  # of one place that are looked at
MOST_OTHERS = 6  # other decision points
DIGITS = re.compile(r"(\d+)")
Kind = MetricAsk.Kind
TRACES = (Kind.TRACE_ENTITY, Kind.TRACE_EVENT)


class MetricPage:
    """One metric, standing where `ask` stands; without one, where the newest question of the shown version does."""

    def __init__(self, row: Row, versions: Sequence[Version], ask: MetricAsk | None, before: int | None = None) -> None:
        self.row = row
        self.versions = versions
        self._ask = ask
        self.before = before

    @cached_property
    def place(self) -> MetricAsk | None:
        """The question that the page stands on."""
        if self._ask is not None:
            return self._ask
        asked = MetricAsk.objects.filter(version=self.row.shown, kind=Kind.EXPLAIN)
        return asked.select_related("version").order_by("-asked_at").first()

    @property
    def definition(self) -> Definition:
        """The version that is shown and asked."""
        return self.place.version if self.place is not None else self.row.shown

    @cached_property
    def version(self) -> MetricVersion:
        return registry.of(self.definition)

    @cached_property
    def _here(self) -> Sequence[Asked]:
        """The newest questions about this version, scope and decision point."""
        if self.place is None:
            return []
        found = MetricAsk.objects.filter(
            version=self.place.version, decision_point=self.place.decision_point,
            arguments__scope=self.place.arguments["scope"],
        )  # fmt: skip
        return [Asked(one) for one in found.exclude(kind=Kind.GOLDEN).order_by("-pk")[:MOST_HERE]]

    def _newest(self, *kinds: str) -> Asked | None:
        """The question of these kinds that the page is of, or else the newest here."""
        of_kind = [one for one in self._here if one.kind in kinds]
        wanted = self._ask.pk if self._ask is not None else None
        return next((one for one in of_kind if one.ask.pk == wanted), of_kind[0] if of_kind else None)

    @cached_property
    def value(self) -> Asked | None:
        return self._newest(Kind.EXPLAIN)

    @property
    def explained(self) -> Explained | None:
        """The answer in the value's panel."""
        answer = self.value.answer if self.value is not None else None
        return answer if isinstance(answer, Explained) else None

    @property
    def provenance(self) -> Provenance | None:
        return self.explained.provenance if self.explained is not None else None

    @cached_property
    def other_ways(self) -> Sequence[Asked]:
        """The same value, taken apart in the other ways that somebody asked for; each way once."""
        shown = {self.value.wanted} if self.value is not None else set()
        ways: dict[str, Asked] = {}
        for one in self._here:
            if one.kind == Kind.EXPLAIN and one.answer is not None and one.wanted not in shown:
                ways.setdefault(one.wanted, one)
        return list(ways.values())

    @cached_property
    def trace(self) -> Asked | None:
        return self._newest(*TRACES)

    @cached_property
    def what_if(self) -> Asked | None:
        return self._newest(Kind.COMPARE)

    @cached_property
    def others(self) -> Sequence[OtherMoment]:
        """The same question at other decision points, newest decision point first."""
        if self.value is None or self.explained is None:
            return []
        found = MetricAsk.objects.filter(
            version=self.definition, kind=Kind.EXPLAIN, arguments=self.value.ask.arguments, answer__isnull=False
        ).exclude(decision_point=self.value.ask.decision_point)
        newest = found.order_by("-decision_point", "-pk").distinct("decision_point")
        read = (other_moment(Asked(one), self.explained, self.value.ask) for one in newest[:MOST_OTHERS])
        return [one for one in read if one is not None]

    @property
    def became_known(self) -> Sequence[Changed]:
        """The components beside those at the nearest other decision point, where both are known."""
        if not self.others or self.explained is None or self.explained.value is None:
            return []
        other = self.others[0]
        pair = (self.explained, other.answer) if other.is_later else (other.answer, self.explained)
        return [] if other.answer.value is None else changes(*pair)

    @cached_property
    def asks(self) -> Sequence[Asked]:
        """What people asked, newest first; one more than is shown when there are more."""
        found = MetricAsk.objects.filter(version__in=[one.pk for one in self.row.versions]).exclude(kind=Kind.GOLDEN)
        if self.before is not None:
            found = found.filter(pk__lt=self.before)
        newest = found.select_related("version").defer("answer").order_by("-pk")[: MOST_ASKS + 1]
        return [Asked(one) for one in newest]

    @property
    def asks_shown(self) -> Sequence[Asked]:
        return self.asks[:MOST_ASKS]

    @property
    def older(self) -> int | None:
        """The number that the next page of questions begins before; None on the last."""
        return self.asks[MOST_ASKS - 1].ask.pk if len(self.asks) > MOST_ASKS else None

    @property
    def unit(self) -> str:
        return wording.unit_words(self.version.unit.name)

    @property
    def is_due(self) -> bool:
        return reviewing.is_due(self.version.review_by)

    @property
    def review_by(self) -> date:
        return date.fromisoformat(self.version.review_by)

    @property
    def formula(self) -> str:
        """The statement as people read it, with its line breaks and nothing disguised."""
        return "\n".join(map(marked_json.undisguised, self.version.formula.strip("\n").splitlines()))

    @property
    def is_traced_by_entity(self) -> bool:
        return serving.is_traced_by_entity(self.version)

    @property
    def relations(self) -> Sequence[str]:
        return sorted(f"vis_{name}" for name in self.version.relations)

    @property
    def valuation(self) -> tuple[str, int] | None:
        """Name and version of its prices."""
        return valuation.named(self.version.valuation)

    @property
    def occasions(self) -> Iterator[tuple[str, str]]:
        """When it is not resolved: the occasion in words, and the status."""
        for key, status in self.version.null_policy.items():
            yield wording.OCCASIONS[key], status

    @property
    def variables(self) -> Iterator[tuple[Variable, list[str]]]:
        """What may be set to what, numbers in their order."""
        for one in self.version.supported_counterfactuals:
            yield one, sorted(one.values, key=_natural)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """So that 10 stands behind 9."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in DIGITS.split(text) if part]
