"""SWE-agent's trajectory: its history; the list `trajectory` says the same once more and serves when there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.formats.messages import steps_of, text_of

NAME = "swe-agent"


def detect(document: Any) -> bool:
    """A history whose messages say what they are, or whose roles are a model's; or turns of action and observation."""
    if not isinstance(document, Mapping):
        return False
    history = list_at(document.get("history") or [])
    turns = any_has(list_at(document.get("trajectory") or []), "observation")
    return turns or any_has(history, "message_type") or (any_has(history, "agent") and any_has(history, "role", "user"))


def read(document: Any, collected: Collected) -> None:
    """Each message of the history is one record, or each turn."""
    history = list_at(document.get("history") or [])
    if not history:
        for number, turn in enumerate(document["trajectory"]):
            collected.take(f"turn {number}", _turn(turn))
        return
    seen_action = False
    for number, message in enumerate(history):
        collected.take(f"message {number}", _steps(message, seen_action))
        seen_action |= isinstance(message, Mapping) and message.get("role") == "assistant"


def _steps(message: Any, seen_action: bool) -> Iterator[Found]:
    if not isinstance(message, Mapping):
        raise Skip("it is no message")
    if message.get("is_demo"):
        raise Skip("it is a demonstration")
    if message.get("tool_calls") or message.get("role") not in ("assistant", "user"):
        yield from steps_of(message)
    elif message["role"] == "assistant" and isinstance(message.get("action"), str):
        # An old run: the command stands in a fence of the text.
        yield Found("reasoning", text_of(message.get("thought") or message.get("content")))
        yield _command(message["action"])
    elif message["role"] == "user" and seen_action:
        yield Found("tool_result", text_of(message.get("content")))
    else:
        yield from steps_of(message)


def _turn(turn: Any) -> Iterator[Found]:
    if not isinstance(turn, Mapping):
        raise Skip("it is no turn")
    yield Found("reasoning", text_of(turn.get("thought")))
    if turn.get("action"):
        yield _command(text_of(turn["action"]))
    if turn.get("observation"):
        yield Found("tool_result", text_of(turn["observation"]))


def _command(action: str) -> Found:
    return Found("tool_call", action, tool=action.split(maxsplit=1)[0] if action.strip() else None)
