"""OpenTelemetry's spans for generative models: attributes, the older events, and the oldest indexed names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.contents import peeled
from evidence.survival.formats.otlp import (
    attributes_of,
    events_of,
    is_log,
    key_of,
    listed,
    moment,
    parent_of,
    spans_of,
    value_of,
)
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span, read_spans

NAME = "otel-genai"
KINDS = {
    "chat": GENERATION, "generate_content": GENERATION, "text_completion": GENERATION, "execute_tool": TOOL,
    "retrieval": RETRIEVER, "invoke_agent": CONTAINER, "invoke_workflow": CONTAINER, "create_agent": CONTAINER,
}  # fmt: skip
ROLES = ("system", "user", "assistant", "tool")
SYSTEM = "gen_ai.system_instructions"
# What OpenLLMetry calls the spans around those of models.
AROUND = {"workflow": CONTAINER, "agent": CONTAINER, "task": CONTAINER, "tool": TOOL}


def detect(document: Any) -> bool:
    """Spans of which any speaks of a generative model."""
    return any(
        any(key.startswith("gen_ai.") for key in attributes_of(span))
        or any(name.startswith("gen_ai.") for name, _held in events_of(span))
        for span in spans_of(document)
    )


def read(document: Any, collected: Collected) -> None:
    """Each span is one record, and so is each log record: those are events of their span."""
    found = spans_of(document)
    logs: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for number, record in enumerate(found):
        if is_log(record):
            logs[key_of(record, number)].append(record)
    spans = [(key_of(span, number), span) for number, span in enumerate(found) if not is_log(span)]
    known = {key for key, _ in spans}
    alone = [(key, {"start_time_unix_nano": _first(logs[key])}) for key in logs if key not in known]
    read_spans([_span(key, span, logs.get(key, [])) for key, span in [*spans, *alone]], collected)


def _first(logs: list[Mapping[str, Any]]) -> int:
    return min(moment({"startTime": log.get("timeUnixNano", log.get("time_unix_nano"))}, "start")[0] for log in logs)


def _event(log: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    held, body = attributes_of(log), value_of(log.get("body"))
    name = log.get("eventName") or log.get("event_name") or held.get("event.name")
    return str(name or ""), {**held, **(body if isinstance(body, Mapping) else {})}


def _span(key: str, span: Mapping[str, Any], logs: list[Mapping[str, Any]]) -> Span:
    held = attributes_of(span)
    events = [*events_of(span), *map(_event, logs)]
    kind = KINDS.get(str(held.get("gen_ai.operation.name"))) or _older_kind(held, events)
    given, gave = _messages(held, events)
    if kind == TOOL:
        given = _first_of(held, "gen_ai.tool.call.arguments", "traceloop.entity.input", "ai.toolCall.args")
        gave = _first_of(held, "gen_ai.tool.call.result", "traceloop.entity.output", "ai.toolCall.result")
    if kind == RETRIEVER:
        gave = held.get("gen_ai.retrieval.documents")
    return Span(
        key=key,
        parent=parent_of(span),
        kind=kind,
        name=_first_of(held, "gen_ai.tool.name", "gen_ai.data_source.id", "traceloop.entity.name", "ai.toolCall.name"),
        start=moment(span, "start"),
        end=moment(span, "end"),
        given=given,
        gave=gave,
        system=next((told for told in (held, *(inner for _, inner in events)) if SYSTEM in told), {}).get(SYSTEM),
        call_id=_first_of(held, "gen_ai.tool.call.id", "ai.toolCall.id"),
        records=len(logs) + ("start_time_unix_nano" not in span or len(span) > 1),
    )


def _older_kind(held: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> str | None:
    for kind in (AROUND.get(str(held.get("traceloop.span.kind"))), _sdk_kind(held)):
        if kind is not None:
            return kind
    if any(key.startswith(("gen_ai.prompt.", "gen_ai.completion.", "gen_ai.input.", "gen_ai.output.")) for key in held):
        return GENERATION
    return GENERATION if any(name.startswith("gen_ai.") for name, _held in events) else None


def _sdk_kind(held: Mapping[str, Any]) -> str | None:
    """The kind of a span of the AI SDK, whose calls of a model stand below the function that a program called."""
    named = str(held.get("ai.operationId") or "")
    if named == "ai.toolCall":
        return TOOL
    if named.startswith("ai."):
        return GENERATION if named.rpartition(".")[2].startswith("do") else CONTAINER
    return None


def _sdk_answer(held: Mapping[str, Any]) -> list[Any]:
    calls = peeled(held.get("ai.response.toolCalls"))
    said = {"role": "assistant", "content": held.get("ai.response.text"), "tool_calls": calls}
    return [said] if said["content"] or calls else []


def _first_of(held: Mapping[str, Any], *names: str) -> Any:
    return next((held[name] for name in names if held.get(name) is not None), None)


def _messages(held: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> tuple[Any, Any]:
    given = peeled(_first_of(held, "gen_ai.input.messages", "ai.prompt.messages")) or listed(held, "gen_ai.prompt")
    gave = peeled(held.get("gen_ai.output.messages")) or listed(held, "gen_ai.completion") or _sdk_answer(held)
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
