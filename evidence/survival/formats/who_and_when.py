"""Logs of Magentic-One, as the Who&When set keeps them: the role is an agent's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.contents import text_of
from evidence.survival.formats.conversation import list_at

NAME = "who-and-when"
THOUGHT = re.compile(r"\(thought\)$")
CALL = re.compile(r"\(-> (.+)\)$")


def detect(document: Any) -> bool:
    """A history in which someone is called an orchestrator."""
    history = list_at(document.get("history") or []) if isinstance(document, Mapping) else None
    return any(
        isinstance(one, Mapping) and str(one.get("role", "")).startswith("Orchestrator") for one in history or ()
    )


def read(document: Any, collected: Collected) -> None:
    """Each message is one record. No answer is marked, so none is made up."""
    for number, message in enumerate(document["history"]):
        collected.take(f"message {number}", _steps(message))


def _steps(message: Any) -> Iterator[Found]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if not isinstance(role, str):
        raise Skip("it names no role")
    content = text_of(message.get("content"))
    called = CALL.search(role)
    if role in ("human", "user"):
        yield Found("user", content)
    elif called:
        yield Found("tool_call", content, tool=called[1])
    elif THOUGHT.search(role):
        yield Found("reasoning", content)
    elif "termination condition" in role:
        raise Skip("it is a line of the program's own")
    else:
        yield Found("tool_result", content, tool=role)
