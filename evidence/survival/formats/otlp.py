"""Spans of OTLP JSON and of flat exports, with their attributes as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

INDEXED = re.compile(r"\d+")


NESTED = (
    ("resourceSpans", "scopeSpans", "spans"), ("resource_spans", "scope_spans", "spans"),
    ("batches", "scopeSpans", "spans"), ("batches", "instrumentationLibrarySpans", "spans"),
    ("resourceSpans", "instrumentationLibrarySpans", "spans"),
    ("resourceLogs", "scopeLogs", "logRecords"), ("resource_logs", "scope_logs", "log_records"),
)  # fmt: skip
AROUND = ("spans", "trace", "data")


def spans_of(document: Any) -> list[Mapping[str, Any]]:
    """Every span and log record of a document: of OTLP's nested lists, of lines of those, or of a flat list."""
    return list(_spans(document))


def _spans(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for one in document:
            # What holds no span is a record all the same.
            yield from list(_spans(one)) or [{}]
    elif isinstance(document, Mapping):
        for outer, middle, inner in NESTED:
            for resource in document.get(outer) or ():
                for scope in resource.get(middle) or ():
                    yield from (span if isinstance(span, Mapping) else {} for span in scope.get(inner) or ())
        for key in AROUND:
            if isinstance(document.get(key), list | Mapping):
                yield from _spans(document[key])
        if "attributes" in document or any(str(key).startswith("attributes.") for key in document):
            yield document


def is_log(span: Mapping[str, Any]) -> bool:
    """Whether it is a log record, which stands for an event of its span."""
    return any(key in span for key in ("eventName", "event_name", "body", "observedTimeUnixNano"))


def key_of(span: Mapping[str, Any], number: int) -> str:
    """What names a span in its trace."""
    context = span.get("context")
    inner = context if isinstance(context, Mapping) else {}
    names = (
        span.get("spanId"),
        span.get("span_id"),
        span.get("context.span_id"),
        inner.get("span_id"),
        inner.get("spanId"),
    )
    return next((str(name) for name in names if name), f"span {number}")


def parent_of(span: Mapping[str, Any]) -> str | None:
    """The span above one."""
    names = (span.get(key) for key in ("parentSpanId", "parent_span_id", "parent_id", "parentId"))
    return next((name for name in names if isinstance(name, str) and name), None)


def moment(span: Mapping[str, Any], which: str) -> tuple[int, str]:
    """When a span started or ended, so that nanoseconds sort as numbers and other times as text."""
    for key in (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}Time", f"{which}_time"):
        value = span.get(key)
        if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
            return value[0] * 10**9 + value[1], ""
        if value is not None:
            return (int(value), "") if str(value).isdecimal() else (0, str(value))
    return 0, ""


def attributes_of(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes by their dotted names, whichever of the three ways they are written."""
    held = span.get("attributes")
    if isinstance(held, list):
        return {
            pair["key"]: value_of(pair.get("value")) for pair in held if isinstance(pair, Mapping) and "key" in pair
        }
    flat = {key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")}
    return dict(_dotted({**held, **flat} if isinstance(held, Mapping) else flat, ""))


def value_of(value: Any) -> Any:
    """A value of OTLP as Python has it."""
    if not isinstance(value, Mapping):
        return value
    for key in ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"):
        for name in (key, key.replace("Value", "_value")):
            if name in value:
                # Long whole numbers are written as text.
                return int(value[name]) if key == "intValue" else value[name]
    for name in ("arrayValue", "array_value"):
        if name in value:
            return [value_of(one) for one in value[name].get("values") or ()]
    for name in ("kvlistValue", "kvlist_value"):
        if name in value:
            return {one["key"]: value_of(one.get("value")) for one in value[name].get("values") or ()}
    return None


def events_of(span: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and attributes of a span's events."""
    for event in span.get("events") or ():
        if isinstance(event, Mapping):
            yield str(event.get("name") or ""), attributes_of(event)


def listed(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """What stands under `prefix.0.…`, `prefix.1.…` as a list of nested values."""
    root: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}.") and INDEXED.match(key, len(prefix) + 1):
            *path, last = key[len(prefix) + 1 :].split(".")
            at = root
            for name in path:
                # What stands deeper says more than the same as a whole, which comes before it.
                at[name] = at[name] if isinstance(at.get(name), dict) else {}
                at = at[name]
            at[last] = value
    found = _lists(root)
    return found if isinstance(found, list) else []


def _lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [_lists(value[key]) for key in sorted(value, key=int)]
    return {key: _lists(inner) for key, inner in value.items()}


def _dotted(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        yield name, inner
        if isinstance(inner, Mapping):
            yield from _dotted(inner, f"{name}.")
        elif isinstance(inner, list) and inner and all(isinstance(one, Mapping) for one in inner):
            yield from (pair for number, one in enumerate(inner) for pair in _dotted(one, f"{name}.{number}."))
