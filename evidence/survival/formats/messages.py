"""One message of a conversation to steps, whichever client wrote it.

OpenAI's messages and items, Anthropic's blocks, the parts of OpenTelemetry and LangChain's dumps differ in where they
keep the same few things. Exports mix them, so one reader takes them all, by shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Found, Skip

Message = Mapping[str, Any]
ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
    "HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool",
    "FunctionMessage": "tool", "HumanMessageChunk": "user", "AIMessageChunk": "assistant",
}  # fmt: skip
TEXTS = ("text", "input_text", "output_text", "refusal")
THOUGHTS = ("thinking", "reasoning")
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call")
RESULTS = ("tool_result", "mcp_tool_result", "tool_call_response")
DOCUMENTS = ("document", "search_result", "web_search_tool_result")
PICTURES = ("image", "image_url", "input_image", "audio", "input_audio", "file", "input_file", "blob", "uri")
PEELED = 3


def steps_of(message: object, calls_elsewhere: bool = False) -> Iterator[Found]:
    """The steps of one message, in order. Raises Skip for what is no message.

    `calls_elsewhere` says that other records hold calls of the same message: its text is then reasoning as well.
    """
    if not isinstance(message, Mapping):
        raise Skip("it is no message")
    message = unpacked(message)
    role = role_of(message)
    if role == "tool":
        yield from _result_message(message)
        return
    parts = list(_parts(message.get("content", message.get("parts"))))
    calls = list(_calls(message))
    says = role
    if role == "assistant":
        yield from _thoughts(message)
        known = any(found.type == "tool_call" for found in parts)
        says = "reasoning" if known or calls or calls_elsewhere else "assistant"
    yield from _said(parts, says)
    yield from calls


def unpacked(message: Message) -> Message:
    """A LangChain dump as the message in it; any other message as it is."""
    inner = message.get("kwargs") if "lc" in message else message.get("data")
    if not isinstance(inner, Mapping) or ("lc" not in message and "type" not in message):
        return message
    path = message.get("id")
    named = {"type": path[-1]} if isinstance(path, list) and path else {"type": message.get("type")}
    return {**inner, **named}


def role_of(message: Message) -> str:
    """One of system, user, assistant and tool. Raises Skip for any other."""
    for key in ("role", "type"):
        said = message.get(key)
        if isinstance(said, str) and said in ROLES:
            return ROLES[said]
    if not isinstance(message.get("role"), str):
        raise Skip("it names no role")
    raise Skip("its role is not known")


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


def documents_of(value: Any) -> Iterator[Found]:
    """Retrieved documents, one step each, with where each is from."""
    for document in value if isinstance(value, list) else [value]:
        if isinstance(document, str):
            yield Found("retrieval", document)
        elif isinstance(document, Mapping):
            yield _document(unpacked(document))


def _document(document: Message) -> Found:
    inner = document.get("document")
    document = inner if isinstance(inner, Mapping) else document
    metadata = document.get("metadata")
    places: list[Any] = [metadata.get("source")] if isinstance(metadata, Mapping) else []
    places += [document.get(key) for key in ("url", "filename", "title", "source", "id")]
    source = next((place for place in places if isinstance(place, str) and place), None)
    held = document.get("source")
    inside = held.get("data") or held.get("content") if isinstance(held, Mapping) else None
    texts = [document.get(key) for key in ("page_content", "content", "text", "snippet")]
    text = next((text for text in [*texts, inside] if text), "")
    return Found("retrieval", text_of(text), source=source)


def _thoughts(message: Message) -> Iterator[Found]:
    for key in ("reasoning_content", "reasoning"):
        thought = message.get(key)
        if isinstance(thought, str) and thought.strip():
            yield Found("reasoning", thought)
            return


def _said(parts: Iterable[Found], says: str) -> Iterator[Found]:
    """Neighboring texts become one step, in the place of the first."""
    texts: list[str] = []
    for part in parts:
        if part.type == "text":
            texts.append(part.content)
            continue
        if texts:
            yield Found(says, "\n\n".join(texts))
            texts = []
        yield part
    if texts:
        yield Found(says, "\n\n".join(texts))


def _result_message(message: Message) -> Iterator[Found]:
    content = message.get("content", message.get("parts"))
    if isinstance(content, list) and any(_type(block) in RESULTS for block in content):
        yield from (part for part in _parts(content) if part.type != "text")
        return
    if isinstance(content, Mapping) and ("function" in content or "parameters" in content):
        raise Skip("it defines a tool")
    ids = message.get("tool_call_ids")
    call_id = message.get("tool_call_id") or (ids[0] if isinstance(ids, list) and ids else None)
    tool = message.get("name") or message.get("function")
    yield Found("tool_result", text_of(peeled_result(content)), tool=_text(tool), call_id=_text(call_id))


def peeled_result(content: Any) -> Any:
    """A result that a framework wrapped as JSON once more, as what is in it; any other as it is."""
    inner = peeled(content)
    if isinstance(inner, Mapping) and inner.get("type") == "function_result":
        return inner
    return inner if isinstance(inner, str) else content


def _calls(message: Message) -> Iterator[Found]:
    more = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None)
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            yield call_of(call)
    old = message.get("function_call")
    if isinstance(old, Mapping):
        yield call_of(old)


def call_of(call: Message) -> Found:
    """A call of a tool, as any client states it."""
    call = call.get("tool_call") if isinstance(call.get("tool_call"), Mapping) else call  # type: ignore[assignment]
    inner = call.get("function")
    held = inner if isinstance(inner, Mapping) else call
    name = held.get("name") or (inner if isinstance(inner, str) else None)
    given = next((held[key] for key in ("arguments", "args", "input") if held.get(key) is not None), "")
    call_id = call.get("call_id") or call.get("id")
    return Found("tool_call", text_of(given), tool=_text(name), call_id=_text(call_id))


def _parts(content: Any) -> Iterator[Found]:
    """The parts of a content. Those of type "text" are the message's own words."""
    if isinstance(content, str):
        yield Found("text", content)
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield Found("text", block)
        elif isinstance(block, Mapping):
            yield from _part(block)


def _part(block: Message) -> Iterator[Found]:
    kind = _type(block)
    if kind in CALLS:
        yield call_of(block)
    elif kind in RESULTS:
        held = next((block[key] for key in ("content", "response", "result") if block.get(key) is not None), "")
        call_id = block.get("tool_use_id") or block.get("id")
        yield Found("tool_result", text_of(peeled_result(held)), tool=_text(block.get("name")), call_id=_text(call_id))
    elif kind in DOCUMENTS:
        yield from documents_of(block["content"] if kind == "web_search_tool_result" and "content" in block else block)
    elif kind in TEXTS or kind in PICTURES or kind is None:
        yield Found("text", _block_text(block))
    else:
        # Of a kind that is not known, what can be read is what went through the model's mind.
        yield Found("reasoning", _block_text(block))


def _is_block(block: Any) -> bool:
    return isinstance(block, Mapping) and _type(block) in (*TEXTS, *THOUGHTS, *PICTURES)


def _block_text(block: Message) -> str:
    kind = _type(block)
    if kind in PICTURES:
        return f"[{kind}]"
    held = (block.get(key) for key in ("text", "thinking", "reasoning", "content"))
    return next((text for text in held if isinstance(text, str)), "")


def _type(block: Any) -> str | None:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if isinstance(kind, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
