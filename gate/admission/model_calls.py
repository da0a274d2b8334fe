"""Recorded calls as files hold them: what was about to be done, what was answered, and by which model.

A line is `{"call", "action", "answers", "model"}`, or an entry of the log as `export_log` writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gate.admission import reading
from gate.admission.files import NoPolicy
from gate.admission.reading import Unreadable

KEYS = frozenset({"call", "action", "answers", "model"})
DECIDED = frozenset({"admission.decided", "write.admitted", "write.blocked"})


@dataclass(frozen=True)
class ModelCall:
    """One action, and the answers about it as they stand in the record."""

    call: str
    action: Mapping[str, Any]
    answers: Mapping[str, Any]
    model: str  # empty where the record does not say

    def as_json(self) -> dict[str, Any]:
        """As a line holds it."""
        return {"call": self.call, "action": self.action, "answers": self.answers, "model": self.model}


def read(lines: Iterable[bytes], policy: str) -> list[ModelCall]:
    """The calls of a file, in order; of an export those that this policy decided. Raises NoPolicy with a sentence."""
    found = [call for number, line in enumerate(lines, 1) for call in _of_line(line, number, policy)]
    if twice := sorted(call for call, times in Counter(one.call for one in found).items() if times > 1):
        raise NoPolicy(f"{twice[0]} is there twice; each call is one line.")
    return found


def _of_line(line: bytes, number: int, policy: str) -> Iterator[ModelCall]:
    if not line.strip():
        return
    try:
        raw = reading.read(line)
        if isinstance(raw, dict) and "type" in raw:
            yield from _of_export(raw, policy)
        else:
            yield _of_call(raw)
    except (Unreadable, KeyError, TypeError) as error:
        raise NoPolicy(f"Line {number} is no recorded call: {{call, action, answers, model}}.") from error


def _of_call(raw: Any) -> ModelCall:
    if set(raw) != KEYS or not isinstance(raw["action"], dict) or not isinstance(raw["answers"], dict):
        raise TypeError("It has other keys.")
    return ModelCall(_text(raw["call"]), raw["action"], raw["answers"], _text(raw["model"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("It is no text.")
    return value


def _of_export(raw: Mapping[str, Any], policy: str) -> Iterator[ModelCall]:
    """The call of an entry that holds a decision of this policy; nothing of any other line."""
    if raw["type"] != "entry" or raw["header"]["kind"] not in DECIDED or raw["header"]["tool"] != policy:
        return
    if raw["args"] is None:
        return  # redacted: there is nothing to compare
    args = reading.read(raw["args"])
    asked = args.get("asked") or {}
    model = asked.get("model") or args["model"].get("id", "")
    yield ModelCall(f"A-{raw['seq']}", args["action"], args["answers"], model)
