"""What an import found: steps in the plain form, where each stood, and every record that gave none, with a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# A call of one of these hands in the answer.
FINISHERS = frozenset({"final_answer", "final_result", "finish", "submit"})
RETRIEVERS = re.compile(r"retriev|search_docs|knowledge|vector|file_search", re.IGNORECASE)
# The measure numbers evidence like this itself, so such a call id cannot name any.
NUMBERED = re.compile(r"evidence-\d+")
EMPTY = "it holds no text"
UNREADABLE = "it is not built as its format says"
# What reading a record raises where it holds a value of another type than its format says.
MALFORMED = (AttributeError, KeyError, TypeError, ValueError)


class TraceError(Exception):
    """The file cannot be read as a trace. `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


class Skip(Exception):
    """The record gives no step. `reason` completes "skipped because …"."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Found(NamedTuple):
    """A step as a format states it, before ids and names are settled."""

    type: str
    content: str
    tool: str | None = None
    source: str | None = None
    call_id: str | None = None


@dataclass
class Collected:
    """Steps for `analyze`, the place of each in the file, and the count: kept + skipped = records."""

    format: str
    steps: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    kept: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    _tools: dict[str, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    @property
    def records(self) -> int:
        """How many records the file has."""
        return self.kept + self.skipped.total()

    def take(self, place: str, found: Iterable[Found]) -> None:
        """Keep the steps of one record. It is skipped when it gives none or raises Skip."""
        try:
            steps = list(found)
        except Skip as skip:
            self.skipped[skip.reason] += 1
            return
        except MALFORMED:
            self.skipped[UNREADABLE] += 1
            return
        self.count(self.add(place, steps))

    def count(self, added: int, reason: str = EMPTY) -> None:
        """Count one record as kept when it added steps, as skipped for this reason otherwise."""
        if added:
            self.kept += 1
        else:
            self.skipped[reason] += 1

    def add(self, place: str, found: Iterable[Found]) -> int:
        """Add steps of the record at `place`, and say how many they were."""
        before = len(self.steps)
        for step in found:
            self._add(place, Found(step.type, step.content, *map(_named, step[2:])))
        return len(self.steps) - before

    def _add(self, place: str, found: Found) -> None:
        if found.type in ("tool_result", "retrieval"):
            self.keep(place, self._evidence(found))
            return
        if found.type == "tool_call":
            if found.tool and found.call_id:
                self._tools[found.call_id] = found.tool
        elif not found.content.strip():
            return
        self.keep(place, {"type": found.type, "content": found.content, "tool": found.tool})
        if found.type == "tool_call" and found.tool in FINISHERS and found.content.strip(" {}"):
            # The answer of an agent that must answer by a call.
            self.keep(place, {"type": "assistant", "content": found.content})

    def _evidence(self, found: Found) -> dict[str, Any]:
        tool = found.tool or self._tools.get(found.call_id or "")
        kind = "retrieval" if tool and RETRIEVERS.search(tool) else found.type
        evidence_id = found.call_id
        # Call ids are not unique in the wild: replays repeat them, and some clients call them like the tool.
        if not evidence_id or evidence_id in self._used or NUMBERED.fullmatch(evidence_id):
            evidence_id = None
        else:
            self._used.add(evidence_id)
        named = {"tool": tool, "source": found.source, "evidence_id": evidence_id}
        return {"type": kind, "content": found.content, **named}

    def keep(self, place: str, step: dict[str, Any]) -> None:
        """Keep a step as it stands, but for keys with nothing under them."""
        self.steps.append({key: value for key, value in step.items() if value or key == "content"})
        self.places.append(place)


def _named(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
