"""Langfuse's export of a trace: observations by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.survival.formats.collected import Collected
from evidence.survival.formats.conversation import any_has, list_at
from evidence.survival.formats.messages import peeled
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span, read_spans

NAME = "langfuse"
KINDS = {
    "GENERATION": GENERATION, "TOOL": TOOL, "RETRIEVER": RETRIEVER, "SPAN": CONTAINER, "AGENT": CONTAINER,
    "CHAIN": CONTAINER,
}  # fmt: skip
RUNNING = "running tool: "


def detect(document: Any) -> bool:
    """A list of observations, or a trace beside it."""
    if isinstance(document, Mapping) and isinstance(document.get("trace"), Mapping):
        document = {"observations": [], **document["trace"], **document}
    return any_has(list_at(document, "observations"), "traceId") or (
        isinstance(document, Mapping) and isinstance(document.get("observations"), list)
    )


def read(document: Any, collected: Collected) -> None:
    """Each observation is one record."""
    found = list_at(document, "observations")
    if found is None and isinstance(document.get("trace"), Mapping):
        found = list_at(document["trace"], "observations")
    spans = []
    for number, observation in enumerate(found or []):
        if isinstance(observation, Mapping):
            spans.append(_span(observation, number))
        else:
            collected.count(0, "it is no object")
    read_spans(spans, collected)


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
        parent=observation.get("parentObservationId"),
        kind=kind,
        name=name,
        start=str(observation.get("startTime") or ""),
        end=str(observation.get("endTime") or ""),
        given=observation.get("input"),
        gave=observation.get("output"),
        system=attributes.get("gen_ai.system_instructions"),
        call_id=attributes.get("gen_ai.tool.call.id"),
    )
