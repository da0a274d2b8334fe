"""One item of OpenAI Responses to steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Found, Skip
from evidence.survival.formats.contents import call_of, documents_of, text_of
from evidence.survival.formats.messages import steps_of

CALLS = ("function_call", "custom_tool_call", "mcp_call", "local_shell_call", "shell_call", "computer_call",
         "code_interpreter_call", "apply_patch_call", "image_generation_call")  # fmt: skip
OUTPUTS = tuple(f"{call}_output" for call in CALLS)
SEARCHES = ("file_search_call", "web_search_call")
# What only this format has; a list with any of them is in it.
ITEMS = frozenset(
    (*CALLS, *OUTPUTS, *SEARCHES, "reasoning", "mcp_list_tools", "mcp_approval_request", "item_reference")
)


def item_steps(item: Any) -> Iterator[Found]:
    """The steps of one item. Raises Skip for what is none."""
    if not isinstance(item, Mapping):
        raise Skip("it is no message")
    kind = item.get("type")
    if kind == "mcp_list_tools":
        raise Skip("it defines a tool")
    if kind in CALLS:
        yield _call(item, kind)
        told = next((item[key] for key in ("output", "outputs", "error") if item.get(key)), None)
        if told is not None:
            yield _result(item, told)
    elif kind in OUTPUTS:
        yield _result(item, item.get("output"))
    elif kind == "reasoning":
        yield from _reasoning(item)
    elif kind in SEARCHES:
        yield from _search(item)
    else:
        yield from steps_of(item)


def _call(item: Mapping[str, Any], kind: str) -> Found:
    """A call; one of a tool that the service has itself is named by its kind."""
    found = call_of(item)
    given = next((item[key] for key in ("arguments", "input", "action", "code", "operation") if item.get(key)), "")
    return found._replace(content=text_of(given), tool=found.tool or kind.removesuffix("_call"))


def _result(item: Mapping[str, Any], told: Any) -> Found:
    call_id, name = item.get("call_id") or item.get("id"), item.get("name")
    return Found("tool_result", _told(told), tool=name, call_id=call_id)


def _told(value: Any) -> str:
    """What came back: of a program that ran, what it printed."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        printed = [one.get(key) for one in value for key in ("logs", "stdout", "stderr")]
        texts = [one for one in printed if isinstance(one, str) and one]
        if texts:
            return "\n\n".join(texts)
    return text_of(value)


def _reasoning(item: Mapping[str, Any]) -> Iterator[Found]:
    for key in ("summary", "content"):
        for part in item.get(key) or ():
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield Found("reasoning", part["text"])


def _search(item: Mapping[str, Any]) -> Iterator[Found]:
    asked = item.get("queries") or item.get("action") or ""
    yield Found("tool_call", text_of(asked), tool=str(item["type"]).removesuffix("_call"), call_id=item.get("id"))
    results = item.get("results")
    yield from documents_of(results if isinstance(results, list) else [])
