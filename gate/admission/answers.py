"""Whether an answer answers its question: what is wrong with it, or what it says and whether it says so surely.

Total: any JSON is an answer or has a defect. Nothing is trimmed, folded or converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from gate.admission.program import Question, Value
from gate.admission.values import is_number

Defect = Literal["missing", "malformed", "out_of_range", "out_of_enum", "wrong_source", "low_confidence"]
OWN_KEY = {"yesno": "p", "enum": "value", "level": "level"}


class Read(NamedTuple):
    """What an answer says. With a defect other than low confidence, it says nothing that may be used."""

    value: Value | None
    is_unsure: bool
    defects: tuple[Defect, ...] = ()
    reason: str = ""  # why there is no answer, in the words of whoever gave none


MISSING = Read(None, False, ("missing",))
MALFORMED = Read(None, False, ("malformed",))
WRONG_SOURCE = Read(None, False, ("wrong_source",))


def read(question: Question, answer: Any) -> Read:
    """Every defect of an answer, or its value. Null is missing; to abstain is, with a reason."""
    if answer is None:
        return MISSING
    if not isinstance(answer, dict):
        return MALFORMED
    if answer.get("abstain", False) is not False:
        return _abstained(answer)
    if answer.get("by", "model") != question.by:
        return WRONG_SOURCE
    value, defect = _value(question, answer)
    if question.by == "probe":
        return Read(value, False, defect)
    if question.type == "yesno":
        return _sure_probability(question, value, defect)
    return _with_confidence(question, value, defect, answer.get("confidence"))


def _abstained(answer: Mapping[Any, Any]) -> Read:
    if answer["abstain"] is not True:
        return MALFORMED
    why = answer.get("why")
    return Read(None, False, ("missing",), why if isinstance(why, str) else "")


def _value(question: Question, answer: Mapping[Any, Any]) -> tuple[Value | None, tuple[Defect, ...]]:
    """What it answers. A probe says `value`, or its type's own key; one of the two."""
    key = OWN_KEY[question.type]
    if question.by == "probe" and "value" in answer and key in answer and key != "value":
        return None, ("malformed",)
    said = answer.get("value" if question.by == "probe" and "value" in answer else key)
    if question.type == "enum":
        return _name(question, said)
    if question.by == "probe" and question.type == "yesno" and isinstance(said, bool):
        return float(said), ()  # a probe saw it, or saw that it is not so
    return _number(said, question.highest)


def _name(question: Question, said: Any) -> tuple[str | None, tuple[Defect, ...]]:
    if not isinstance(said, str):
        return None, ("malformed",)
    return (said, ()) if said in question.options else (None, ("out_of_enum",))


def _number(said: Any, highest: float) -> tuple[float | None, tuple[Defect, ...]]:
    if not is_number(said):
        return None, ("malformed",)
    return (said, ()) if 0 <= said <= highest else (None, ("out_of_range",))


def _sure_probability(question: Question, value: Any, defects: tuple[Defect, ...]) -> Read:
    band = question.unsure_between
    if defects or band is None or not band[0] < value < band[1]:
        return Read(value, False, defects)
    return Read(value, True, ("low_confidence",))


def _with_confidence(question: Question, value: Any, defects: tuple[Defect, ...], said: Any) -> Read:
    confidence, wrong = _number(said, 1)
    if confidence is not None and question.min_confidence is not None and confidence < question.min_confidence:
        return Read(value, True, (*defects, "low_confidence"))
    # The same word twice says no more than once.
    return Read(value, False, tuple(dict.fromkeys((*defects, *wrong))))
