"""OpenAI Responses: items of the input and of the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.formats.messages import call_of, documents_of, steps_of, text_of

NAME = "openai-responses"
CALLS = ("function_call", "custom_tool_call", "mcp_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
ITEMS = (*CALLS, *OUTPUTS, "file_search_call", "web_search_call")


def detect(document: Any) -> bool:
    """A response object, or a list with items that only this format has."""
    if isinstance(document, Mapping) and (document.get("object") == "response" or "output" in document):
        return isinstance(document.get("output"), list)
    return any_has(list_at(document, "input"), "type", *ITEMS)


def read(document: Any, collected: Collected) -> None:
    """Instructions are one record when there are any, and so is each item."""
    if isinstance(document, Mapping):
        _instructions(document, collected)
        given = document.get("input")
        if isinstance(given, str):
            collected.take("input", [Found("user", given)])
    for key in ("input", "output"):
        items = document if isinstance(document, list) and key == "input" else list_at_key(document, key)
        for number, item in enumerate(items):
            collected.take(f"{key} {number}", item_steps(item))


def list_at_key(document: Any, key: str) -> list[Any]:
    """The list under a key, or none."""
    found = document.get(key) if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []


def item_steps(item: Any) -> Iterator[Found]:
    """The steps of one item. Raises Skip for what is none."""
    if not isinstance(item, Mapping):
        raise Skip("it is no message")
    kind = item.get("type")
    if kind in CALLS:
        yield call_of(item)
        if item.get("output"):
            yield _result(item)
    elif kind in OUTPUTS:
        yield _result(item)
    elif kind == "reasoning":
        yield from _reasoning(item)
    elif kind in ("file_search_call", "web_search_call"):
        yield from _search(item)
    else:
        yield from steps_of(item)


def _result(item: Mapping[str, Any]) -> Found:
    call_id, name = item.get("call_id") or item.get("id"), item.get("name")
    return Found("tool_result", text_of(item.get("output")), tool=name, call_id=call_id)


def _reasoning(item: Mapping[str, Any]) -> Iterator[Found]:
    for part in [*list_at_key(item, "summary"), *list_at_key(item, "content")]:
        if isinstance(part, Mapping) and isinstance(part.get("text"), str):
            yield Found("reasoning", part["text"])


def _search(item: Mapping[str, Any]) -> Iterator[Found]:
    asked = item.get("queries") or item.get("action") or ""
    yield Found("tool_call", text_of(asked), tool=str(item["type"]).removesuffix("_call"), call_id=item.get("id"))
    yield from documents_of(list_at_key(item, "results"))


def _instructions(document: Mapping[str, Any], collected: Collected) -> None:
    if isinstance(document.get("instructions"), str):
        collected.take("instructions", [Found("system", document["instructions"])])
