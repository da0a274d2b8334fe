"""What labels say of answers: how often they were right, by question and model, which thresholds are measured by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gate.admission import calibration
from gate.admission.calibration import Sample, Share, Suggestion
from gate.admission.labels import Said, digest
from gate.admission.models import AnswerLabel
from gate.admission.program import Question

MOST = 2_000  # of the newest labels of one policy


@dataclass(frozen=True)
class Measured:
    """What is known of one question's answers by one model, or by its probe."""

    question: Question
    model: str  # empty for a probe, and for a model that nobody named
    right: Share  # of all that were said right or wrong
    samples: Sequence[Sample]  # empty for a probe
    disputed: int  # answers that people disagree about: in no number here

    @property
    def at_threshold(self) -> Share:
        return calibration.at_threshold(self.samples)

    @property
    def suggestion(self) -> Suggestion:
        return calibration.suggest(self.samples)


def measured(policy: str, questions: Sequence[Question]) -> list[Measured]:
    """By question and model, in the order of the questions; nothing for what nobody spoke of."""
    known = {one.id: digest(one) for one in questions}
    rows = AnswerLabel.objects.filter(policy=policy, asked__in=known.values()).exclude(said=Said.CANNOT_SAY)
    found: dict[tuple[str, str], dict[int, list[AnswerLabel]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.order_by("-pk")[:MOST]:
        found[row.question, row.model][row.decision].append(row)
    return [
        _measured(one, model, list(found[name, model].values()))
        for one in questions
        for name, model in sorted(found)
        if name == one.id
    ]


def _measured(question: Question, model: str, by_decision: Sequence[Sequence[AnswerLabel]]) -> Measured:
    agreed = [rows[0] for rows in by_decision if len({one.said for one in rows}) == 1]
    samples = [calibration.sample(question, one.answer, one.said == Said.RIGHT) for one in agreed]
    right = sum(one.said == Said.RIGHT for one in agreed)
    return Measured(
        question, model, Share(right, len(agreed)), [one for one in samples if one is not None],
        len(by_decision) - len(agreed),
    )  # fmt: skip
