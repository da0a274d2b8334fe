"""OpenInference's spans (Phoenix): messages and documents under indexed names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.contents import peeled
from evidence.survival.formats.otlp import attributes_of, key_of, listed, moment, parent_of, spans_of
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span, read_spans

NAME = "openinference"
KIND = "openinference.span.kind"
KINDS = {"LLM": GENERATION, "TOOL": TOOL, "RETRIEVER": RETRIEVER, "AGENT": CONTAINER, "CHAIN": CONTAINER}


def detect(document: Any) -> bool:
    """Spans of which any names its kind in this format's way."""
    return any(_kind(span) is not None for span in spans_of(document))


def read(document: Any, collected: Collected) -> None:
    """Each span is one record."""
    read_spans([_span(span, number) for number, span in enumerate(spans_of(document))], collected)


def _kind(span: Mapping[str, Any]) -> Any:
    return attributes_of(span).get(KIND) or span.get("span_kind")


def _span(span: Mapping[str, Any], number: int) -> Span:
    held = attributes_of(span)
    kind = KINDS.get(str(_kind(span)).upper())
    given, gave = held.get("input.value"), held.get("output.value")
    if kind == GENERATION:
        given = _messages(held, "llm.input_messages") or given
        gave = _messages(held, "llm.output_messages") or gave
    if kind == RETRIEVER:
        gave = listed(held, "retrieval.documents") or gave
    return Span(
        key=key_of(span, number),
        parent=parent_of(span),
        kind=kind,
        name=held.get("tool.name") or span.get("name"),
        start=moment(span, "start"),
        end=moment(span, "end"),
        given=given,
        gave=gave,
        call_id=held.get("tool_call.id") or held.get("tool.id"),
    )


def _messages(held: Mapping[str, Any], prefix: str) -> list[Any]:
    found = listed(held, prefix) or peeled(held.get(prefix)) or []
    return [_message(one) for one in found] if isinstance(found, list) else []


def _message(one: Any) -> Any:
    message = one.get("message", one) if isinstance(one, Mapping) else one
    if not isinstance(message, Mapping) or "contents" not in message:
        return message
    parts = [part.get("message_content", part) for part in message["contents"] if isinstance(part, Mapping)]
    return {**message, "content": parts}
