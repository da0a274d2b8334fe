"""What the list of policies shows, and what those in force ask about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit import definition_pages
from audit.definition_pages import Row
from gate.admission import coverage, files, policies
from gate.admission.program import Program
from gate.admission.usable import usable


@dataclass(frozen=True)
class ListLine:
    """A policy in the list."""

    row: Row

    @property
    def title(self) -> str:
        title: str = self.row.shown.body["title"]
        return title

    @property
    def program(self) -> Program | None:
        return usable(self.row.shown.body["program"])


def lines() -> list[ListLine]:
    """Every policy, by name."""
    return [ListLine(one) for one in definition_pages.rows(policies.KIND.name)]


def covered(found: Sequence[ListLine]) -> list[coverage.Line]:
    """What the policies in force ask about, by consequence."""
    return coverage.lines([line.row.shown.body.get("covers", {}) for line in found])


def in_force(found: Sequence[ListLine]) -> list[ListLine]:
    """Those that decide now."""
    return [line for line in found if line.row.in_force]


def not_drafted() -> list[files.PolicyFile]:
    """The shipped policies that nobody has drafted here yet."""
    known = {line.row.name for line in lines()}
    return [one for one in files.shipped() if one.name not in known]
