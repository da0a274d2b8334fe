"""Messages that came in parts: the chunks and events of the three clients that stream, put together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

PART = "it is a part of a message that was streamed"
CHUNK = "chat.completion.chunk"
BLOCKS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "ping",
)  # fmt: skip
ITEM = "response.output_item.done"
ENDS = ("response.completed", "response.incomplete", "response.failed")
# What a delta adds to which key of its block.
ADDED = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class Whole(NamedTuple):
    """A message, or why a value gives none."""

    message: Any
    reason: str | None = None


def whole(values: Sequence[Any]) -> list[Whole]:
    """As many as there are values. A message that came in parts stands in the place of its last one."""
    has_items = any(_kind(value) == ITEM for value in values)
    found: list[Whole] = []
    for family, run in groupby(values, _family):
        parts = list(run)
        if family is None:
            found += [Whole(value) for value in parts]
        elif family == "response":
            found += [_event(value, has_items) for value in parts]
        else:
            message = _of_chunks(parts) if family[0] == CHUNK else _of_blocks(parts)
            found += [*(Whole(None, PART) for _ in parts[1:]), Whole(message)]
    return found


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _family(value: Any) -> Any:
    """What parts of one message have in common; None for what is no part."""
    if isinstance(value, Mapping) and value.get("object") == CHUNK:
        return CHUNK, str(value.get("id"))
    kind = _kind(value)
    if kind.startswith("response."):
        return "response"
    return ("blocks", "") if kind in BLOCKS else None


def _event(value: Mapping[str, Any], has_items: bool) -> Whole:
    if value["type"] == ITEM:
        return Whole(value.get("item"))
    return Whole(value) if value["type"] in ENDS and not has_items else Whole(None, PART)


def _of_chunks(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The message of the first choice."""
    texts: dict[str, str] = {}
    calls: dict[Any, dict[str, Any]] = {}
    for part in parts:
        choices = part.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        for key in ("content", "refusal", "reasoning", "reasoning_content"):
            if isinstance(delta.get(key), str):
                texts[key] = texts.get(key, "") + delta[key]
        for call in delta.get("tool_calls") or ():
            _add_call(calls.setdefault(call.get("index"), {"name": "", "arguments": ""}), call)
    return {
        "role": "assistant",
        **texts,
        "tool_calls": [{"id": one.pop("id", None), "function": one} for one in calls.values()],
    }


def _add_call(known: dict[str, Any], call: Mapping[str, Any]) -> None:
    known["id"] = known.get("id") or call.get("id")
    for key in ("name", "arguments"):
        known[key] += (call.get("function") or {}).get(key) or ""


def _of_blocks(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The last message that the events hold."""
    blocks: dict[Any, dict[str, Any]] = {}
    for part in parts:
        kind = part["type"]
        if kind == "message_start":
            blocks = {}
        elif kind == "content_block_start":
            blocks[part.get("index")] = dict(part.get("content_block") or {})
        elif kind == "content_block_delta":
            block, delta = blocks.setdefault(part.get("index"), {"type": "text"}), part.get("delta") or {}
            key = ADDED.get(str(delta.get("type")))
            if key is not None:
                block[key] = (block.get(key) or "") + (delta.get(key) or "")
    return {"role": "assistant", "content": [_block(block) for block in blocks.values()]}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    said = block.pop("partial_json", None)
    return {**block, "input": said} if said else block
