"""Anthropic Messages: a request with its `system`, a list of messages of blocks, or one response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import any_has, list_at, read_messages

NAME = "anthropic-messages"
BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result")


def detect(document: Any) -> bool:
    """A request with a system text beside the messages, or messages with blocks that only this format has."""
    messages = list_at(document, "messages")
    if isinstance(document, Mapping):
        if document.get("type") == "message" and isinstance(document.get("content"), list):
            return True
        if messages and "system" in document:
            return True
    return any(_has_blocks(message) for message in messages or ())


def read(document: Any, collected: Collected) -> None:
    """The system text is one record when there is any, and so is each message."""
    if isinstance(document, Mapping) and document.get("system"):
        read_messages([{"role": "system", "content": document["system"]}], collected, "system")
    single = [document] if isinstance(document, Mapping) and document.get("type") == "message" else []
    read_messages(list_at(document, "messages") or single, collected)


def _has_blocks(message: Any) -> bool:
    content = message.get("content") if isinstance(message, Mapping) and "role" in message else None
    return isinstance(content, list) and any_has(content, "type", *BLOCKS)
