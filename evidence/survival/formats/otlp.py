"""Spans of OTLP JSON and of flat exports, with their attributes as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

INDEXED = re.compile(r"\d+")


def spans_of(document: Any) -> list[Mapping[str, Any]]:
    """Every span of a document: of OTLP's nested lists, of lines of those, or of a flat list."""
    return list(_spans(document))


def _spans(document: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, list):
        for one in document:
            yield from _spans(one)
    elif isinstance(document, Mapping):
        for outer, inner in (("resourceSpans", "scopeSpans"), ("resource_spans", "scope_spans")):
            for resource in document.get(outer) or ():
                for scope in resource.get(inner) or resource.get("instrumentationLibrarySpans") or ():
                    yield from (span for span in scope.get("spans") or () if isinstance(span, Mapping))
        if isinstance(document.get("spans"), list):
            yield from _spans(document["spans"])
        if "attributes" in document or any(str(key).startswith("attributes.") for key in document):
            yield document


def attributes_of(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes by their dotted names, whichever of the three ways they are written."""
    held = span.get("attributes")
    if isinstance(held, list):
        return {
            pair["key"]: value_of(pair.get("value")) for pair in held if isinstance(pair, Mapping) and "key" in pair
        }
    flat = {key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")}
    return {**dict(_dotted(held, "")), **flat} if isinstance(held, Mapping) else flat


def value_of(value: Any) -> Any:
    """A value of OTLP as Python has it."""
    if not isinstance(value, Mapping):
        return value
    for key in ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"):
        if key in value:
            return value[key]
    if "arrayValue" in value:
        return [value_of(one) for one in value["arrayValue"].get("values") or ()]
    if "kvlistValue" in value:
        return {one["key"]: value_of(one.get("value")) for one in value["kvlistValue"].get("values") or ()}
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
                at = at.setdefault(name, {})
                if not isinstance(at, dict):
                    break
            else:
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
