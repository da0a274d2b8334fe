"""One decision as a page: each question with its answer and who gave it, and what followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import reading as log_reading
from audit.kinds import Kind
from audit.models import Definition, Entry
from gate.admission import judging, policies, reading
from gate.admission.canonical import number_text
from gate.admission.chips import Chip
from gate.admission.program import Question
from gate.admission.usable import usable
from gate.admission.values import is_number

OWN_WORD = ", by an agent's word"
LONGEST_MODEL = 200  # characters of a model's name that a label keeps


@dataclass(frozen=True)
class Line:
    """A question with its answer, and what was wrong with it."""

    question: Question
    answer: Any
    wrong: str
    by: str
    seen: str = ""  # what a probe of ours saw for it

    @property
    def said(self) -> str:
        """The answer in one word, or that there is none."""
        given = self.answer if isinstance(self.answer, dict) else {}
        found = next((given[key] for key in ("value", "p", "level") if key in given), None)
        if found is None or isinstance(found, dict | list):
            return "none"
        said = number_text(found) if is_number(found) else str(found)
        sure = given.get("confidence")
        return f"{said}, confidence {number_text(sure)}" if is_number(sure) else said


class DecisionPage:
    """A decision as it was recorded, beside the version that it was made by."""

    def __init__(self, entry: Entry, args: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.entry, self.args, self.result = entry, args, result
        self.chip = Chip(result["verdict"])

    @property
    def actions(self) -> list[tuple[str, str]]:
        """The digests that the answers were bound by, as far as there are any."""
        named = (("Judged", self.args["judged_action"]), ("To be run", self.args["executed_action"]))
        return [(what, said) for what, said in named if isinstance(said, str) and said]

    @property
    def asked_seq(self) -> int:
        """The number of the entry that says what the answering model was sent, and what it said."""
        return int(self.args["asked"]["entry"].removeprefix("A-"))

    @cached_property
    def version(self) -> Definition | None:
        """The version that decided; None where there was none."""
        if self.entry.tool_version is None:
            return None
        found = Definition.objects.filter(kind=policies.KIND.name, name=self.entry.tool)
        return found.filter(version=self.entry.tool_version).first()

    @property
    def is_of_this_program(self) -> bool:
        """Whether the version's program still has the digest that the entry carries."""
        return self.version is not None and policies.digest(self.version) == self.entry.tool_hash

    @property
    def lines(self) -> list[Line]:
        """Every question of the version, in order."""
        program = usable(self.version.body["program"]) if self.version else None
        return [self._line(one) for one in program.questions] if program else []

    def _line(self, question: Question) -> Line:
        answers = self.args["answers"] if isinstance(self.args["answers"], dict) else {}
        wrong = [one["why"] for one in self.result["escalations"] if one["q"] == question.id]
        reason = self.result["reasons"].get(question.id, "")
        said = ", ".join(wrong) + (f": {reason}" if reason else "")
        return Line(question, answers.get(question.id), said, self._source(question), self._seen(question, wrong))

    @property
    def write_id(self) -> int | None:
        """The number of the write that was judged; None where another gate asked, which saw its action itself."""
        is_write = self.entry.kind != Kind.ADMISSION_DECIDED
        return int(self.entry.subject.removeprefix("W-")) if is_write else None

    def _source(self, question: Question) -> str:
        if question.by == "probe":
            return "probe" if self.write_id is not None else "client probe"
        return self._model_of(question)

    def _seen(self, question: Question, wrong: list[str]) -> str:
        if self.write_id is None or question.by != "probe" or wrong:
            return ""
        return str(self.args["action"]["facts"].get(question.id, {}).get("seen", ""))

    def _model_of(self, question: Question) -> str:
        """Whether we asked a model or the agent answered for itself, and by which model it says it did."""
        who = "answering model" if self.is_asked(question) else "the agent itself"
        model = self.model_of(question)
        return f"{who}, {model}" if model else who

    def is_asked(self, question: Question) -> bool:
        """Whether the answering model was asked this; else whoever wanted the decision answered."""
        return question.id in self.args.get("asked", {}).get("questions", ())

    def model_of(self, question: Question) -> str:
        """The model that answered, as its endpoint or the agent calls it; empty when nobody said."""
        if question.by == "probe":
            return ""
        said = self.args["asked"]["model"] if self.is_asked(question) else self.args["model"].get("id", "")
        return str(said)

    def counted_as(self, question: Question) -> str:
        """The model's name as its answers are counted: one that an agent says it asked is not the one that we ask."""
        said = self.model_of(question)
        is_own = question.by == "model" and not self.is_asked(question) and said != ""
        return f"{said[: LONGEST_MODEL - len(OWN_WORD)]}{OWN_WORD}" if is_own else said

    @property
    def other_defects(self) -> list[str]:
        """What was wrong beside the answers."""
        return [one["why"] for one in self.result["escalations"] if one["q"] is None]


def one(policy: str, seq: int) -> DecisionPage | None:
    """The decision of this policy under this number; None when there is none that can be read whole."""
    entry = log_reading.by_seq(seq)
    if entry is None or entry.kind not in judging.KINDS or entry.tool != policy:
        return None
    content = log_reading.content_of(entry)
    if not content.is_readable:
        return None
    return DecisionPage(entry, reading.read(content.args_raw), reading.read(content.result_raw))
