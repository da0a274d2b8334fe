"""The panel of a write's page that says what was asked, what was answered by whom, and which rule followed from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.models import Definition, Entry
from gate.admission import judging
from gate.admission.canonical import number_text
from gate.admission.chips import Chip
from gate.admission.defect_words import in_words
from gate.admission.program import Program, Question
from gate.admission.usable import usable
from gate.admission.values import is_number
from gate.writes import admission
from gate.writes.models import Admission, WriteRequest

# What is observed of every write, for when no question of the policy asks it.
OBSERVED: Mapping[str, str] = {
    "environment": "Which environment is the target?",
    "rows_touched": "How many rows does the statement name?",
    "tables_touched": "Which tables does it change?",
    "keyed": "Does the condition name a whole key?",
    "reversible": "Can it be undone exactly?",
    "user_data": "Is user data written?",
    "frozen": "Is the target frozen now?",
    "open_incident": "Is an incident open on the same subject?",
    "effect": "What does the action do to what is there?",
    "moves_money": "Does it move money?",
    "repeatable": "Does a second try have the effect of one?",
}


@dataclass(frozen=True)
class Line:
    """A question, its answer, what was seen for it, and who answered."""

    name: str
    text: str
    said: str  # empty where there is no answer
    seen: str
    wrong: str
    by: str


@dataclass
class AdmissionPanel:
    """What admission made of the newest edition of a write."""

    found: Admission

    @property
    def chip(self) -> Chip:
        return Chip(self.found.verdict)

    @property
    def version(self) -> Definition | None:
        return self.found.version

    @property
    def title(self) -> str:
        version = self.found.version
        return str(version.body["title"]) if version else self.found.policy

    @cached_property
    def program(self) -> Program | None:
        return usable(self.found.version.body["program"]) if self.found.version else None

    @property
    def lines(self) -> list[Line]:
        """What the policy asks, in its order."""
        return [self._line(one) for one in self.program.questions] if self.program else []

    @property
    def also(self) -> list[Line]:
        """What was observed besides: nothing of it decided."""
        asked = {one.id for one in self.program.questions} if self.program else set()
        return [self._fact(name, text) for name, text in OBSERVED.items() if name in self.found.facts.keys() - asked]

    @cached_property
    def entry(self) -> Entry | None:
        """The entry that says the same."""
        kinds = [one for one in judging.KINDS if one.value.startswith("write.")]
        return Entry.objects.filter(subject=self.found.write.ref, kind__in=kinds).order_by("-seq").first()

    @property
    def defects(self) -> list[str]:
        """Why a person is asked before any rule is read, where that is of no question."""
        return [in_words(one["why"]) for one in self.found.escalations if one["q"] is None]

    @property
    def because(self) -> list[Line]:
        """What the rule that decided reads."""
        reads = admission.blocking(self.found)
        return [one for one in self.lines if one.name in reads]

    def _line(self, question: Question) -> Line:
        wrong = [_defect(one) for one in self.found.escalations if one["q"] == question.id]
        fact = self.found.facts.get(question.id, {}) if question.by == "probe" else {}
        said, seen = _said(self.found.answers.get(question.id)), "" if wrong else fact.get("seen", "")
        return Line(question.id, question.text, said, seen, ", ".join(wrong), self._by(question, fact))

    def _by(self, question: Question, fact: Mapping[str, str]) -> str:
        if question.by != "probe":
            return self._model(question.id)
        return f"probe, {fact['source']}" if fact else "probe"

    def _fact(self, name: str, text: str) -> Line:
        fact, said = self.found.facts[name], _said(self.found.answers.get(name))
        return Line(
            name, text, said, fact["seen"] if said else "", "" if said else fact["seen"], f"probe, {fact['source']}"
        )  # fmt: skip

    def _model(self, question: str) -> str:
        said, asked = self.found.model["said"], self.found.model["asked"]
        if question in asked.get("questions", ()):
            return f"answering model {asked['model']}".strip()
        return f"the proposer's model, {said['id']}" if said else "the proposer's model"


def _defect(one: Mapping[str, str]) -> str:
    words = in_words(one["why"])
    return f"{words}: {one['reason']}" if one["reason"] else words


def _said(answer: Any) -> str:
    given = answer if isinstance(answer, dict) else {}
    found = next((given[key] for key in ("value", "p", "level") if key in given), None)
    if found is None:
        return ""
    said = number_text(found) if is_number(found) else str(found)
    sure = given.get("confidence")
    return f"{said}, confidence {number_text(sure)}" if is_number(sure) else said


def of(write: WriteRequest) -> AdmissionPanel | None:
    """The panel of a write; None while it is being checked for the first time."""
    found = admission.latest(write)
    return AdmissionPanel(found) if found else None
