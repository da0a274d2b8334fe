"""Runs as LangSmith keeps them: of models, tools, retrievers, and of the chains around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.contents import unpacked
from evidence.survival.formats.spans import CONTAINER, GENERATION, RETRIEVER, TOOL, Span

KINDS = {
    "llm": GENERATION, "chat_model": GENERATION, "tool": TOOL, "retriever": RETRIEVER, "chain": CONTAINER,
    "prompt": None, "parser": None,
}  # fmt: skip


def is_run(document: Any) -> bool:
    """Whether it is a run, or a list of which any is one."""
    return any(isinstance(one, Mapping) and one.get("run_type") in KINDS for one in _listed(document))


def spans_of_runs(document: Any) -> list[Span]:
    """Every run, those below others as well."""
    return [_span(run, number, parent) for number, (run, parent) in enumerate(_runs(_listed(document), None))]


def _listed(document: Any) -> list[Any]:
    return document if isinstance(document, list) else [document]


def _runs(runs: list[Any], parent: str | None) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    for run in runs:
        if isinstance(run, Mapping):
            yield run, run.get("parent_run_id") or parent
            yield from _runs(_listed(run.get("child_runs") or []), run.get("id"))


def _span(run: Mapping[str, Any], number: int, parent: str | None) -> Span:
    kind = KINDS.get(str(run.get("run_type")))
    given, gave = run.get("inputs"), run.get("outputs")
    if kind in (GENERATION, CONTAINER):
        given, gave = _messages(given), _messages(gave)
    elif isinstance(gave, Mapping):
        gave = _only(gave)
    return Span(
        key=str(run.get("id") or f"run {number}"), parent=parent, kind=kind, name=run.get("name"),
        start=str(run.get("start_time") or ""), end=str(run.get("end_time") or ""), given=given, gave=gave,
    )  # fmt: skip


def _messages(held: Any) -> Any:
    """The messages of an input or an output, which are nested by prompt and by candidate."""
    if not isinstance(held, Mapping):
        return held
    for key in ("messages", "generations"):
        if isinstance(held.get(key), list):
            flat = [one for run in held[key] for one in (run if isinstance(run, list) else [run])]
            return [one.get("message", one) if isinstance(one, Mapping) else one for one in flat]
    return held.get("output", held.get("input", held))


def _only(gave: Mapping[str, Any]) -> Any:
    """What a tool or a retriever gave back: under one name, and perhaps as a message."""
    value = next((gave[key] for key in ("output", "documents") if key in gave), gave)
    message = unpacked(value) if isinstance(value, Mapping) else None
    return (
        message.get("content", value) if message is not None and ("lc" in value or "tool_call_id" in message) else value
    )
