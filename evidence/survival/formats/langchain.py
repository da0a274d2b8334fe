"""LangChain and LangGraph: messages by type, dumps of them, and graph states that repeat the whole list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.conversation import list_at
from evidence.survival.formats.messages import ROLES, documents_of, steps_of, unpacked

NAME = "langchain"
TYPES = tuple(name for name in ROLES if name not in ("user", "assistant", "model", "developer"))


def detect(document: Any) -> bool:
    """Messages that name a type instead of a role, dumps, or states with a list of those."""
    messages = _messages(document)
    return bool(messages) and any(_is_message(message) for message in messages)


def read(document: Any, collected: Collected) -> None:
    """Each message is one record. One that a state repeats is skipped by its id."""
    seen: set[str] = set()
    for number, message in enumerate(_messages(document)):
        collected.take(f"message {number}", _steps(message, seen))


def _steps(message: Any, seen: set[str]) -> Iterator[Found]:
    inner = unpacked(message) if isinstance(message, Mapping) else message
    if isinstance(inner, Mapping):
        if "page_content" in inner:
            yield from documents_of(inner)
            return
        own = inner.get("id")
        if isinstance(own, str) and own:
            if own in seen:
                raise Skip("a later state repeats it")
            seen.add(own)
    yield from steps_of(message)


def _messages(document: Any) -> list[Any]:
    found = list_at(document, "messages") or _values(document)
    states = [state for state in found if isinstance(state, Mapping)]
    inner = [_state_messages(state) for state in states]
    return [message for messages in inner for message in messages] if any(inner) else found


def _state_messages(state: Mapping[str, Any]) -> list[Any]:
    """A state's own list, or that of the node which a streamed update names."""
    if isinstance(state.get("messages"), list):
        return list(state["messages"])
    nodes = [value for value in state.values() if isinstance(value, Mapping)]
    return [message for node in nodes if isinstance(node.get("messages"), list) for message in node["messages"]]


def _values(document: Any) -> list[Any]:
    values = document.get("values") if isinstance(document, Mapping) else None
    return [values] if isinstance(values, Mapping) else []


def _is_message(message: Any) -> bool:
    if not isinstance(message, Mapping):
        return False
    if "lc" in message:
        return True
    return message.get("type") in TYPES and "role" not in message and ("content" in message or "data" in message)
