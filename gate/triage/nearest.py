"""What would have flipped a verdict: the single changes of its evidence, one row per field. Pure.

They come from evidence mutation, so a row says nothing that was not tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gate.triage.altered import SHIFTS
from gate.triage.mutation import CALL, Told

# Changes that a word says better than the value that was put there.
WORDS = {
    "emptied": "empty",
    "thinned": "only its first",
    "off the list": "another text",
    "one character other": "another text",
}
THEMSELVES = ("absent", "null", "of another type", *(words for words, _ in SHIFTS))
MOST_VALUES = 6  # in one row; the rest is counted


@dataclass
class Row:
    """One field, the values that flip the verdict, and those that leave it as it is."""

    audit_id: str
    tool: str
    part: str
    pointer: str
    was: str
    flips: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    checks: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The row as it is kept."""
        return {
            "audit_id": self.audit_id, "tool": self.tool, "part": self.part, "pointer": self.pointer, "was": self.was,
            "flips": _few(self.flips), "stays": _few(self.stays), "checks": sorted(set(self.checks)),
        }  # fmt: skip


def rows(told: Iterable[Told], *, is_pass: bool) -> list[Row]:
    """One row per field that a change of was tried, those that decide first.

    Of a fail only what would have made it a pass: that other changes leave it a fail says nothing.
    """
    found: dict[tuple[str, str, str], Row] = {}
    for one in told:
        mutant = one.mutant
        at = (mutant.audit_id, mutant.part, mutant.pointer)
        row = found.setdefault(at, Row(mutant.audit_id, mutant.tool, mutant.part, mutant.pointer, mutant.was))
        (row.flips if one.is_noticed else row.stays).append(_word(one))
        row.checks += one.failing if one.is_noticed else ()
    kept = [row for row in found.values() if is_pass or row.flips]
    return sorted(kept, key=lambda row: (row.part == CALL, min(row.checks, default=0), row.audit_id, row.pointer))


def _word(one: Told) -> str:
    mutant = one.mutant
    if mutant.part == CALL:
        return mutant.change + (f" ({mutant.value})" if mutant.value else "")
    return mutant.change if mutant.change in THEMSELVES else WORDS.get(mutant.change, mutant.value)


def _few(values: list[str]) -> list[str]:
    unique = list(dict.fromkeys(values))
    rest = len(unique) - MOST_VALUES
    return unique if rest <= 1 else [*unique[:MOST_VALUES], f"and {rest} more"]
