"""What people say of recorded answers: right, wrong, or that they cannot say. `measuring` counts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from audit import log
from audit.kinds import Kind
from audit.refusing import NotAllowed
from gate.admission import answers as answering
from gate.admission import canonical
from gate.admission.decision_page import DecisionPage, Line
from gate.admission.models import AnswerLabel
from gate.admission.program import Question

PERMISSION = "gate.label_answers"
Said = AnswerLabel.Said
WORDS = {Said.RIGHT: "right", Said.WRONG: "wrong", Said.CANNOT_SAY: "cannot say"}


@dataclass(frozen=True)
class Labelable:
    """One recorded answer that may be right or wrong, and what this person has said of it; empty for nothing yet."""

    line: Line
    field: str
    mine: str

    @property
    def fact(self) -> str:
        """What the answer came down to."""
        given = self.line.answer
        if self.line.question.type == "yesno" and "p" in given:
            return f"{'yes' if given['p'] > 0.5 else 'no'}, {self.line.said}"
        return self.line.said

    @property
    def said(self) -> str:
        return WORDS[Said(self.mine)] if self.mine else ""


@dataclass(frozen=True)
class Asked:
    """The form under a decision: every answer in it that states a fact."""

    page: DecisionPage
    lines: Sequence[Labelable]
    may: bool

    @property
    def is_open(self) -> bool:
        """Whether this person may still say something."""
        return self.may and any(not one.mine for one in self.lines)


def asked(page: DecisionPage, person: Any) -> Asked:
    """What a person is asked about the answers of a decision."""
    said = AnswerLabel.objects.filter(decision=page.entry.seq, by=person.pk).values_list("question", "said")
    mine = dict(said)
    lines = [
        Labelable(line, f"said_{number}", mine.get(line.question.id, ""))
        for number, line in enumerate(page.lines)
        if _states_a_fact(line.question, line.answer)
    ]
    return Asked(page, lines, person.has_perm(PERMISSION))


def _states_a_fact(question: Question, answer: Any) -> bool:
    read = answering.read(question, answer)
    return read.value is not None and not (question.type == "yesno" and read.value == 0.5)


@transaction.atomic
def say(page: DecisionPage, said: Mapping[str, str], *, by: Any) -> int:
    """Keep what somebody says of answers, by question. Gives how many were said; raises NotAllowed with a sentence."""
    form = asked(page, by)
    check_can_label(form, said)
    lines = {one.line.question.id: one.line for one in form.lines}
    rows = [_row(page, lines[question], word, by) for question, word in said.items()]
    try:
        with transaction.atomic():
            AnswerLabel.objects.bulk_create(rows)
    except IntegrityError as error:
        raise NotAllowed("You said so already, in another window; what is said first stays.") from error
    log.record_with(
        Kind.ADMISSION_LABELED, log.Actor.person(by), subject=page.entry.subject, tool=page.entry.tool,
        tool_version=page.entry.tool_version, incident_id=page.entry.incident_id, summary=_summary(said.values()),
        args={"decision": page.entry.ref, "said": dict(said)},
    )  # fmt: skip
    return len(rows)


def check_can_label(form: Asked, said: Mapping[str, str]) -> None:
    """Raises NotAllowed for a role that does not, for nothing said, and for what was not asked or is said already."""
    if not form.may:
        raise NotAllowed("Your role does not say whether answers were right; on-call staff and admins do.")
    if not said:
        raise NotAllowed("Say of at least one answer whether it was right.")
    open_ones = {one.line.question.id for one in form.lines if not one.mine}
    if other := sorted(said.keys() - open_ones):
        raise NotAllowed(f"{other[0]} has no answer here that you could still speak of; what is said first stays.")


def _row(page: DecisionPage, line: Line, word: str, by: Any) -> AnswerLabel:
    return AnswerLabel(
        decision=page.entry.seq, policy=page.entry.tool, question=line.question.id, asked=digest(line.question),
        model=page.counted_as(line.question), answer=line.answer, said=Said(word), by=by,
    )  # fmt: skip


def _summary(words: Iterable[str]) -> str:
    counts = {word: sum(one == word for one in words) for word in Said.values}
    return ", ".join(f"{number} {WORDS[Said(word)]}" for word, number in counts.items() if number)


def digest(question: Question) -> str:
    """What was asked, as one name: labels of another text, or of other options, are about another question."""
    return canonical.digest({
        "id": question.id, "type": question.type, "by": question.by, "text": question.text,
        "options": dict(question.options), "levels": list(question.levels),
    })  # fmt: skip
