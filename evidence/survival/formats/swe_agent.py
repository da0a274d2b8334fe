"""SWE-agent's trajectory: its history; the list `trajectory` says the same once more and serves when there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.contents import text_of
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.formats.messages import steps_of

NAME = "swe-agent"
FENCE = re.compile(r"```(?:bash|sh|mswea_bash_command)\n(.*?)\n?```", re.DOTALL)


def detect(document: Any) -> bool:
    """A history whose messages say what they are, or whose roles are a model's; or turns of action and observation."""
    if not isinstance(document, Mapping):
        return False
    if _is_mini(document):
        return True
    history = list_at(document.get("history") or [])
    turns = any_has(list_at(document.get("trajectory") or []), "observation")
    return turns or any_has(history, "message_type") or (any_has(history, "agent") and any_has(history, "role", "user"))


def read(document: Any, collected: Collected) -> None:
    """Each message of the history is one record, or each turn."""
    history = document["messages"] if _is_mini(document) else list_at(document.get("history") or [])
    if not history:
        for number, turn in enumerate(document["trajectory"]):
            collected.take(f"turn {number}", _turn(turn))
        return
    acted: list[str | None] = []
    for number, message in enumerate(history):
        collected.take(f"message {number}", _steps(message, acted))


def _is_mini(document: Mapping[str, Any]) -> bool:
    """Whether it is of mini-swe-agent, whose history is called messages."""
    is_own = str(document.get("trajectory_format", "")).startswith("mini-swe-agent")
    return is_own and isinstance(document.get("messages"), list)


def _steps(message: Any, acted: list[str | None]) -> Iterator[Found]:
    if not isinstance(message, Mapping):
        raise Skip("it is no message")
    if message.get("is_demo"):
        raise Skip("it is a demonstration")
    if message.get("role") == "assistant":
        steps = list(_acting(message))
        acted += [step.tool for step in steps if step.type == "tool_call"]
        yield from steps
    elif message.get("role") == "user" and acted:
        yield Found("tool_result", text_of(message.get("content")), tool=acted[-1])
    else:
        yield from steps_of(message)


def _acting(message: Mapping[str, Any]) -> Iterator[Found]:
    """What the model says and does. In old runs, the command stands in a fence of the text."""
    if message.get("tool_calls"):
        yield from steps_of(message)
        return
    text = text_of(message.get("content"))
    fenced = FENCE.search(text)
    if isinstance(message.get("action"), str):
        yield Found("reasoning", text_of(message.get("thought")) or text)
        yield _command(message["action"])
    elif fenced:
        yield Found("reasoning", text[: fenced.start()].strip())
        yield _command(fenced[1].strip())
    else:
        yield from steps_of(message)


def _turn(turn: Any) -> Iterator[Found]:
    if not isinstance(turn, Mapping):
        raise Skip("it is no turn")
    yield Found("reasoning", text_of(turn.get("thought")))
    command = _command(text_of(turn.get("action")))
    if command.content:
        yield command
    if turn.get("observation"):
        yield Found("tool_result", text_of(turn["observation"]), tool=command.tool)


def _command(action: str) -> Found:
    return Found("tool_call", action, tool=action.split(maxsplit=1)[0] if action.strip() else None)
