"""How the evidence was gathered: how often each question was asked, what came of it, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.models import Entry
from audit.reading import Content
from gate.triage.altered import MOMENT
from gate.triage.sheet import LATER_ANSWERS


@dataclass(frozen=True)
class Try:
    """One question to a tool: every call of it, and which of them are cited."""

    tool: str
    calls: Sequence[Entry]
    cited: frozenset[int]
    read: frozenset[str]  # uncited answers that a check read

    @property
    def number(self) -> int:
        return len(self.calls)

    @property
    def uncited(self) -> Sequence[Entry]:
        return [call for call in self.calls if call.seq not in self.cited]

    @property
    def is_cited(self) -> bool:
        return any(call.seq in self.cited for call in self.calls)

    @property
    def is_earlier(self) -> bool:
        """Whether nobody cited what came before, and only that: a check looks for what a later answer says."""
        cited = [call.seq for call in self.calls if call.seq in self.cited]
        return bool(cited) and all(call.seq < min(cited) for call in self.uncited)

    @property
    def is_read(self) -> bool:
        """Whether a check read what nobody cited of it."""
        return any(call.ref in self.read for call in self.uncited)


def tries(
    calls: Sequence[Entry], contents: Mapping[Any, Content], cited: frozenset[int], read: frozenset[str]
) -> Sequence[Try]:
    """The calls by question, those asked most often first. Times in the arguments make no other question."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for call in calls:
        content = contents.get(call.pk)
        found.setdefault((call.tool, _question(content.args if content is not None else None)), []).append(call)
    asked = [Try(tool, same, cited, read) for (tool, _), same in found.items()]
    return sorted(asked, key=lambda one: (-one.number, one.tool))


def _question(args: Any) -> str:
    if not isinstance(args, dict):
        return ""
    kept = {key: value for key, value in args.items() if not (isinstance(value, str) and MOMENT.fullmatch(value))}
    return repr(sorted(kept.items(), key=lambda pair: pair[0]))


def not_called(offered: Sequence[str], calls: Sequence[Entry]) -> Sequence[str]:
    """The tools that the class offers and that were not called."""
    called = {call.tool for call in calls}
    return [tool for tool in offered if tool not in called]


def read_uncited(checks: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The answers that nobody cited and a check read all the same."""
    return frozenset(ref for check in checks if check["fact"] == LATER_ANSWERS for ref in check["audit_ids"])


def contradicting(checks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The check line of answers that nobody cited, where one of them contradicts."""
    lines = (check for check in checks if check["fact"] == LATER_ANSWERS and check["outcome"] != "holds")
    return next(lines, None)
