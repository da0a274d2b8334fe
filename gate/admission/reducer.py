"""The verdict: answers are checked, and then the first rule that matches decides. Pure and total.

Whatever is missing, unreadable or unsure is `ask` before any rule is read, so no rule and no default can let it pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.admission import answers as answering
from gate.admission.answers import Read
from gate.admission.program import OTHERWISE, Program, Rule, Verdict
from gate.admission.usable import usable

UNSURE = "low_confidence"  # the one defect that a program may leave to its own rules


@dataclass(frozen=True, slots=True)
class Escalation:
    """Why a person is asked: a question and what is wrong with its answer. `q` is None for what is of no question."""

    q: str | None
    why: str
    reason: str = ""  # why there is no answer, in the words of whoever abstained

    def __getitem__(self, key: str) -> str | None:
        """Its two words also by the keys of the line that is printed."""
        return {"q": self.q, "why": self.why}[key]

    def as_json(self) -> dict[str, str | None]:
        """As it is printed."""
        return {"q": self.q, "why": self.why}


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, by which rule (None when none was read), and everything that was wrong."""

    verdict: Verdict
    rule: str | None
    escalations: tuple[Escalation, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {
            "verdict": self.verdict, "rule": self.rule, "escalations": [one.as_json() for one in self.escalations],
        }  # fmt: skip


UNUSABLE = Decision("ask", None, (Escalation(None, "program"),))


def decide(
    program: Program | Any, answers: Any, *, judged_action: Any = None, executed_action: Any = None
) -> Decision:  # fmt: skip
    """The verdict over these answers. Never raises, whatever JSON it is given.

    `program` is a Program, or JSON that is read as one; one with an error decides `ask`. The actions are digests: of
    what the answers are about, and of what is about to run. When they differ, the answers are void.
    """
    found = program if isinstance(program, Program) else usable(program)
    if found is None:
        return UNUSABLE
    given: Mapping[Any, Any] = answers if isinstance(answers, dict) else {}
    read = {one.id: answering.read(one, given.get(one.id)) for one in found.questions}
    wrong = _changed(judged_action, executed_action)
    for name, one in read.items():
        if one.defects:
            wrong += _defects(name, one, found.precheck_confidence)
    if wrong:
        return Decision("ask", None, tuple(wrong))
    return _first_match(found, read)


def _changed(judged: Any, executed: Any) -> list[Escalation]:
    """Two digests that are the same text bind the answers to the action; nothing else does, and neither is no bond."""
    if judged is None and executed is None:
        return []
    is_bound = isinstance(judged, str) and isinstance(executed, str) and judged == executed and judged != ""
    return [] if is_bound else [Escalation(None, "action_changed")]


def _defects(name: str, answer: Read, is_prechecked: bool) -> list[Escalation]:
    return [Escalation(name, defect, answer.reason) for defect in answer.defects if is_prechecked or defect != UNSURE]


def _first_match(program: Program, read: Mapping[str, Read]) -> Decision:
    for rule in program.rules:
        if _matches(rule, read):
            return Decision(rule.then, rule.id)
    return Decision(program.otherwise, OTHERWISE)


def _matches(rule: Rule, read: Mapping[str, Read]) -> bool:
    for condition in rule.when:
        answer = read[condition.q]
        # An answer without a value has been asked about.
        if answer.value is None or not condition.holds(answer.value, answer.is_unsure):
            return False
    return True
