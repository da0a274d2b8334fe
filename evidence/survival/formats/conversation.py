"""Formats that are a list of messages, or hold one at a place of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.messages import steps_of


def read_messages(messages: Any, collected: Collected, place: str = "message") -> None:
    """Each message is one record."""
    for number, message in enumerate(messages):
        collected.take(f"{place} {number}", steps_of(message))


def list_at(document: Any, *keys: str) -> list[Any] | None:
    """The document itself when it is a list, or the first list under one of the keys."""
    if isinstance(document, list):
        return document
    if isinstance(document, Mapping):
        return next((document[key] for key in keys if isinstance(document.get(key), list)), None)
    return None


def any_has(records: list[Any] | None, key: str, *values: str) -> bool:
    """Whether any record has one of the values (or, without values, anything) under the key."""
    found = (record[key] for record in records or () if isinstance(record, Mapping) and key in record)
    return any(not values or (isinstance(value, str) and value in values) for value in found)
