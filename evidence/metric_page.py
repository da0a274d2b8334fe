"""What the page of one metric shows: what was asked of it, at one decision point, and its versions.

The page stands somewhere: on a version, a scope and a decision point, those of a question that somebody asked. Each
panel shows the newest question of its kind there, answered or not yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.utils import timezone

from audit import marked_json
from audit.definition_pages import Row, Version
from audit.models import Definition
from audit.reading import seq_of
from evidence.metrics import amounts, registry, serving, wording
from evidence.metrics.amounts import Amount
from evidence.metrics.asking import Variable
from evidence.metrics.definition import MetricVersion
from evidence.metrics.reading_answers import Component, Explained, Provenance, Shown, of_tool
from evidence.models import MetricAsk

MOST_ASKS = 20  # questions on one page
MOST_HERE = 60  # of one place that are looked at
MOST_OTHERS = 6  # other decision points
DIGITS = re.compile(r"(\d+)")
Kind = MetricAsk.Kind
TRACES = (Kind.TRACE_ENTITY, Kind.TRACE_EVENT)
WORDS: Mapping[str, str] = {
    Kind.EXPLAIN: "Value", Kind.COMPARE: "What if", Kind.TRACE_ENTITY: "Trace of one", Kind.TRACE_EVENT: "Trace of",
}  # fmt: skip


class Asked:
    """One question as it is shown: waiting, with its answer, or with why there is none."""

    def __init__(self, ask: MetricAsk) -> None:
        self.ask = ask
        self.kind = Kind(ask.kind)

    @property
    def is_open(self) -> bool:
        return not self.ask.is_answered

    @cached_property
    def answer(self) -> Shown | None:
        """The answer; None where there is none, or one that cannot be read."""
        return of_tool(serving.TOOLS[self.kind], self.ask.answer)

    @property
    def problem(self) -> str:
        """Why there is no answer, of a question that is done with."""
        if self.is_open or self.answer is not None:
            return ""
        return self.ask.problem or "Its answer cannot be read here."

    @property
    def entry(self) -> int | None:
        """The number of the entry of the read."""
        return seq_of(self.ask.audit_id)

    @property
    def scope(self) -> Mapping[str, Any]:
        return dict(sorted(self.ask.arguments.get("scope", {}).items()))

    @property
    def words(self) -> str:
        """What sort of question it is."""
        return WORDS[self.kind]

    @property
    def wanted(self) -> str:
        """What it asks for besides its scope, in words."""
        said = self.ask.arguments
        if self.kind == Kind.COMPARE:
            return f"{said['variable']} = {said['value']}"
        return str(said.get("decomposition") or said.get("entity") or said.get("event") or "")


@dataclass(frozen=True)
class Later:
    """The same question at another decision point, and what lies between the two."""

    asked: Asked
    answer: Explained
    difference: Amount | None  # of the later less the earlier, whichever that is
    is_later: bool

    @property
    def words(self) -> str:
        """What the difference is, in a word and a number."""
        if self.difference is None:
            return "not known"
        if not self.difference.number:
            return "the same"
        return f"{amounts.signed(self.difference)} became known later"


@dataclass(frozen=True)
class Changed:
    """One component at two decision points."""

    name: str
    earlier: Amount | None
    later: Amount | None
    difference: Amount | None


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
    def others(self) -> Sequence[Later]:
        """The same question at other decision points, newest decision point first."""
        if self.value is None or self.explained is None:
            return []
        found = MetricAsk.objects.filter(
            version=self.definition, kind=Kind.EXPLAIN, arguments=self.value.ask.arguments, answer__isnull=False
        ).exclude(decision_point=self.value.ask.decision_point)
        newest = found.order_by("-decision_point", "-pk").distinct("decision_point")
        return [
            later
            for one in newest[:MOST_OTHERS]
            if (later := _later(Asked(one), self.explained, self.value.ask)) is not None
        ]

    @property
    def became_known(self) -> Sequence[Changed]:
        """The components beside those at the nearest other decision point, where both are known."""
        if not self.others or self.explained is None or self.explained.value is None:
            return []
        other = self.others[0]
        pair = (self.explained, other.answer) if other.is_later else (other.answer, self.explained)
        return [] if other.answer.value is None else _changes(*pair)

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
        return date.fromisoformat(self.version.review_by) <= timezone.localdate()

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
    def valuation(self) -> tuple[str, str] | None:
        """Name and version of its prices."""
        name, _, number = (self.version.valuation or "").partition("@")
        return (name, number) if name else None

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


def _later(asked: Asked, shown: Explained, at: MetricAsk) -> Later | None:
    answer = asked.answer
    if not isinstance(answer, Explained) or asked.ask.decision_point is None or at.decision_point is None:
        return None
    is_later = asked.ask.decision_point > at.decision_point
    pair = (answer.value, shown.value) if is_later else (shown.value, answer.value)
    return Later(asked, answer, amounts.difference(*pair), is_later)


def _changes(earlier: Explained, later: Explained) -> list[Changed]:
    """Each component of the one or the other; what the one did not have is nothing in it."""
    before, after = _named(earlier.components), _named(later.components)
    zero = amounts.made(Fraction(0))
    return [
        Changed(name, before.get(name), after.get(name),
                amounts.difference(after.get(name, zero), before.get(name, zero)))
        for name in dict.fromkeys([*after, *before])
    ]  # fmt: skip


def _named(components: Sequence[Component]) -> dict[str, Amount]:
    return {one.name: one.amount for one in components}


def _natural(text: str) -> list[tuple[int, int, str]]:
    """So that 10 stands behind 9."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in DIGITS.split(text) if part]
