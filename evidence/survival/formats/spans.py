"""Spans of a run, from whichever tracer, to steps in their order, each thing once.

A generation's input repeats the conversation so far, a tool's result stands in its own span and in the next input, and
a container repeats what its children hold. So what a list holds is kept as often as it exceeds what is there already.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evidence.survival.formats.collected import MALFORMED, Collected, Found, Skip
from evidence.survival.formats.contents import documents_of, peeled, peeled_result, text_of
from evidence.survival.formats.responses_items import item_steps

GENERATION, TOOL, RETRIEVER, CONTAINER = "generation", "tool", "retriever", "container"
WORKING = (GENERATION, TOOL, RETRIEVER)
REPEATS = "it only repeats what other records hold"


@dataclass
class Span:
    """One span: what it is, when it ran (sortable), and what went in and out."""

    key: str
    parent: str | None
    kind: str | None
    name: str | None
    start: Any
    end: Any
    given: Any = None
    gave: Any = None
    system: Any = None
    call_id: str | None = None
    records: int = 1  # of the file, that it stands for


@dataclass
class _Told:
    """How often each thing was told already, over all, and by this one list."""

    collected: Collected
    told: Counter[Hashable] = field(default_factory=Counter)
    kept: set[str] = field(default_factory=set)

    def tell(self, span: Span, found: Iterable[Found], own: Counter[Hashable]) -> None:
        for step in found:
            key = _key(step)
            # Instructions stand in every answer of some exports, and are told once.
            own[key] = own[key] + 1 if step.type != "system" else 1
            if own[key] > self.told[key]:
                self.told[key] += 1
                if self.collected.add(span.key, [step]):
                    self.kept.add(span.key)


def read_spans(spans: list[Span], collected: Collected) -> None:
    """Each span is one record."""
    told = _Told(collected)
    outputs: Counter[Hashable] = Counter()
    calls: Counter[Hashable] = Counter()
    idle = _idle_containers(spans)
    for _moment, _order, span, is_start in sorted(_moments(spans, idle), key=lambda moment: moment[:2]):
        if span.kind == TOOL:
            told.tell(span, [_call(span)] if is_start else [_result(span)], calls)
        elif span.kind == RETRIEVER:
            told.tell(span, [] if is_start else _documents(span.gave), outputs)
        elif is_start:
            told.tell(span, _all_steps([*_system(span.system), *_messages(span.given, "user")]), Counter())
        else:
            told.tell(span, _all_steps(_messages(span.gave, "assistant")), outputs)
    for span in spans:
        for _ in range(span.records):
            collected.count(span.key in told.kept, _reason(span, idle))


def _idle_containers(spans: Iterable[Span]) -> set[str]:
    """The containers with nothing below them that works and says so: what they hold stands nowhere else."""
    parents = {span.key: span.parent for span in spans}
    busy: set[str | None] = set()
    for span in spans:
        above = span.parent if span.kind in WORKING and (span.given or span.gave) else None
        while above is not None and above not in busy:
            busy.add(above)
            above = parents.get(above)
    return {span.key for span in spans if span.kind == CONTAINER and span.key not in busy}


def _moments(spans: Iterable[Span], idle: set[str]) -> Iterator[tuple[Any, Any, Span, bool]]:
    for number, span in enumerate(spans):
        if span.kind in WORKING or span.key in idle:
            # A span with an end before its start, or none, ends where it starts.
            end = max(span.start, span.end or span.start)
            yield span.start, (0, number, 0), span, True
            # What ends comes before what starts at the same moment, but never before its own start.
            yield end, (-1, number, 0) if end > span.start else (0, number, 1), span, False


def _reason(span: Span, idle: set[str]) -> str:
    if span.kind in WORKING or span.key in idle:
        return REPEATS if span.given or span.gave else "it holds no text"
    return "what it holds stands in the spans below it" if span.kind == CONTAINER else "its kind takes no part"


def _call(span: Span) -> Found:
    given = peeled(span.given)
    if isinstance(given, Mapping) and set(given) == {"input"}:
        given = given["input"]
    return Found("tool_call", text_of(given), tool=span.name, call_id=span.call_id)


def _result(span: Span) -> Found:
    return Found("tool_result", text_of(peeled(peeled_result(span.gave))), tool=span.name, call_id=span.call_id)


def _documents(value: Any) -> Iterator[Found]:
    value = peeled(value)
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("documents", "results", "output") if key in value), value)
    return documents_of(value)


def _system(value: Any) -> list[Any]:
    return [{"role": "system", "content": peeled(value)}] if value else []


def _messages(value: Any, role: str) -> list[Any]:
    """The messages in an input or an output. Bare text is of the role that such a side has."""
    value = peeled(value)
    if isinstance(value, Mapping):
        for key in ("messages", "output", "choices"):
            if isinstance(value.get(key), list):
                system = [{"role": "system", "content": value[k]} for k in ("system", "instructions") if value.get(k)]
                return [*system, *(one.get("message", one) if key == "choices" else one for one in value[key])]
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value.strip() else []
    return value if isinstance(value, list) else [value] if value else []


def _all_steps(messages: Iterable[Any]) -> Iterator[Found]:
    """What the messages hold. One that is no message is passed over: the span is the record, and is counted."""
    for message in messages:
        try:
            yield from list(item_steps(message))
        except (Skip, *MALFORMED):
            continue


def _key(step: Found) -> Hashable:
    """What makes two steps the same thing: what was said by whom; a call with its arguments; a result's text."""
    if step.type == "tool_call":
        return "call", step.tool, _canonical(step.content)
    if step.type in ("tool_result", "retrieval"):
        return "result", _canonical(step.content)
    return step.type in ("assistant", "reasoning") or step.type, step.content.strip()


def _canonical(text: str) -> str:
    """Arguments that mean the same, written the same: some tracers keep them as Python prints them."""
    for read in (json.loads, ast.literal_eval) if text.lstrip()[:1] in ("{", "[") else ():
        try:
            return json.dumps(read(text), sort_keys=True)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
    return text.strip()
