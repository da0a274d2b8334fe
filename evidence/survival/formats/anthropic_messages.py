"""Anthropic Messages: a request with its `system`, messages of blocks, a response, a stream, or a log of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import any_has, read_records, records_of

NAME = "anthropic-messages"
BLOCKS = (
    "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_result",
    "web_search_tool_result",
)  # fmt: skip


def detect(document: Any) -> bool:
    """A request with a system text beside the messages, or messages with blocks that only this format has."""
    if isinstance(document, Mapping) and isinstance(document.get("messages"), list) and "system" in document:
        return bool(document["messages"])
    return any(_is_own(record.message) for record in _records(document))


def read(document: Any, collected: Collected) -> None:
    """The system text is one record when there is any, and so is each message."""
    read_records(_records(document), collected)


def _records(document: Any) -> Any:
    # A response stands alone, and is a message itself.
    return records_of([document] if isinstance(document, Mapping) and document.get("type") == "message" else document)


def _is_own(message: Any) -> bool:
    content = message.get("content") if isinstance(message, Mapping) and "role" in message else None
    if not isinstance(content, list):
        return False
    return any_has(content, "type", *BLOCKS) or (message.get("type") == "message" and "stop_reason" in message)
