"""Langfuse's export of a trace: observations by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.contents import peeled
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span, read_spans

NAME = "langfuse"
KINDS = {
    "GENERATION": GENERATION, "TOOL": TOOL, "RETRIEVER": RETRIEVER, "SPAN": CONTAINER, "AGENT": CONTAINER,
    "CHAIN": CONTAINER,
}  # fmt: skip
TYPES = (*KINDS, "EVENT", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
RUNNING = "running tool: "


def detect(document: Any) -> bool:
    """Observations that name their trace, or a trace with a list of them."""
    found = _observations(document)
    return any_has(found, "traceId") or any_has(found, "trace_id", *_ids(found)) or _is_trace(document)


def read(document: Any, collected: Collected) -> None:
    """Each observation is one record."""
    spans = []
    for number, observation in enumerate(_observations(document)):
        if isinstance(observation, Mapping):
            spans.append(_span(observation, number))
        else:
            collected.count(0, "it is no object")
    read_spans(spans or _whole(document), collected)


def _whole(document: Any) -> list[Span]:
    """The trace itself as a span, where a list of traces only names what stands below each."""
    trace = document.get("trace", document) if isinstance(document, Mapping) else None
    if not isinstance(trace, Mapping) or not (trace.get("input") or trace.get("output")):
        return []
    return [_span({**trace, "type": "SPAN"}, 0)]


def _observations(document: Any) -> list[Any]:
    """Those of a trace, of a page, or of a file of either, line by line."""
    if isinstance(document, list):
        return [one for line in document for one in (_observations(line) if _is_trace(line) else [line])]
    if not isinstance(document, Mapping):
        return []
    for held in (document, document.get("trace")):
        found = list_at(held, "observations", "data") if isinstance(held, Mapping) else None
        if found is not None:
            return found
    return []


def _is_trace(value: Any) -> bool:
    held = value.get("trace") if isinstance(value, Mapping) and isinstance(value.get("trace"), Mapping) else None
    return any(isinstance(one, Mapping) and isinstance(one.get("observations"), list) for one in (value, held))


def _ids(found: list[Any]) -> tuple[str, ...]:
    """The traces of observations whose names have underscores; those of other spans have no type of ours."""
    return tuple(str(one.get("trace_id")) for one in found if isinstance(one, Mapping) and one.get("type") in TYPES)


def _span(observation: Mapping[str, Any], number: int) -> Span:
    metadata = peeled(observation.get("metadata"))
    attributes = metadata.get("attributes") if isinstance(metadata, Mapping) else None
    attributes = attributes if isinstance(attributes, Mapping) else {}
    kind = KINDS.get(str(observation.get("type")))
    if attributes.get("gen_ai.operation.name") == "execute_tool":
        kind = TOOL
    name = attributes.get("gen_ai.tool.name") or str(observation.get("name") or "").removeprefix(RUNNING)
    return Span(
        key=str(observation.get("id") or f"observation {number}"),
        parent=_under(observation, "parentObservationId", "parent_observation_id"),
        kind=kind,
        name=name,
        start=str(_under(observation, "startTime", "start_time") or ""),
        end=str(_under(observation, "endTime", "end_time") or ""),
        given=observation.get("input"),
        gave=observation.get("output"),
        system=attributes.get("gen_ai.system_instructions"),
        call_id=attributes.get("gen_ai.tool.call.id"),
    )


def _under(observation: Mapping[str, Any], *names: str) -> Any:
    return next((observation[name] for name in names if observation.get(name)), None)
