"""Two runs side by side: which evidence both read, which only one, and what of it each of them met again.

Calls are the same when tool and arguments are; of several with the same arguments, those with the same text come
together first, and the rest in their order.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.survival.fields import EVIDENCE, sha256_of
from evidence.survival.json_leaves import leaves_of

MOST_CHANGES = 50  # values of one result
SAME, CHANGED, GAINED, LOST = "same", "changed", "only in the second", "only in the first"
Steps = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Result:
    """What a run read: the step, the call that it answers, and whether anything of it was met later."""

    step: int
    tool: str
    arguments: str
    text: str
    is_met: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.tool, self.arguments


@dataclass(frozen=True)
class Pair:
    """A result of either run, or of both, and what differs."""

    kind: str
    one: Result | None
    other: Result | None
    changes: Sequence[tuple[str, str, str]] = field(default=())  # where, before, after

    @property
    def is_newly_unmet(self) -> bool:
        """Whether only the first run says anything of it later."""
        return self.one is not None and self.other is not None and self.one.is_met and not self.other.is_met

    @property
    def is_newly_met(self) -> bool:
        """Whether only the second run does."""
        return self.one is not None and self.other is not None and self.other.is_met and not self.one.is_met


def results_of(steps: Steps, finer: Mapping[str, Any]) -> list[Result]:
    """The results of a run with the arguments of their calls."""
    met = {record["step"]: bool(record["surviving"] or record["in_actions"]) for record in finer["evidence"]}
    waiting: dict[str, list[str]] = defaultdict(list)
    found = []
    for at, step in enumerate(steps):
        tool = str(step.get("tool") or step.get("source") or "")
        if step["type"] == "tool_call":
            waiting[tool].append(_canonical(step.get("content", "")))
        elif step["type"] in EVIDENCE:
            # Results come in the order of their calls wherever a tool is called several times at once.
            arguments = waiting[tool].pop(0) if waiting[tool] else ""
            found.append(Result(at, tool, arguments, step["content"], met.get(at, False)))
    return found


def compared(ones: Sequence[Result], others: Sequence[Result]) -> list[Pair]:
    """Every result of either run once: in the order of the first, then what only the second has."""
    left: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for other in others:
        left[other.key].append(other)
    partner = dict(_partners(ones, left))
    pairs = [_pair(one, partner.get(one.step)) for one in ones]
    taken = {other.step for other in partner.values()}
    return [*pairs, *(Pair(GAINED, None, other) for other in others if other.step not in taken)]


def _partners(ones: Sequence[Result], left: dict[tuple[str, str], list[Result]]) -> Iterator[tuple[int, Result]]:
    taken: set[int] = set()
    for one in ones:
        same = next((other for other in left[one.key] if other.text == one.text), None)
        if same is not None:
            left[one.key].remove(same)
            taken.add(one.step)
            yield one.step, same
    for one in ones:
        if one.step not in taken and left[one.key]:
            yield one.step, left[one.key].pop(0)


def _pair(one: Result, other: Result | None) -> Pair:
    if other is None:
        return Pair(LOST, one, None)
    if sha256_of(one.text) == sha256_of(other.text):
        return Pair(SAME, one, other)
    return Pair(CHANGED, one, other, list(_changes(one.text, other.text))[:MOST_CHANGES])


def _changes(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    ones, others = _values(before), _values(after)
    if ones is None or others is None:
        yield "the text", f"{len(before):,} characters", f"{len(after):,} characters"
        return
    for path in dict.fromkeys([*ones, *others]):
        if ones.get(path) != others.get(path):
            yield path, ones.get(path, "nothing"), others.get(path, "nothing")


def _values(text: str) -> dict[str, str] | None:
    leaves = leaves_of(text)
    return None if leaves is None else {leaf.pointer: text[leaf.start : leaf.end] for leaf in leaves}


def _canonical(arguments: object) -> str:
    """Arguments that mean the same, written the same."""
    if not isinstance(arguments, str):
        return ""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()
