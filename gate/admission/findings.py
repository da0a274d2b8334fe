"""What lint says of a program: a code, where it stands, and how bad it is."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warn"]


class Finding(NamedTuple):
    """One defect of a program. `at` is q:<id>, r:<id>, otherwise, verdict:<v>, or program."""

    code: str
    at: str
    severity: Severity = "error"


def has_errors(findings: list[Finding]) -> bool:
    """Whether a program with these findings decides nothing."""
    return any(one.severity == "error" for one in findings)
