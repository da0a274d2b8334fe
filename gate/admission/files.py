"""Policies in files: a program with the cases it must decide as they say. Those that are shipped stand beside this."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate.admission import reading
from gate.admission.reading import Unreadable
from gate.admission.reducer import Decision, decide

SHIPPED = Path(__file__).parent / "shipped"
SUFFIX = ".json"


class NoPolicy(Exception):
    """There is no such policy, or its file holds none. The sentence says which."""


@dataclass(frozen=True)
class Case:
    """Answers, and what a policy must decide over them."""

    title: str
    answers: Any
    verdict: str
    rule: str | None

    def differs(self, program: Any) -> Decision | None:
        """What the program decides, when it is something else."""
        decision = decide(program, self.answers)
        return None if (decision.verdict, decision.rule) == (self.verdict, self.rule) else decision


@dataclass(frozen=True)
class PolicyFile:
    """A policy as it stands in a file."""

    name: str
    title: str
    program: Any
    cases: tuple[Case, ...]
    covers: Any = field(default_factory=dict)  # by question, the families of consequence that its answer shows


def shipped() -> list[PolicyFile]:
    """Every policy that comes with the product, by name."""
    return [read(path) for path in sorted(SHIPPED.glob(f"*{SUFFIX}"))]


def find(named: str) -> PolicyFile:
    """A shipped policy by its name, or the one in a file. Raises NoPolicy."""
    for one in SHIPPED.glob(f"*{SUFFIX}"):
        if one.stem == named:
            return read(one)
    return read(Path(named))


def read(path: Path) -> PolicyFile:
    """A policy with its cases, or a program alone. Raises NoPolicy."""
    try:
        raw = reading.read(path.read_bytes())
    except OSError as error:
        raise NoPolicy(f"There is no shipped policy {path}, and no file: {error.strerror}.") from error
    except Unreadable as error:
        raise NoPolicy(f"{path}: {error}") from error
    if not isinstance(raw, dict) or "program" not in raw:
        return PolicyFile(path.stem, path.stem, raw, ())
    return of_body(path.stem, raw)


def of_body(name: str, raw: dict[str, Any]) -> PolicyFile:
    """A policy as a file or a definition holds it. Raises NoPolicy."""
    return PolicyFile(name, str(raw.get("title", name)), raw["program"], _cases(raw, name), raw.get("covers", {}))


def _cases(raw: dict[str, Any], name: str) -> tuple[Case, ...]:
    try:
        return tuple(_case(one) for one in raw.get("cases", []))
    except (TypeError, KeyError) as error:
        raise NoPolicy(f"{name}: a case is {{title, answers, expect: {{verdict, rule}}}}.") from error


def _case(raw: dict[str, Any]) -> Case:
    found = Case(raw["title"], raw["answers"], raw["expect"]["verdict"], raw["expect"]["rule"])
    if not isinstance(found.title, str) or not isinstance(found.verdict, str) or not isinstance(found.rule, str | None):
        raise TypeError("A part of it is no text.")
    return found
