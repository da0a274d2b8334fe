"""Claude Code's session file: one line per record, of which user and assistant lines hold Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.conversation import list_at
from evidence.survival.formats.messages import steps_of

NAME = "claude-code"


def detect(document: Any) -> bool:
    """Lines of a kind, with a message inside."""
    lines = list_at(document, "loglines")
    return any(
        isinstance(line, Mapping)
        and line.get("type") in ("user", "assistant")
        and isinstance(line.get("message"), dict)
        for line in lines or ()
    )


def read(document: Any, collected: Collected) -> None:
    """Each line is one record."""
    lines = list_at(document, "loglines") or []
    calling = {_message_id(line) for line in lines if _calls(line)} - {None}
    seen: set[str] = set()
    for number, line in enumerate(lines):
        collected.take(f"line {number + 1}", _steps(line, calling, seen))


def _steps(line: Any, calling: set[Any], seen: set[str]) -> Iterator[Found]:
    if not isinstance(line, Mapping):
        raise Skip("it is no object")
    if line.get("type") not in ("user", "assistant"):
        raise Skip("it is a line of the program's own")
    if line.get("isMeta"):
        raise Skip("it is marked as meta")
    if line.get("isSidechain"):
        raise Skip("it belongs to a sub-agent")
    uuid = line.get("uuid")
    if isinstance(uuid, str):
        if uuid in seen:
            raise Skip("its uuid was there before")
        seen.add(uuid)
    # One message may be spread over lines: its text is reasoning when another line of it calls a tool.
    yield from steps_of(line.get("message"), _message_id(line) in calling)


def _message_id(line: Any) -> str | None:
    message = line.get("message") if isinstance(line, Mapping) else None
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) else None


def _calls(line: Any) -> bool:
    message = line.get("message") if isinstance(line, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, Mapping) and block.get("type") == "tool_use" for block in blocks)
