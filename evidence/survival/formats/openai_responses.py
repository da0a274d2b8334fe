"""OpenAI Responses: items of the input and of the output, alone, in responses, or in the log of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import read_records, records_of
from evidence.survival.formats.responses_items import ITEMS, item_steps

NAME = "openai-responses"
PARTS = ("input_text", "output_text")


def detect(document: Any) -> bool:
    """A response object, or items that only this format has."""
    if isinstance(document, Mapping) and (document.get("object") == "response" or "output" in document):
        return isinstance(document.get("output"), list)
    return any(_is_item(record.message) for record in records_of(document))


def read(document: Any, collected: Collected) -> None:
    """Instructions are one record when there are any, and so is each item."""
    read_records(records_of(document), collected, item_steps)


def _is_item(message: Any) -> bool:
    if not isinstance(message, Mapping):
        return False
    if message.get("type") in ITEMS and "role" not in message:
        # A thought of the plain list is called the same.
        return message["type"] != "reasoning" or "summary" in message
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, Mapping) and part.get("type") in PARTS for part in parts)
