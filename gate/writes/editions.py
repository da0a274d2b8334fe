"""What a write said in each of its editions, and how each differs from the one before it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from audit import marked_json
from gate.writes import display
from gate.writes.models import Edition, WriteRequest


@dataclass(frozen=True)
class Step:
    """An edition with what it changed of the one before it."""

    number: int
    editor: str
    at: datetime
    digest: str
    changed: list[str]  # the lines of a diff


def of(write: WriteRequest) -> list[Step]:
    """The editions after the first, newest first; none for a write that was never edited."""
    edits = list(write.editions.select_related("edited_by_agent", "edited_by_person", "target").order_by("number"))
    said: list[Edition | WriteRequest] = [*edits, write]
    steps = [_step(edit, older, newer) for edit, (older, newer) in zip(edits, pairwise(said), strict=True)]
    return steps[::-1]


def _step(edit: Edition, older: Edition | WriteRequest, newer: Edition | WriteRequest) -> Step:
    lines = list(difflib.unified_diff(_text(older), _text(newer), lineterm="", n=1))[2:]
    changed = [marked_json.undisguised(line) for line in lines if not line.startswith("@@")]
    editor = edit.edited_by_agent.name if edit.edited_by_agent else str(edit.edited_by_person)
    return Step(edit.number + 1, editor, edit.edited_at, newer.proposal_digest, changed)


def _text(said: Edition | WriteRequest) -> list[str]:
    lines = [line.indent + line.text for line in display.lines(said.statement)]
    target = f"{said.target.name} version {said.target.version}"
    reason = [f"reason: {line}" for line in said.reason.splitlines()]
    return [f"title: {said.title}", f"target: {target}", *lines, *_parameters(said.parameters), *reason]


def _parameters(given: Sequence[dict[str, Any]]) -> list[str]:
    shown = [(one["t"], "null" if one["v"] is None else repr(one["v"])) for one in given]
    return [f"${number} {kind} {value}" for number, (kind, value) in enumerate(shown, 1)]
