"""Inspect's evaluation log: messages of each sample, with long texts kept as attachments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import read_messages

NAME = "inspect"
ATTACHED = "attachment://"


def detect(document: Any) -> bool:
    """A log with samples, one sample's messages beside the head of the log, or samples alone."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(one, Mapping) and _is_sample(one) for one in document)
    return isinstance(document, Mapping) and (
        ("eval" in document and ("samples" in document or "messages" in document)) or _is_sample(document)
    )


def read(document: Any, collected: Collected) -> None:
    """Each message of each sample is one record."""
    samples = document if isinstance(document, list) else document.get("samples")
    for number, sample in enumerate(samples if isinstance(samples, list) else [document]):
        if isinstance(sample, Mapping) and isinstance(sample.get("messages"), list):
            attachments = sample.get("attachments") or {}
            read_messages(_resolved(sample["messages"], attachments), collected, f"sample {number}, message")
        else:
            collected.count(0, "the sample has no messages")


def _is_sample(value: Mapping[str, Any]) -> bool:
    is_own = "attachments" in value or ("epoch" in value and "target" in value) or "scores" in value
    return is_own and isinstance(value.get("messages"), list)


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The value with every attachment that is known in place of its name."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attachments.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, list):
        return [_resolved(inner, attachments) for inner in value]
    if isinstance(value, dict):
        return {key: _resolved(inner, attachments) for key, inner in value.items()}
    return value
