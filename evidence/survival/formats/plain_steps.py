"""The plain list of steps, as the measure takes it; here with nulls and unknown steps forgiven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import EMPTY, Collected
from evidence.survival.formats.contents import text_of
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.steps import TYPES

NAME = "plain"


def detect(document: Any) -> bool:
    """Steps by type, with no role and no message in them."""
    steps = list_at(document, "steps", "trace")
    # A system message names its type like this elsewhere as well.
    return any_has(steps, "type", *TYPES - {"system"}) and not any_has(steps, "role") and not any_has(steps, "message")


def read(document: Any, collected: Collected) -> None:
    """Each step is one record."""
    ids: set[str] = set()
    for number, step in enumerate(list_at(document, "steps", "trace") or []):
        reason = _fault(step)
        if reason is None:
            collected.keep(f"step {number}", _kept(step, ids))
        collected.count(reason is None, reason or "")


def _fault(step: Any) -> str | None:
    if not isinstance(step, Mapping):
        return "it is no step"
    kind = step.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        return "its type is not known"
    return EMPTY if kind != "tool_call" and step.get("content") is None else None


def _kept(step: Mapping[str, Any], ids: set[str]) -> dict[str, Any]:
    """The step with what the measure looks at. Nothing is renamed: its report is that of the list itself."""
    kept = {"type": step["type"], "content": text_of(step.get("content"))}
    for key in ("id", "tool", "source", "evidence_id"):
        value = step.get(key)
        if not isinstance(value, str) or (key in ("id", "evidence_id") and f"{key} {value}" in ids):
            continue
        ids.add(f"{key} {value}")
        kept[key] = value
    return kept
