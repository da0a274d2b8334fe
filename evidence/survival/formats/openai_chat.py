"""OpenAI Chat Completions: a list of messages, a request, a response, a stream, or a log with any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import read_records, records_of

NAME = "openai-chat"


def detect(document: Any) -> bool:
    """Any message that has a role."""
    return any(isinstance(record.message, Mapping) and "role" in record.message for record in records_of(document))


def read(document: Any, collected: Collected) -> None:
    """Messages in their order, then what the choices of a response say."""
    read_records(records_of(document), collected)
