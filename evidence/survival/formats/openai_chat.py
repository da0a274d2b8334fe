"""OpenAI Chat Completions: a list of messages, a request, a response, or a benchmark's record with a list in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import any_has, list_at, read_messages

NAME = "openai-chat"
PLACES = ("messages", "traj", "conversation")


def detect(document: Any) -> bool:
    """Any list of what has a role, or a response with choices."""
    return any_has(list_at(document, *PLACES), "role") or any_has(list_at(document, "choices"), "message")


def read(document: Any, collected: Collected) -> None:
    """Messages in their order, then what the choices of a response say."""
    read_messages(list_at(document, *PLACES) or [], collected)
    choices = document.get("choices") if isinstance(document, Mapping) else None
    said = [choice.get("message") if isinstance(choice, Mapping) else choice for choice in choices or []]
    read_messages(said, collected, "choice")
