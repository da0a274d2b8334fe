"""Whether a rule of a program is one: its conditions ask what the questions can answer, and its verdict is one.

Total: any JSON gives findings, never an exception. In a rule nothing is a remark: whoever mistypes a key has left out
what it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.admission.findings import Finding
from gate.admission.program import NAMED_OPS, NUMBER_OPS, OPS, OTHERWISE, TYPES, VERDICTS
from gate.admission.values import is_name, is_within

RULE_KEYS = frozenset({"id", "when", "then", "title", "note"})
CONDITION_KEYS = frozenset({"q", "op", "value"})


def check(raw: Any, at: str, known: dict[str, dict[Any, Any]]) -> Iterator[Finding]:
    """Every defect of one rule, over the questions that are known by their ids."""
    if not isinstance(raw, dict) or not is_name(raw.get("id")):
        yield Finding("malformed", at)
        return
    if raw["id"] == OTHERWISE:
        yield Finding("reserved_id", at)  # a decision could not say which of the two fired
    yield from _unknown_keys(raw, RULE_KEYS, at)
    if not is_verdict(raw.get("then")):
        yield Finding("unknown_verdict", at)
    when = raw.get("when")
    if not isinstance(when, list) or not when:
        yield Finding("empty_when", at)
        return
    for one in when:
        yield from _check_condition(one, at, known)


def is_verdict(value: Any) -> bool:
    """Whether it is one of the closed set."""
    return isinstance(value, str) and value in VERDICTS


def _unknown_keys(part: dict[Any, Any], known: frozenset[str], at: str) -> Iterator[Finding]:
    if any(key not in known for key in part):
        yield Finding("unknown_key", at)


def _check_condition(raw: Any, at: str, known: dict[str, dict[Any, Any]]) -> Iterator[Finding]:
    if not isinstance(raw, dict):
        yield Finding("malformed", at)
        return
    yield from _unknown_keys(raw, CONDITION_KEYS, at)
    op, name = raw.get("op"), raw.get("q")
    question = known.get(name) if isinstance(name, str) else None
    if not isinstance(op, str) or op not in OPS:
        yield Finding("unknown_op", at)
    if question is None:
        yield Finding("unknown_question", at)
    elif isinstance(op, str) and op in OPS and question.get("type") in TYPES:
        yield from _check_value(op, raw.get("value"), question, at)


def _check_value(op: str, value: Any, question: dict[Any, Any], at: str) -> Iterator[Finding]:
    if op == "unsure":
        yield from _check_unsure(value, question, at)
    elif (question["type"] == "enum") is (op in NUMBER_OPS):
        yield Finding("op_type", at)
    elif op in NUMBER_OPS:
        yield from _check_number(value, question, at)
    elif op in NAMED_OPS:
        yield from _check_names([value] if op == "is" else value, question, at)


def _check_unsure(value: Any, question: dict[Any, Any], at: str) -> Iterator[Finding]:
    if value is not None:
        yield Finding("malformed", at)
    if "unsure_between" not in question and "min_confidence" not in question:
        yield Finding("op_type", at)  # it has no threshold to be below


def _check_number(value: Any, question: dict[Any, Any], at: str) -> Iterator[Finding]:
    levels = question.get("levels")
    if question["type"] == "level" and not (isinstance(levels, list) and levels):
        return  # that it has no levels is said already
    highest = 1 if question["type"] == "yesno" else len(levels or []) - 1
    if not is_within(value, 0, highest):
        yield Finding("threshold_range", at)


def _check_names(names: Any, question: dict[Any, Any], at: str) -> Iterator[Finding]:
    options = question.get("options")
    if not isinstance(names, list) or not names:
        yield Finding("malformed", at)
    elif isinstance(options, dict) and options and not all(isinstance(one, str) and one in options for one in names):
        yield Finding("unknown_option", at)
