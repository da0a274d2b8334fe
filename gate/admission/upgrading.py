"""A model's upgrade as a difference: the same recorded actions, the answers of both models, the decisions that change.

What probes answered stays; of the second model only its own answers are taken, so that what it did not answer is
missing, and asked about, and never the first one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.admission import answers as answering
from gate.admission.model_calls import ModelCall
from gate.admission.program import Program, Question
from gate.admission.reducer import Decision, decide


@dataclass(frozen=True)
class Moved:
    """A call that is decided differently, with the answers that differ: by question what they were and are."""

    call: str
    was: Decision
    becomes: Decision
    answers: Mapping[str, tuple[Any, Any]]

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {
            "call": self.call, "was": self.was.verdict, "was_rule": self.was.rule,
            "becomes": self.becomes.verdict, "becomes_rule": self.becomes.rule,
            "answers": {name: {"was": was, "becomes": becomes} for name, (was, becomes) in self.answers.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class Upgrade:
    """Two models over the calls that both were asked about."""

    old: str
    new: str
    compared: int
    left_out: int  # calls that only one of both has
    moved: Sequence[Moved]
    differing: Mapping[str, int]  # by question of a model, how many answers say something else

    @property
    def newly_allowed(self) -> list[Moved]:
        """The calls that only the second model's answers let pass."""
        return [one for one in self.moved if one.becomes.verdict == "allow"]

    def as_lines(self) -> Iterator[dict[str, Any]]:
        """As it is printed: the sum, and a line per call, those newly allowed first."""
        newly = self.newly_allowed
        yield {
            "old_model": self.old, "new_model": self.new, "compared": self.compared, "left_out": self.left_out,
            "changed": len(self.moved), "newly_allowed": len(newly),
            "newly_blocked": sum(one.becomes.verdict == "block" for one in self.moved),
            "answers_that_differ": dict(self.differing),
        }  # fmt: skip
        yield from (one.as_json() for one in (*newly, *(one for one in self.moved if one not in newly)))


def compare(program: Program, old: Sequence[ModelCall], new: Sequence[ModelCall]) -> Upgrade:
    """Decide every call that both have over the answers of each model."""
    asked = [one for one in program.questions if one.by == "model"]
    second = {one.call: one for one in new}
    pairs = [(one, _with_model(one, second[one.call], asked)) for one in old if one.call in second]
    moved = [found for was, becomes in pairs if (found := _moved(program, was, becomes, asked)) is not None]
    differing = {one.id: sum(_says_else(one, was, becomes) for was, becomes in pairs) for one in asked}
    left_out = len({one.call for one in old} ^ second.keys())
    return Upgrade(_models(old), _models(new), len(pairs), left_out, moved, differing)


def _with_model(was: ModelCall, becomes: ModelCall, asked: Sequence[Question]) -> ModelCall:
    """The first call with the second model's answers in place of the first one's."""
    names = {one.id for one in asked}
    kept = {name: answer for name, answer in was.answers.items() if name not in names}
    given = {name: answer for name, answer in becomes.answers.items() if name in names}
    return ModelCall(was.call, was.action, {**kept, **given}, becomes.model)


def _moved(program: Program, was: ModelCall, becomes: ModelCall, asked: Sequence[Question]) -> Moved | None:
    before, after = decide(program, was.answers), decide(program, becomes.answers)
    if before.verdict == after.verdict:
        return None
    differing = [one.id for one in asked if was.answers.get(one.id) != becomes.answers.get(one.id)]
    return Moved(
        was.call, before, after, {name: (was.answers.get(name), becomes.answers.get(name)) for name in differing}
    )  # fmt: skip


def _says_else(question: Question, was: ModelCall, becomes: ModelCall) -> bool:
    """Whether the two answers come down to something else: another value, side of the half, or sureness."""
    return _said(question, was) != _said(question, becomes)


def _said(question: Question, call: ModelCall) -> tuple[Any, bool]:
    read = answering.read(question, call.answers.get(question.id))
    if read.value is None or question.type == "enum":
        return read.value, read.is_unsure
    if question.type == "yesno":
        return float(read.value) > 0.5, read.is_unsure
    return round(float(read.value)), read.is_unsure


def _models(calls: Sequence[ModelCall]) -> str:
    return ", ".join(sorted({one.model for one in calls if one.model}))
