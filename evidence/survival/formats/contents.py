"""What a message holds: texts, thoughts, calls, results and documents, whichever client wrote them.

OpenAI's parts, Anthropic's blocks, those of OpenTelemetry and LangChain differ in where they keep the same few things.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from evidence.survival.formats.collected import Found

Block = Mapping[str, Any]
TEXTS = ("text", "input_text", "output_text", "refusal")
THOUGHTS = ("thinking", "reasoning")
# A call that the service itself answers, in the same message.
SERVED = ("server_tool_use", "mcp_tool_use", "server_tool_call")
CALLS = ("tool_use", "tool_call", "tool-call", "function_call", *SERVED)
RESULTS = ("tool_result", "tool-result", "tool_call_response", "server_tool_call_response")
SERVED_RESULT = "_tool_result"  # what the kinds of a service's results end with
DOCUMENTS = ("document", "search_result")
PICTURES = ("image", "image_url", "input_image", "audio", "input_audio", "file", "input_file", "blob", "uri")
HELD = ("content", "response", "result", "output")
PEELED = 3


def parts_of(content: Any) -> Iterator[Found]:
    """The parts of a content, in order. Those of type "text" are the message's own words."""
    blocks = content if isinstance(content, list) else [content]
    for is_text, run in groupby(blocks, _is_text):
        if is_text:
            yield from _texts(list(run))
        else:
            yield from (part for block in run if isinstance(block, Mapping) for part in _part(block))


def is_asking(block: Any) -> bool:
    """Whether a block is a call that somebody else will answer."""
    return kind_of(block) in CALLS and kind_of(block) not in SERVED and "tool_type" not in block


def is_result(block: Any) -> bool:
    """Whether a block is what a tool gave back."""
    kind = kind_of(block) or ""
    return kind in RESULTS or kind.endswith(SERVED_RESULT)


def call_of(call: Block) -> Found:
    """A call of a tool, as any client states it."""
    for key in ("tool_call", "server_tool_call"):
        inner = call.get(key)
        call = {**call, **inner} if isinstance(inner, Mapping) else call
    function = call.get("function")
    held = next((one for one in (function, call.get("custom")) if isinstance(one, Mapping)), call)
    name = held.get("name") or held.get("toolName") or (function if isinstance(function, str) else None)
    given = next((held[key] for key in ("arguments", "args", "input") if held.get(key) is not None), "")
    call_id = call.get("call_id") or call.get("toolCallId") or call.get("id")
    return Found("tool_call", text_of(given), tool=named(name), call_id=named(call_id))


