"""One message of a conversation to steps, whichever client wrote it. Exports mix them, so it is read by its shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Found, Skip
from evidence.survival.formats.contents import (
    call_of,
    is_asking,
    is_result,
    named,
    parts_of,
    peeled_result,
    text_of,
    unpacked,
)

Message = Mapping[str, Any]
ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
    "HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool",
    "FunctionMessage": "tool", "HumanMessageChunk": "user", "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system", "ToolMessageChunk": "tool", "FunctionMessageChunk": "tool",
}  # fmt: skip


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
    content = message.get("content", message.get("parts"))
    parts = [*parts_of(content), *_spoken(message)]
    told = {part.call_id for part in parts if part.type == "tool_call"} - {None}
    calls = [call for call in _calls(message) if call.call_id not in told]  # LangChain says them twice
    if role == "assistant":
        yield from _thoughts(message)
        yield from _answering(parts, calls_elsewhere or bool(calls) or any(map(is_asking, _blocks(content))))
    else:
        yield from _said(parts, role)
    yield from calls


def role_of(message: Message) -> str:
    """One of system, user, assistant and tool. Raises Skip for any other."""
    for key in ("role", "type"):
        said = message.get(key)
        if isinstance(said, str) and said in ROLES:
            return ROLES[said]
    if not isinstance(message.get("role"), str):
        raise Skip("it names no role")
    raise Skip("its role is not known")


def _answering(parts: list[Found], is_calling: bool) -> Iterator[Found]:
    """What an assistant says: reasoning where it calls a tool; else what it says after all that was looked up."""
    ends = max((at for at, part in enumerate(parts, 1) if part.type not in ("text", "reasoning")), default=0)
    ends = len(parts) if is_calling else ends
    yield from _said(parts[:ends], "reasoning")
    yield from _said(parts[ends:], "assistant")


def _spoken(message: Message) -> Iterator[Found]:
    """What a message says beside its content: that it refuses, or what its sound says."""
    audio = message.get("audio")
    for text in (message.get("refusal"), audio.get("transcript") if isinstance(audio, Mapping) else None):
        if isinstance(text, str):
            yield Found("text", text)


def _thoughts(message: Message) -> Iterator[Found]:
    """The thoughts beside a content. Several clients say the same ones under several names."""
    more = message.get("additional_kwargs")
    for held in (message, more if isinstance(more, Mapping) else {}):
        for key in ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"):
            thought = held.get(key)
            text = thought if isinstance(thought, str) else "\n\n".join(filter(None, map(_thought, _blocks(thought))))
            if text.strip():
                yield Found("reasoning", text)
                return


def _thought(block: Message) -> str:
    return next((block[key] for key in ("text", "summary", "thinking") if isinstance(block.get(key), str)), "")


def _blocks(content: Any) -> list[Message]:
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


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
    if any(map(is_result, _blocks(content))):
        yield from (part for part in parts_of(content) if part.type != "text")
        return
    if isinstance(content, Mapping) and ("function" in content or "parameters" in content):
        raise Skip("it defines a tool")
    ids = message.get("tool_call_ids")
    call_id = message.get("tool_call_id") or (ids[0] if isinstance(ids, list) and ids else None)
    tool = message.get("name") or message.get("function")
    text = text_of(peeled_result(content)) or _failure(message)
    yield Found("tool_result", text, tool=named(tool), call_id=named(call_id))


def _failure(message: Message) -> str:
    """Why a tool gave nothing back, where a message says so apart."""
    error = message.get("error")
    return text_of(error.get("message")) if isinstance(error, Mapping) else text_of(error)


def _calls(message: Message) -> Iterator[Found]:
    more = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None)
    yield from (call_of(call) for call in _blocks(calls))
    old = message.get("function_call")
    if isinstance(old, Mapping):
        yield call_of(old)
