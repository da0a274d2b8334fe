"""Golden values: whether a version gives, at moments that are over, what its author says that it gives. Pure.

They are compared exactly, with the status: a value that is right and was only partly known is another answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evidence.metrics import wording
from evidence.metrics.asking import Golden
from evidence.metrics.exact import exact, shown
from evidence.metrics.status import Code

NOT_READ = frozenset({Code.READ_FAILED, Code.STALE_REPLICA})  # the read's fault, and nothing that the version gives


@dataclass(frozen=True)
class Held:
    """A golden value beside what was found; `problem` is the sentence of a read that was not done."""

    golden: Golden
    found: Fraction | None
    found_status: str
    reasons: tuple[str, ...] = ()
    problem: str = ""
    audit_id: str = ""

    @property
    def matches(self) -> bool:
        """Whether exactly this was found. What could not be read matches nothing, not even a value that is unknown."""
        was_read = not self.problem and not NOT_READ & set(self.reasons)
        return was_read and (self.found, self.found_status) == (self.golden.value, self.golden.status)

    def said(self) -> dict[str, Any]:
        """As the answer keeps it and the page shows it: numbers as texts, null where there is none."""
        return {
            "fixture": self.golden.fixture,
            "decision_point": self.golden.decision_point,
            "scope": dict(self.golden.scope),
            "expected": text(self.golden.value),
            "expected_status": self.golden.status,
            "found": text(self.found),
            "found_status": self.found_status,
            "reasons": list(self.reasons),
            "problem": self.problem,
            "matches": self.matches,
            "audit_id": self.audit_id,
        }


def held(golden: Golden, result: Mapping[str, Any], audit_id: str) -> Held:
    """A golden value beside an answer of explain_metric."""
    reasons = tuple(str(reason["code"]) for reason in result["reasons"])
    return Held(golden, _value(result), str(result["mechanism_status"]), reasons, audit_id=audit_id)


def _value(result: Mapping[str, Any]) -> Fraction | None:
    """The number of an answer: the fraction where it has no end."""
    if "value_exact" in result:
        return Fraction(result["value_exact"])
    return None if result["value"] is None else exact(result["value"])


def text(value: Fraction | None) -> str | None:
    """A number as a golden value is written: 28.33, or 347/15 where it has no end."""
    if value is None:
        return None
    out = shown(value)
    return out.fraction or f"{out.value:f}"


def failing(said: Mapping[str, Any], version_golden: Sequence[Golden]) -> str:
    """Why an answer does not show that every golden value holds, as a sentence; empty when it does."""
    lines = said["golden"]
    if len(lines) != len(version_golden):
        return "Not every golden value was run; run them again."
    return next((why for why in map(_why_not, lines) if why), "")


def _why_not(line: Mapping[str, Any]) -> str:
    where = f"{line['fixture']} at {line['decision_point']}"
    if line["problem"]:
        return f"{where} could not be read: {line['problem']}"
    if line["matches"] is True:
        return ""
    for code in sorted(NOT_READ & set(line["reasons"])):
        return f"{where} could not be read: {wording.sentence(code)}"
    found, expected = _words(line["found"], line["found_status"]), _words(line["expected"], line["expected_status"])
    return f"{where} gives {found}; the golden value is {expected}."


def _words(value: str | None, status: str) -> str:
    return f"{'a value that is not known' if value is None else value} ({status})"
