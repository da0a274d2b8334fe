"""What a policy is checked for before anybody relies on it: its lint, its cases, and every cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gate.admission import canonical, exhaustive
from gate.admission.exhaustive import Changed, Checked
from gate.admission.files import NoPolicy, PolicyFile
from gate.admission.findings import Finding, has_errors
from gate.admission.lint import lint
from gate.admission.program import Program
from gate.admission.usable import usable


@dataclass(frozen=True)
class Result:
    """What was found of one policy. It holds when it has a name, no error, and every case is decided as it says."""

    name: str
    digest: str | None  # None when it has no canonical form
    findings: tuple[Finding, ...]
    cases: int
    differing: tuple[str, ...]  # the titles of the cases that are decided otherwise
    cells: Checked | None  # None when it is not usable

    @property
    def holds(self) -> bool:
        """Whether it may be relied on."""
        return self.digest is not None and not has_errors(list(self.findings)) and not self.differing

    def as_json(self) -> dict[str, Any]:
        """As it is printed."""
        return {
            "policy": self.name, "digest": self.digest, "findings": [list(one) for one in self.findings],
            "cases": self.cases, "differing": list(self.differing),
            "exhaustive": self.cells.as_json() if self.cells else None,
        }  # fmt: skip


def check(policy: PolicyFile) -> Result:
    """Lint it, decide its cases, and decide every cell. Raises TooManyCells."""
    program = usable(policy.program)
    return Result(
        name=policy.name,
        digest=_digest(policy.program),
        findings=tuple(lint(policy.program)),
        cases=len(policy.cases),
        differing=tuple(one.title for one in policy.cases if one.differs(policy.program)),
        cells=exhaustive.check(program) if program else None,
    )


def _digest(program: Any) -> str | None:
    try:
        return canonical.digest(program)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Comparison:
    """Two policies by name, and what the second decides differently."""

    old: str
    new: str
    cells: int
    changed: tuple[Changed, ...]

    @property
    def newly_allowed(self) -> list[Changed]:
        """The cells that only the second lets pass."""
        return [one for one in self.changed if one.becomes.verdict == "allow"]

    def as_lines(self) -> Iterator[dict[str, Any]]:
        """As it is printed: the sum, and a line per cell, those newly allowed first."""
        newly = self.newly_allowed
        yield {
            "old": self.old, "new": self.new, "cells": self.cells, "changed": len(self.changed),
            "newly_allowed": len(newly), "newly_blocked": sum(one.becomes.verdict == "block" for one in self.changed),
        }  # fmt: skip
        others = [one for one in self.changed if one.becomes.verdict != "allow"]
        yield from (one.as_json() for one in (*newly, *others))


def compare(old: PolicyFile, new: PolicyFile) -> Comparison:
    """Decide every cell of both. Raises NoPolicy when one of them is not usable, and TooManyCells."""
    found = exhaustive.compare(usable_of(old), usable_of(new))
    return Comparison(_name(old), _name(new), found.cells, found.changed)


def _name(policy: PolicyFile) -> str:
    digest = _digest(policy.program)
    if digest is None:
        raise NoPolicy(f"{policy.name} holds a number or a text that has no canonical form, so it has no name.")
    return digest


def usable_of(policy: PolicyFile) -> Program:
    """The program of a policy. Raises NoPolicy when it is not usable."""
    program = usable(policy.program)
    if program is None:
        errors = ", ".join(f"{one.code} at {one.at}" for one in lint(policy.program) if one.severity == "error")
        raise NoPolicy(f"{policy.name} decides nothing, for lint finds errors: {errors or 'it is no program'}.")
    return program
