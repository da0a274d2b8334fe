"""OpenTelemetry's spans for generative models: attributes, the older events, and the oldest indexed names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.messages import peeled
from evidence.survival.formats.otlp import attributes_of, events_of, listed, spans_of
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span, read_spans

NAME = "otel-genai"
KINDS = {
    "chat": GENERATION, "generate_content": GENERATION, "text_completion": GENERATION, "execute_tool": TOOL,
    "retrieval": RETRIEVER, "invoke_agent": CONTAINER, "invoke_workflow": CONTAINER, "create_agent": CONTAINER,
}  # fmt: skip
ROLES = ("system", "user", "assistant", "tool")


def detect(document: Any) -> bool:
    """Spans of which any speaks of a generative model."""
    return any(
        any(key.startswith("gen_ai.") for key in attributes_of(span))
        or any(name.startswith("gen_ai.") for name, _held in events_of(span))
        for span in spans_of(document)
    )


def read(document: Any, collected: Collected) -> None:
    """Each span is one record."""
    read_spans([_span(span, number) for number, span in enumerate(spans_of(document))], collected)


def _span(span: Mapping[str, Any], number: int) -> Span:
    held = attributes_of(span)
    events = list(events_of(span))
    kind = KINDS.get(str(held.get("gen_ai.operation.name"))) or _older_kind(held, events)
    given, gave = _messages(held, events)
    if kind == TOOL:
        given = held.get("gen_ai.tool.call.arguments")
        gave = held.get("gen_ai.tool.call.result")
    if kind == RETRIEVER:
        gave = held.get("gen_ai.retrieval.documents")
    return Span(
        key=str(span.get("spanId") or span.get("span_id") or f"span {number}"),
        parent=span.get("parentSpanId") or span.get("parent_id") or None,
        kind=kind,
        name=held.get("gen_ai.tool.name") or held.get("gen_ai.data_source.id"),
        start=moment(span, "start"),
        end=moment(span, "end"),
        given=given,
        gave=gave,
        system=held.get("gen_ai.system_instructions"),
        call_id=held.get("gen_ai.tool.call.id"),
    )


def moment(span: Mapping[str, Any], which: str) -> tuple[int, str]:
    """When a span started or ended, so that nanoseconds sort as numbers and other times as text."""
    for key in (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}Time", f"{which}_time"):
        value = span.get(key)
        if value is not None:
            return (int(value), "") if str(value).isdecimal() else (0, str(value))
    return 0, ""


def _older_kind(held: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> str | None:
    if any(key.startswith(("gen_ai.prompt.", "gen_ai.completion.", "gen_ai.input.", "gen_ai.output.")) for key in held):
        return GENERATION
    return GENERATION if any(name.startswith("gen_ai.") for name, _held in events) else None


def _messages(held: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> tuple[Any, Any]:
    given = peeled(held.get("gen_ai.input.messages")) or listed(held, "gen_ai.prompt")
    gave = peeled(held.get("gen_ai.output.messages")) or listed(held, "gen_ai.completion")
    for name, inner in events:
        # The newest of the older ways: one event that holds what the attributes hold otherwise.
        given = given or peeled(inner.get("gen_ai.input.messages"))
        gave = gave or peeled(inner.get("gen_ai.output.messages"))
        if name == "gen_ai.content.prompt":
            given = given or peeled(inner.get("gen_ai.prompt"))
        if name == "gen_ai.content.completion":
            gave = gave or peeled(inner.get("gen_ai.completion"))
    return given or list(_asked(events)), gave or list(_chosen(events))


def _asked(events: list[tuple[str, dict[str, Any]]]) -> Iterator[Any]:
    for name, inner in events:
        role = name.removeprefix("gen_ai.").removesuffix(".message")
        if role in ROLES and name.endswith(".message"):
            calls = peeled(inner.get("tool_calls"))
            yield {**inner, "role": role, "tool_call_id": inner.get("id"), "tool_calls": calls}


def _chosen(events: list[tuple[str, dict[str, Any]]]) -> Iterator[Any]:
    for name, inner in events:
        if name == "gen_ai.choice":
            message = peeled(inner.get("message")) or inner
            yield {"role": "assistant", **message} if isinstance(message, Mapping) else message
