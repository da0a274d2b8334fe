"""A policy as it is evaluated: typed questions, and rules of which the first that matches decides.

The format is that of evidence questions: https://agentic-patterns.com/patterns/evidence-questions-not-verdict-questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

Verdict = Literal["allow", "ask", "block"]
VERDICTS: tuple[Verdict, ...] = ("allow", "ask", "block")
TYPES = ("yesno", "enum", "level")
SOURCES = ("model", "probe")
OPS = ("is", "in", "gte", "lte", "unsure")
# Whether a question's type answers with a name or with a number.
NAMED_OPS, NUMBER_OPS = ("is", "in"), ("gte", "lte")
OTHERWISE = "otherwise"  # what a decision names as its rule when none matched

Value = str | float


@dataclass(frozen=True)
class Question:
    """One thing to observe, with its closed set of answers. `rule_text` is the written rule it was made from."""

    id: str
    type: str
    text: str
    options: Mapping[str, str]  # enum: name and description, in order
    levels: tuple[str, ...]  # level: lowest first
    by: str
    unsure_between: tuple[float, float] | None  # yesno; exclusive at both ends
    min_confidence: float | None  # enum and level; low is strictly below
    depends_on: tuple[str, ...]
    rule_text: str
    rule_place: str

    @property
    def highest(self) -> float:
        """The largest number that answers it: a probability, or an index into the levels."""
        return len(self.levels) - 1 if self.type == "level" else 1

    @property
    def can_be_unsure(self) -> bool:
        """Whether an answer to it can fall below a threshold."""
        return self.unsure_between is not None or self.min_confidence is not None


@dataclass(frozen=True)
class Condition:
    """What one answer has to be."""

    q: str
    op: str
    value: Value | frozenset[str] | None

    def holds(self, value: Value, is_unsure: bool) -> bool:
        """Whether an answer that has been checked against its question fulfils it."""
        match self.op:
            case "is":
                return value == self.value
            case "in":
                return value in cast("frozenset[str]", self.value)
            case "gte":
                return cast("float", value) >= cast("float", self.value)
            case "lte":
                return cast("float", value) <= cast("float", self.value)
        return is_unsure  # "unsure", the one left of a closed set


@dataclass(frozen=True)
class Rule:
    """All of its conditions hold, or it does not match."""

    id: str
    when: tuple[Condition, ...]
    then: Verdict


@dataclass(frozen=True)
class Program:
    """A program without errors; `gate.admission.usable` is how to get one."""

    questions: tuple[Question, ...]
    rules: tuple[Rule, ...]
    otherwise: Verdict
    precheck_confidence: bool
    must_reach: tuple[Verdict, ...]

    def question(self, name: str) -> Question:
        """The question of this id. Raises KeyError."""
        for one in self.questions:
            if one.id == name:
                return one
        raise KeyError(name)


def build(raw: Mapping[str, Any]) -> Program:
    """The program in what `gate.admission.shape` found nothing wrong with; nothing is checked again here."""
    return Program(
        questions=tuple(_question(one) for one in raw["questions"]),
        rules=tuple(_rule(one) for one in raw["rules"]),
        otherwise=raw["otherwise"],
        precheck_confidence=raw.get("precheck_confidence", True),
        must_reach=tuple(raw.get("must_reach", ())),
    )


def _question(raw: Mapping[str, Any]) -> Question:
    band, needed = raw.get("unsure_between"), raw.get("depends_on", ())
    written = raw.get("source", {})
    source = written if isinstance(written, dict) else {}
    return Question(
        id=raw["id"], type=raw["type"], text=raw["text"],
        options={name: said or "" for name, said in raw.get("options", {}).items()},
        levels=tuple(one or "" for one in raw.get("levels", ())), by=raw.get("by", "model"),
        unsure_between=(band[0], band[1]) if band else None, min_confidence=raw.get("min_confidence"),
        depends_on=(needed,) if isinstance(needed, str) else tuple(needed),
        rule_text=_text(source.get("text")), rule_place=_text(source.get("place")),
    )  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _rule(raw: Mapping[str, Any]) -> Rule:
    return Rule(raw["id"], tuple(_condition(one) for one in raw["when"]), raw["then"])


def _condition(raw: Mapping[str, Any]) -> Condition:
    value = frozenset(raw["value"]) if raw["op"] == "in" else raw.get("value")
    return Condition(raw["q"], raw["op"], value)
