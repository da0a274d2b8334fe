"""What may come about through each tool and target in force, and which questions would show it before it does.

The idea: https://agentic-patterns.com/patterns/consequence-family-coverage-audit. A cell is empty where nobody asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from audit.models import Definition
from gate.admission import hooks, policies
from gate.admission.coverage import BY_READING, FAMILIES, SHORT
from gate.writes import target_admission

Status = Definition.Status


@dataclass(frozen=True)
class Cell:
    """Who asks about one family of consequences; or why nothing of it can come about."""

    questions: Sequence[str]
    cannot: bool  # through what only reads, nothing is changed

    @property
    def is_empty(self) -> bool:
        """Whether nobody would see it coming."""
        return not self.questions and not self.cannot


@dataclass(frozen=True)
class Line:
    """One tool, target or other way to act, with its cells in the order of the families."""

    group: str
    name: str
    detail: str
    policy: str  # empty where no policy is asked
    is_in_force: bool
    is_observing: bool
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Coverage:
    """Every line, and how many cells are empty."""

    lines: Sequence[Line]

    @property
    def families(self) -> list[tuple[str, str]]:
        """Each family in a word or two, and what it means."""
        return [(SHORT[family], means) for family, means in FAMILIES.items()]

    @property
    def cells(self) -> int:
        return sum(len(line.cells) for line in self.lines)

    @property
    def empty(self) -> int:
        return sum(cell.is_empty for line in self.lines for cell in line.cells)


Known = Mapping[str, Definition]


def coverage() -> Coverage:
    """Over the targets, tools and policies that are in force now."""
    known = _policies()
    lines = [*_targets(known), *_hooked(known), *_tools()]
    named = {line.policy for line in lines}
    return Coverage([*lines, *_others((name for name in known if name not in named), known)])


def _policies() -> Known:
    """By name, the version in force, else the newest that observes."""
    found = Definition.objects.filter(kind=policies.KIND.name, status__in=(Status.ACTIVE, Status.SHADOW))
    # The one in force comes last, and stays.
    return {one.name: one for one in sorted(found, key=lambda one: (one.status == Status.ACTIVE, one.version))}


def _line(group: str, name: str, detail: str, policy: str, known: Known) -> Line:
    version = known.get(policy)
    covers: Mapping[str, Sequence[str]] = version.body.get("covers", {}) if version else {}
    cells = [Cell(sorted(q for q, shown in covers.items() if family in shown), False) for family in FAMILIES]
    status = version.status if version else ""
    return Line(group, name, detail, policy, status == Status.ACTIVE, status == Status.SHADOW, cells)


def _targets(known: Known) -> Iterator[Line]:
    for one in Definition.objects.filter(kind="target", status=Status.ACTIVE).order_by("name"):
        kind = "HTTP action" if one.body["kind"] == "http" else "PostgreSQL"
        detail = f"{kind}, {one.body['environment']}"
        yield _line("Write target", one.name, detail, target_admission.of(one.body).policy, known)


def _hooked(known: Known) -> Iterator[Line]:
    by_policy: dict[str, list[str]] = defaultdict(list)
    for tool, policy in hooks.POLICIES.items():
        by_policy[policy].append(tool)
    for policy, tools in by_policy.items():
        yield _line("Tool of Claude Code", ", ".join(tools), "through the hook", policy, known)


def _tools() -> Iterator[Line]:
    """Evidence tools by their source: what their credential cannot change needs no question."""
    by_source: dict[str, list[str]] = defaultdict(list)
    for one in Definition.objects.filter(kind="tool", status=Status.ACTIVE).order_by("name"):
        by_source[one.body["source"]].append(one.name)
    for source, tools in sorted(by_source.items()):
        cells = [Cell((), family not in BY_READING) for family in FAMILIES]
        yield Line("Evidence tool", ", ".join(tools), f"reads {source}", "", False, False, cells)


def _others(names: Iterable[str], known: Known) -> Iterator[Line]:
    for name in names:
        yield _line("Other gate", "whatever asks over REST", "", name, known)
