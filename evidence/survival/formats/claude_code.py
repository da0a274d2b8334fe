"""Claude Code's session file: one line per record, of which user and assistant lines hold Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.conversation import list_at
from evidence.survival.formats.messages import steps_of

NAME = "claude-code"
SYNTHETIC = "<synthetic>"  # the model of what no model said


def detect(document: Any) -> bool:
    """Lines of a kind, with a message inside."""
    lines = list_at(document, "loglines")
    return any(_has_message(line) for line in lines or ())


def read(document: Any, collected: Collected) -> None:
    """Each line is one record."""
    lines = list_at(document, "loglines") or []
    calling = {_message_id(line) for line in lines if _calls(line)} - {None}
    seen: set[str] = set()
    is_of_sub_agent = all(_is_of_sub_agent(line) for line in lines if _has_message(line))
    for number, line in enumerate(lines):
        collected.take(f"line {number + 1}", _steps(line, calling, seen, is_of_sub_agent))


def _has_message(line: Any) -> bool:
    return (
        isinstance(line, Mapping)
        and line.get("type") in ("user", "assistant")
        and isinstance(line.get("message"), Mapping)
    )


def _is_of_sub_agent(line: Mapping[str, Any]) -> bool:
    return bool(line.get("isSidechain") or line.get("parent_tool_use_id"))


def _steps(line: Any, calling: set[Any], seen: set[str], is_of_sub_agent: bool) -> Iterator[Found]:
    if not isinstance(line, Mapping):
        raise Skip("it is no object")
    if line.get("type") not in ("user", "assistant"):
        raise Skip("it is a line of the program's own")
    if line.get("isMeta"):
        raise Skip("it is marked as meta")
    if _is_of_sub_agent(line) and not is_of_sub_agent:
        raise Skip("it belongs to a sub-agent")  # whose own file is a trace like any other
    uuid = line.get("uuid")
    if isinstance(uuid, str):
        if uuid in seen:
            raise Skip("its uuid was there before")
        seen.add(uuid)
    message = line.get("message")
    if isinstance(message, Mapping) and message.get("model") == SYNTHETIC:
        raise Skip("it is a line of the program's own")
    if line.get("isCompactSummary"):
        # The model wrote it, whatever its role says.
        yield from (found._replace(type="reasoning") for found in steps_of(message))
        return
    # One message may be spread over lines: its text is reasoning when another line of it calls a tool.
    yield from steps_of(message, _message_id(line) in calling)


def _message_id(line: Any) -> str | None:
    message = line.get("message") if isinstance(line, Mapping) else None
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) else None


def _calls(line: Any) -> bool:
    message = line.get("message") if isinstance(line, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, Mapping) and block.get("type") == "tool_use" for block in blocks)
