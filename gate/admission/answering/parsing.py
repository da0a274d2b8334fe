"""What came back, read strictly: one answer that fits the schema of its question, or the reason why there is none.

Nothing is trimmed, searched for or repaired: a model that cannot answer in the form has not answered.
"""

from __future__ import annotations

from typing import Any

from evidence import arguments
from gate.admission import reading
from gate.admission.answering.wording import KEY
from gate.admission.asking import answer_schema
from gate.admission.program import Question
from gate.admission.reading import Unreadable

LONGEST_REASON = 300  # characters of a model's own words that are kept
LATE = "The answering model did not answer in time."
UNREACHABLE = "The answering model's server could not be reached, or broke off."
NOT_IN_THE_FORM = "The answering model's server answered with something that is no answer in its protocol."
CUT_OFF = "The model's answer was cut off."
DECLINED = "The answering model declined to answer."


class NoAnswer(Exception):
    """There is no answer. The sentence says why, and holds nothing of the model's own words."""


def answer(question: Question, text: str) -> dict[str, Any]:
    """The answer that a text holds, as a reducer reads it. Raises NoAnswer."""
    try:
        found = reading.read(text, is_finite=True)
    except Unreadable as error:
        raise NoAnswer("The model's answer is not JSON.") from error
    if not isinstance(found, dict) or set(found) != {KEY}:
        raise NoAnswer(f"The model's answer is no object with {KEY} alone.")
    if sentence := arguments.misfit(answer_schema(question), found[KEY]):
        raise NoAnswer(f"The model's answer does not fit its question. {sentence}")
    given: dict[str, Any] = found[KEY]
    return {**given, "why": given["why"][:LONGEST_REASON]} if "abstain" in given else given


def refused(status: int) -> NoAnswer:
    """What a status of the server's means; its own words stay with it, for they may repeat the key."""
    return NoAnswer(f"The answering model's server answered with status {status}.")


def missing(why: str) -> dict[str, Any]:
    """No answer, with its reason, as a reducer reads it."""
    return {"abstain": True, "why": why}