def text_of(value: Any) -> str:
    """A result as text: blocks joined by blank lines, pictures replaced by a marker, other values as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and value and all(_is_block(block) for block in value):
        return "\n\n".join(filter(None, map(_block_text, value)))
    if isinstance(value, Mapping):
        if set(value) == {"content"}:
            return text_of(value["content"])
        if value.get("type") == "function_result" and "result" in value:
            return text_of(value["result"])
        if set(value) == {"type", "value"}:
            return text_of(value["value"])
        if _is_block(value):
            return _block_text(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def peeled(value: Any) -> Any:
    """JSON text that holds JSON text, unwrapped up to three times; bare numbers and words are left as they are."""
    for _ in range(PEELED):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


def peeled_result(content: Any) -> Any:
    """A result that a framework wrapped as JSON once more, as what is in it; any other as it is."""
    inner = peeled(content)
    if isinstance(inner, Mapping) and inner.get("type") == "function_result":
        return inner
    return inner if isinstance(inner, str) else content


def documents_of(value: Any) -> Iterator[Found]:
    """Retrieved documents, one step each, with where each is from."""
    for document in value if isinstance(value, list) else [value]:
        if isinstance(document, str):
            yield Found("retrieval", document)
        elif isinstance(document, Mapping):
            yield _document(unpacked(document))


def unpacked(message: Block) -> Block:
    """A LangChain dump as the message in it; any other message as it is."""
    inner = message.get("kwargs") if "lc" in message else message.get("data")
    if not isinstance(inner, Mapping) or ("lc" not in message and "type" not in message):
        return message
    path = message.get("id")
    name = {"type": path[-1]} if isinstance(path, list) and path else {"type": message.get("type")}
    return {**inner, **name}


def kind_of(block: Any) -> str | None:
    """The type that a block names."""
    return named(block.get("type")) if isinstance(block, Mapping) else None


def named(value: Any) -> str | None:
    """A name; None for what is none."""
    return value if isinstance(value, str) and value else None


def _is_text(block: Any) -> bool:
    kind = kind_of(block)
    return isinstance(block, str) or (isinstance(block, Mapping) and (kind is None or kind in (*TEXTS, *PICTURES)))


def _texts(blocks: list[Any]) -> Iterator[Found]:
    """Texts that stand side by side. An answer that was cut where it cites something is one text."""
    texts = [block if isinstance(block, str) else _block_text(block) for block in blocks]
    if any(isinstance(block, Mapping) and block.get("citations") for block in blocks):
        yield Found("text", "".join(texts))
    else:
        yield from (Found("text", text) for text in texts)


def _part(block: Block) -> Iterator[Found]:
    kind = kind_of(block) or ""
    if kind in CALLS:
        yield call_of(block)
        if "tool_type" in block and (block.get("result") or block.get("error")):
            yield _result(block)
    elif kind in RESULTS:
        yield _result(block)
    elif kind.endswith(SERVED_RESULT):
        yield from _served(block)
    elif kind in DOCUMENTS:
        yield from documents_of(block)
    else:
        # Of a kind that is not known, what can be read is what went through the model's mind.
        yield Found("reasoning", _block_text(block))


def _result(block: Block) -> Found:
    held = next((block[key] for key in (*HELD, "server_tool_call_response", "error") if block.get(key) is not None), "")
    call_id = next((block[key] for key in ("tool_use_id", "tool_call_id", "toolCallId", "id") if block.get(key)), None)
    tool = block.get("name") or block.get("toolName")
    return Found("tool_result", text_of(peeled_result(held)), tool=named(tool), call_id=named(call_id))


def _served(block: Block) -> Iterator[Found]:
    """What a tool of the service gave back: documents, or what a program printed, or why there is nothing."""
    held = block.get("content")
    page = held.get("content") if isinstance(held, Mapping) else None
    if kind_of(block) == "web_search_tool_result" and isinstance(held, list):
        yield from documents_of(held)
    elif isinstance(held, Mapping) and kind_of(page) == "document":
        yield _document({**page, **{key: held[key] for key in ("url",) if key in held}})  # type: ignore[dict-item]
    else:
        printed = [held.get(key) for key in ("stdout", "stderr")] if isinstance(held, Mapping) else []
        texts = [text for text in printed if isinstance(text, str) and text]
        text = "\n\n".join(texts) if texts else text_of(held)
        yield Found("tool_result", text, call_id=named(block.get("tool_use_id")))


def _document(document: Block) -> Found:
    inner = document.get("document")
    document = inner if isinstance(inner, Mapping) else document
    metadata = document.get("metadata")
    places: list[Any] = [metadata.get("source")] if isinstance(metadata, Mapping) else []
    places += [document.get(key) for key in ("url", "filename", "title", "source", "id")]
    held = document.get("source")
    inside = held.get("data") or held.get("content") if isinstance(held, Mapping) else None
    if isinstance(held, Mapping) and held.get("type") == "base64":
        inside = "[file]"
    texts = [document.get(key) for key in ("page_content", "content", "text", "snippet")]
    text = next((text for text in [*texts, inside] if text), "")
    return Found("retrieval", text_of(text), source=next(filter(None, map(named, places)), None))


def _is_block(block: Any) -> bool:
    return isinstance(block, Mapping) and kind_of(block) in (*TEXTS, *THOUGHTS, *PICTURES, *DOCUMENTS, "resource")


def _block_text(block: Block) -> str:
    kind = kind_of(block)
    if kind in PICTURES:
        return f"[{kind}]"
    if kind in DOCUMENTS:
        return _document(block).content
    inner = block.get("resource")
    block = inner if kind == "resource" and isinstance(inner, Mapping) else block
    held = [block.get(key) for key in ("text", "thinking", "reasoning", "refusal", "content")]
    # Assistants keep a text one level deeper.
    held += [one.get("value") for one in held if isinstance(one, Mapping)]
    return next((text for text in held if isinstance(text, str)), "")
