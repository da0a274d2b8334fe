"""The commands of a policy, a line in and a line out. Whatever a line holds, it is answered."""

from __future__ import annotations

from typing import Any

from gate.admission import reading
from gate.admission.findings import Finding
from gate.admission.lint import lint
from gate.admission.reading import Unreadable
from gate.admission.reducer import UNUSABLE, decide


def decided(line: bytes) -> dict[str, Any]:
    """The decision over `{"program", "answers", "judged_action"?, "executed_action"?}`; what is no such line asks."""
    try:
        given = reading.read(line)
    except Unreadable:
        return UNUSABLE.as_json()
    if not isinstance(given, dict):
        return UNUSABLE.as_json()
    decision = decide(
        given.get("program"), given.get("answers"), judged_action=given.get("judged_action"),
        executed_action=given.get("executed_action"),
    )  # fmt: skip
    return decision.as_json()


def linted(line: bytes) -> dict[str, Any]:
    """The findings about the program that a line holds."""
    try:
        found = lint(reading.read(line))
    except Unreadable:
        found = [Finding("unreadable", "program")]
    return {"findings": [list(one) for one in found]}
