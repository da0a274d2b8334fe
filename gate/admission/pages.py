"""What the page of one policy shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import definition_pages
from audit.definition_pages import Row, Version
from audit.models import Definition
from gate.admission import exhaustive, measuring, policies, recorded
from gate.admission.canonical import number_text
from gate.admission.chips import CHIPS, Chip
from gate.admission.exhaustive import Compared, TooManyCells
from gate.admission.lint import lint
from gate.admission.program import OTHERWISE, Condition, Question, Verdict
from gate.admission.recorded import Call
from gate.admission.reliability import Reliability
from gate.admission.usable import usable

MOST_CELLS = 50_000  # that a page waits for; the command tries more
MOST_SHOWN = 50  # newly allowed cells, and recorded calls
SIGNS = {"is": "is", "gte": "≥", "lte": "≤"}


@dataclass(frozen=True)
class QuestionLine:
    """A question beside the rule that it was made from."""

    question: Question

    @property
    def answers(self) -> str:
        """The closed set of its answers."""
        if self.question.type == "yesno":
            return "yes or no" if self.question.by == "probe" else "a probability"
        return ", ".join(self.question.options) if self.question.type == "enum" else " < ".join(self.question.levels)

    is_measured: bool = False

    @property
    def is_guess(self) -> bool:
        """Whether its threshold is one that nobody has measured: no answer that it lets through has been reviewed."""
        return self.question.by == "model" and self.question.can_be_unsure and not self.is_measured

    @property
    def unsure(self) -> str:
        """When an answer is asked about."""
        if self.question.unsure_between:
            low, high = self.question.unsure_between
            return f"between {number_text(low)} and {number_text(high)}"
        least = self.question.min_confidence
        return "" if least is None else f"below {number_text(least)}"


@dataclass(frozen=True)
class RuleLine:
    """A rule in words, and how often it decided lately."""

    id: str
    when: str
    then: Chip
    fired: int


def in_words(condition: Condition) -> str:
    """A condition as a reader takes it."""
    if condition.op == "unsure":
        return f"{condition.q} is unsure"
    if isinstance(condition.value, frozenset):
        return f"{condition.q} in {', '.join(sorted(condition.value))}"
    value = condition.value if isinstance(condition.value, str) else number_text(condition.value or 0)
    return f"{condition.q} {SIGNS[condition.op]} {value}"


@dataclass(frozen=True)
class Comparison:
    """A version that waits, beside the one in force: the cells and the recorded calls that change."""

    compared: Compared | None  # None when there are too many cells for a page
    why_not: str
    calls: int
    changed: Sequence[recorded.Changed]

    @property
    def newly_allowed(self) -> list[tuple[str, Chip]]:
        """The cells that only the waiting version lets pass, as far as they are shown."""
        found = self.compared.newly("allow") if self.compared else []
        return [(_named(one.cell), Chip(one.was.verdict)) for one in found[:MOST_SHOWN]]

    @property
    def counts(self) -> dict[str, int]:
        """How many cells become each verdict."""
        return {verdict: len(self.compared.newly(verdict)) for verdict in CHIPS} if self.compared else {}  # type: ignore[arg-type]

    @property
    def shown(self) -> Sequence[recorded.Changed]:
        return self.changed[:MOST_SHOWN]


def _named(cell: dict[str, str]) -> str:
    return ", ".join(f"{question} {label}" for question, label in cell.items())


@dataclass(frozen=True)
class VersionLine:
    """One version as its panel shows it."""

    version: Version
    page: PolicyPage

    @property
    def definition(self) -> Definition:
        return self.version.definition

    @property
    def waits(self) -> bool:
        """Whether it may still be put in force."""
        in_force = self.page.row.in_force
        is_open = self.definition.status in (Definition.Status.DRAFT, Definition.Status.SHADOW)
        return is_open and (in_force is None or self.definition.version > in_force.version)

    @property
    def may_observe(self) -> bool:
        return self.waits and self.definition.status == Definition.Status.DRAFT

    @property
    def digest(self) -> str:
        return policies.digest(self.definition)

    @cached_property
    def warnings(self) -> list[str]:
        """What lint warns of; with an error nobody could have drafted it."""
        return [f"{one.code} at {one.at}" for one in lint(self.definition.body["program"])]

    @cached_property
    def comparison(self) -> Comparison | None:
        """Beside what is in force; None when nothing is, or this is not to come."""
        new, old = usable(self.definition.body["program"]), self.page.program
        if self.page.row.in_force is None or not self.waits or new is None or old is None:
            return None
        changed = recorded.replayed(self.page.calls, old, new)
        try:
            compared = exhaustive.compare(old, new, most=MOST_CELLS)
        except TooManyCells as error:
            return Comparison(None, str(error), len(self.page.calls), changed)
        return Comparison(compared, "", len(self.page.calls), changed)


class PolicyPage:
    """One policy: what is asked, how it is decided, what was decided lately, and its versions."""

    def __init__(self, row: Row, versions: Sequence[Version]) -> None:
        self.row = row
        self.versions = [VersionLine(one, self) for one in versions]
        self.title: str = row.shown.body["title"]
        self.digest = policies.digest(row.shown)
        self.program = usable(row.shown.body["program"])

    @cached_property
    def calls(self) -> list[Call]:
        return recorded.recent(self.row.name)

    @property
    def questions(self) -> list[QuestionLine]:
        measured = {one.measured.question.id for one in self.reliability if one.share.n}
        return [QuestionLine(one, one.id in measured) for one in self.program.questions] if self.program else []

    @cached_property
    def reliability(self) -> list[Reliability]:
        """What people's labels say of the answers, by question and model."""
        questions = self.program.questions if self.program else ()
        return [Reliability(one) for one in measuring.measured(self.row.name, questions)]

    @property
    def rules(self) -> list[RuleLine]:
        """The rules in their order, and what happens when none matches."""
        if self.program is None:
            return []
        found = [self._rule(one.id, " and ".join(map(in_words, one.when)), one.then) for one in self.program.rules]
        return [*found, self._rule(OTHERWISE, "nothing above matched", self.program.otherwise)]

    @property
    def of_models(self) -> list[Reliability]:
        return [one for one in self.reliability if not one.is_of_probe]

    @property
    def of_probes(self) -> list[Reliability]:
        return [one for one in self.reliability if one.is_of_probe]

    def _rule(self, name: str, when: str, then: Verdict) -> RuleLine:
        return RuleLine(name, when, Chip(then), recorded.fired(self.calls, name))

    @property
    def asked_first(self) -> int:
        """How many of the recorded decisions were asked before any rule."""
        return recorded.fired(self.calls, None)

    @cached_property
    def cells(self) -> dict[str, Any] | None:
        """How many cells there are and what they decide; None when there are too many for a page."""
        try:
            return exhaustive.check(self.program, most=MOST_CELLS).as_json() if self.program else None
        except TooManyCells:
            return None

    @property
    def lately(self) -> list[tuple[Call, Chip]]:
        return [(one, Chip(one.verdict)) for one in self.calls[:10]]


def one(name: str, person: Any) -> PolicyPage | None:
    """A policy's page as this person may act on it; None when there is no such policy."""
    found = definition_pages.one(policies.KIND.name, name, person)
    return PolicyPage(*found) if found else None
