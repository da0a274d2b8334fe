"""The search body of Elasticsearch and OpenSearch, as far as it is bool filters of term, match_phrase and range."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gate.triage.grammars import lucene, moments
from gate.triage.grammars.documents import Collected, Demands
from gate.triage.grammars.tokens import Refused

# They change which hits are shown and in which order, not how many there are.
_HARMLESS = frozenset(("size", "sort", "_source", "fields", "track_total_hits"))
_AGGREGATIONS = ("aggs", "aggregations")
_BEGINS, _ENDS = frozenset(("gte", "gt")), frozenset(("lt", "lte"))
_DEEPEST = 4
_FORMATS = {
    "epoch_millis": moments.MILLISECONDS,
    "epoch_second": moments.SECONDS,
    "strict_date_optional_time||epoch_millis": moments.MILLISECONDS,
    "strict_date_optional_time_nanos||epoch_millis": moments.MILLISECONDS,
    "strict_date_optional_time": frozenset[int](),
    "strict_date_optional_time_nanos": frozenset[int](),
    "date_optional_time": frozenset[int](),
    "date_time": frozenset[int](),
    "strict_date_time": frozenset[int](),
    "date_time_no_millis": frozenset[int](),
}


@dataclass(frozen=True)
class SearchBody:
    """What a body looks for. With a filter aggregation the hits are all lines, and the aggregation counts the error."""

    demands: Demands
    aggregation: str | None
    size: int | None


def parse(body: object) -> SearchBody | None:
    """What a body says; None when it is of another shape."""
    try:
        return _body(body)
    except Refused:
        return None


def parse_text(text: str, window: tuple[datetime, datetime] | None) -> SearchBody | None:
    """The same for a query string, with its window in it or beside it."""
    try:
        told = Collected()
        lucene.collect(text, told)
        if window is not None:
            told.within(*window)
        return SearchBody(told.closed(), None, None)
    except Refused:
        return None


def _body(body: object) -> SearchBody:
    if type(body) is not dict or not frozenset(body) <= _HARMLESS | {"query", *_AGGREGATIONS}:
        raise Refused
    told, aggregation = Collected(), None
    _query(body.get("query"), told, 0)
    used = [key for key in _AGGREGATIONS if key in body]
    if len(used) > 1:
        raise Refused
    if used:
        aggregation = _aggregation(body[used[0]], told)
    return SearchBody(told.closed(), aggregation, _size(body))


def _size(body: dict[str, object]) -> int | None:
    size = body.get("size")
    if size is not None and (type(size) is not int or size < 0):
        raise Refused
    return size if type(size) is int else None


def _aggregation(found: object, told: Collected) -> str:
    """The one filter aggregation that counts the error. The texts it looks for must not be demanded of the hits too."""
    name, inside = _only(found)
    kind, clause = _only(inside)
    if kind != "filter" or told.patterns:
        raise Refused
    counted = Collected()
    _query(clause, counted, 0)
    if counted.selector or counted.begins or counted.ends or not counted.patterns:
        raise Refused
    told.patterns += counted.patterns
    return name


def _query(clause: object, told: Collected, depth: int) -> None:
    if depth > _DEEPEST:
        raise Refused
    kind, inside = _only(clause)
    if kind == "bool":
        _bool(inside, told, depth)
    elif kind == "range":
        _range(inside, told)
    elif kind in ("term", "match_phrase", "match"):
        _term(kind, inside, told)
    elif kind == "query_string":
        lucene.collect(_text(inside, "query"), told)
    else:
        raise Refused


def _bool(inside: object, told: Collected, depth: int) -> None:
    if type(inside) is not dict or not inside or not frozenset(inside) <= {"filter", "must"}:
        raise Refused
    for clauses in inside.values():
        for clause in clauses if type(clauses) is list else [clauses]:
            _query(clause, told, depth + 1)


def _range(inside: object, told: Collected) -> None:
    name, bounds = _only(inside)
    if type(bounds) is not dict or not frozenset(bounds) <= _BEGINS | _ENDS | {"format"}:
        raise Refused
    units = _units(bounds)
    for key, value in bounds.items():
        if key != "format":
            told.demand_time(name, value, is_begin=key in _BEGINS, units=units)


def _units(bounds: dict[str, object]) -> frozenset[int]:
    """In what a number is counted: by `format`, or in milliseconds. Spelled times are read with their zone."""
    named = bounds.get("format", "epoch_millis")
    if type(named) is not str or named not in _FORMATS:
        raise Refused
    return _FORMATS[named]


def _term(kind: str, inside: object, told: Collected) -> None:
    name, value = _only(inside)
    if type(value) is dict:
        value = _text(value, "value" if kind == "term" else "query")
    if type(value) is int:
        value = str(value)
    # `match` finds any one of several words.
    if type(value) is not str or value == "" or (kind == "match" and len(value.split()) != 1):
        raise Refused
    told.demand(name, value, is_exact=kind == "term")


def _text(inside: object, key: str) -> str:
    if type(inside) is not dict or frozenset(inside) != {key} or type(inside[key]) is not str:
        raise Refused
    return str(inside[key])


def _only(found: object) -> tuple[str, object]:
    if type(found) is not dict or len(found) != 1:
        raise Refused
    key = next(iter(found))
    if type(key) is not str:
        raise Refused
    return key, found[key]
