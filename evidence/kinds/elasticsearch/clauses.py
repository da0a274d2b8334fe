"""The body of a search, read clause by clause against a closed list. What is not listed is refused.

Left out on purpose: scripts and stored scripts in any place (script, script_score, script_fields, runtime_mappings,
sorting by _script, bucket scripts), what reads other documents (a terms lookup, more_like_this, percolate, joins,
templates), what keeps something on the server (scroll, pit), what ends a search early (terminate_after), and what makes
a count inexact (cardinality, percentiles, sampling).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

MOST_HITS = 1_000
MOST_BUCKETS = 1_000
MOST_TERMS = 1_000
DEEPEST = 8  # clauses within clauses, aggregations within aggregations
MOST_CLAUSES = 500
LONGEST_TEXT = 4_000
FIELD = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_@./ -]{0,199}", re.ASCII)
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .-]{0,99}", re.ASCII)
INTERVAL = re.compile(r"(?:[1-9][0-9]{0,5}(?:ms|s|m|h|d)|minute|hour|day|week|month|quarter|year)", re.ASCII)
# What a slash means nothing in: a phrase, and a range without any quote, which would mean something else there.
_INERT = re.compile(r'"(?:\\.|[^"\\])*"|[\[{][^"\\/\[\]{}]*[\]}]', re.S)
Options = Mapping[str, Callable[[Any], bool]]


class Walk:
    """One body on its way through the list, with how many clauses it has so far."""

    def __init__(self) -> None:
        self.clauses = 0

    def body(self, body: Any) -> None:
        """A body of _search. Raises ValueError with a sentence for what is not listed."""
        self._only(body, "a search", {"query", "size", "sort", "_source", "fields", "track_total_hits", *_AGGREGATIONS})
        if len(set(body) & set(_AGGREGATIONS)) > 1:
            raise ValueError("aggs and aggregations are the same; say one of them.")
        if "query" in body:
            self.query(body["query"], 0)
        for key in set(body) & set(_AGGREGATIONS):
            self.aggregations(body[key], 0)
        _check_size(body.get("size", 0), MOST_HITS)
        if body.get("track_total_hits", True) is not True:
            raise ValueError("track_total_hits is true, or left out, which is the same here: hits are always counted.")
        _check_sort(body.get("sort", []))
        _check_source(body.get("_source", True))
        _check_names(body.get("fields", []))

    def count(self, body: Any) -> None:
        """A body of _count. Raises ValueError."""
        self._only(body, "a count", {"query"})
        if "query" in body:
            self.query(body["query"], 0)

    def query(self, clause: Any, depth: int) -> None:
        """One clause of a query. Raises ValueError."""
        kind, inside = self._one(clause, "a clause", depth)
        if kind == "bool":
            self._bool(inside, depth)
        elif kind == "match_all":
            self._only(inside, kind, set())
        elif kind == "exists":
            self._only(inside, kind, {"field"})
            _check_field(inside.get("field"))
        elif kind == "query_string":
            _check_query_string(inside)
        elif kind == "terms":
            _check_terms(inside)
        elif kind in _ON_FIELDS:
            _check_on_field(kind, inside)
        else:
            raise ValueError(f"{kind[:60]} is none of the clauses that are read here: {_CLAUSES}.")

    def _bool(self, inside: Any, depth: int) -> None:
        self._only(inside, "bool", {*_OCCURS, "minimum_should_match"})
        if not _is_whole(inside.get("minimum_should_match", 0)):
            raise ValueError("minimum_should_match is a whole number.")
        for occurs in set(inside) & set(_OCCURS):
            clauses = inside[occurs] if isinstance(inside[occurs], list) else [inside[occurs]]
            for clause in clauses:
                self.query(clause, depth + 1)

    def aggregations(self, found: Any, depth: int) -> None:
        """Aggregations by name, each with those within it. Raises ValueError."""
        if not isinstance(found, dict):
            raise ValueError("Aggregations are an object: names with what is counted.")
        for name, inside in found.items():
            if NAME.fullmatch(name) is None:
                raise ValueError(f"{name[:60]} is no name of an aggregation.")
            self._aggregation(inside, depth)

    def _aggregation(self, found: Any, depth: int) -> None:
        if not isinstance(found, dict):
            raise ValueError("An aggregation is an object.")
        inner = set(found) & set(_AGGREGATIONS)
        kind, inside = self._one({key: found[key] for key in set(found) - inner}, "an aggregation", depth)
        for key in inner:
            self.aggregations(found[key], depth + 1)
        if kind == "filter":
            self.query(inside, depth + 1)
        elif kind == "filters":
            self._filters(inside, depth)
        elif kind in _COUNTED:
            _check_options(kind, inside, _COUNTED[kind])
        else:
            raise ValueError(f"{kind[:60]} is none of the aggregations that are read here: {_KINDS}.")

    def _filters(self, inside: Any, depth: int) -> None:
        self._only(inside, "filters", {"filters"})
        named = inside.get("filters")
        for clause in named.values() if isinstance(named, dict) else named if isinstance(named, list) else [None]:
            self.query(clause, depth + 1)

    def _one(self, found: Any, what: str, depth: int) -> tuple[str, Any]:
        self.clauses += 1
        if depth > DEEPEST or self.clauses > MOST_CLAUSES:
            raise ValueError(f"A search has at most {MOST_CLAUSES} clauses, {DEEPEST} within one another.")
        if not isinstance(found, dict) or len(found) != 1:
            raise ValueError(f"{what[0].upper()}{what[1:]} is an object with exactly one name in it.")
        return next(iter(found.items()))

    def _only(self, found: Any, what: str, known: set[str]) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"{what[0].upper()}{what[1:]} is an object.")
        unknown = sorted(set(found) - known)
        if unknown:
            raise ValueError(f"{unknown[0][:60]} is nothing that may stand in {what} here.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _is_scalar(value: Any) -> bool:
    return _is_text(value) or isinstance(value, bool | int | Decimal)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_field(value: Any) -> bool:
    return isinstance(value, str) and FIELD.fullmatch(value) is not None


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100


def _is_interval(value: Any) -> bool:
    return isinstance(value, str) and INTERVAL.fullmatch(value) is not None


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and value > 0


def _is_operator(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in ("and", "or")


def _is_count_of_buckets(value: Any) -> bool:
    return _is_whole(value) and 0 < value <= MOST_BUCKETS


def _are_ranges(value: Any) -> bool:
    bounds = ("from", "to", "key")
    return isinstance(value, list) and all(
        isinstance(one, dict) and set(one) <= set(bounds) and all(map(_is_scalar, one.values())) for one in value
    )


_AGGREGATIONS = ("aggs", "aggregations")
_OCCURS = ("filter", "must", "must_not", "should")
_VALUE: Options = {"value": _is_scalar, "case_insensitive": _is_flag}
# Clauses on one field, with the options that each may have. The first is the one that a plain value stands for.
_ON_FIELDS: Mapping[str, Options] = {
    "term": _VALUE,
    "prefix": _VALUE,
    "wildcard": _VALUE,
    "match": {"query": _is_scalar, "operator": _is_operator},
    "match_phrase": {"query": _is_scalar, "slop": _is_whole},
    "range": dict.fromkeys(("gte", "gt", "lte", "lt"), _is_scalar) | {"format": _is_short, "time_zone": _is_short},
}
_FIELD_ONLY: Options = {"field": _is_field}
_HISTOGRAM: Options = {**_FIELD_ONLY, "min_doc_count": _is_whole, "format": _is_short}
_COUNTED: Mapping[str, Options] = {
    "terms": {**_FIELD_ONLY, "size": _is_count_of_buckets, "min_doc_count": _is_whole},
    "date_histogram": {
        **_HISTOGRAM, "fixed_interval": _is_interval, "calendar_interval": _is_interval, "time_zone": _is_short,
    },
    "histogram": {**_HISTOGRAM, "interval": _is_positive},
    "range": {**_FIELD_ONLY, "ranges": _are_ranges},
    "date_range": {**_FIELD_ONLY, "ranges": _are_ranges, "format": _is_short},
    **dict.fromkeys(("min", "max", "avg", "sum", "stats", "value_count", "missing"), _FIELD_ONLY),
}  # fmt: skip
_CLAUSES = ", ".join(sorted((*_ON_FIELDS, "bool", "exists", "match_all", "query_string", "terms")))
_KINDS = ", ".join(sorted((*_COUNTED, "filter", "filters")))


def _check_field(value: Any) -> None:
    if not _is_field(value):
        raise ValueError(f"{str(value)[:60]} is no name of a field.")


def _check_names(found: Any) -> None:
    if not isinstance(found, list):
        raise ValueError("fields is a list of names of fields.")
    for name in found:
        _check_field(name)


def _check_source(found: Any) -> None:
    if not isinstance(found, bool):
        _check_names(found if isinstance(found, list) else [found])


def _check_size(size: Any, most: int) -> None:
    if not _is_whole(size) or size > most:
        raise ValueError(f"size is a whole number up to {most:,}.")


def _check_sort(found: Any) -> None:
    """By fields alone: what begins with _script or _geo_distance calculates."""
    for item in found if isinstance(found, list) else [found]:
        pairs = item.items() if isinstance(item, dict) else [(item, "asc")]
        for name, order in pairs:
            direction = order.get("order", "asc") if isinstance(order, dict) else order
            is_plain = not isinstance(order, dict) or set(order) <= {"order", "unmapped_type", "format"}
            is_calculated = str(name).startswith("_") and name not in ("_doc", "_score")
            if is_calculated or not _is_field(name) or direction not in ("asc", "desc") or not is_plain:
                raise ValueError("sort lists fields, each with asc or desc.")


def _check_on_field(kind: str, inside: Any) -> None:
    if not isinstance(inside, dict) or len(inside) != 1:
        raise ValueError(f"{kind} names exactly one field.")
    field, value = next(iter(inside.items()))
    _check_field(field)
    if isinstance(value, dict):
        _check_options(kind, value, _ON_FIELDS[kind])
    elif kind == "range" or not _is_scalar(value):
        raise ValueError(f"{kind} looks for a text, a number or true or false.")


def _check_options(kind: str, found: Any, known: Options) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"{kind} is an object.")
    for name, value in found.items():
        if name not in known:
            raise ValueError(f"{name[:60]} is nothing that may stand in {kind} here.")
        if not known[name](value):
            raise ValueError(f"{name} in {kind} is not what may stand there.")


def _check_terms(inside: Any) -> None:
    """A list of values. An object in its place looks the values up in another index."""
    if not isinstance(inside, dict) or len(inside) != 1:
        raise ValueError("terms names exactly one field.")
    field, values = next(iter(inside.items()))
    _check_field(field)
    if not isinstance(values, list) or len(values) > MOST_TERMS or not all(map(_is_scalar, values)):
        raise ValueError(f"terms lists at most {MOST_TERMS:,} values; they are not looked up elsewhere.")


def _check_query_string(inside: Any) -> None:
    """Lucene's query text without regular expressions, which can cost without end."""
    known: Options = {"query": _is_text, "default_field": _is_field, "default_operator": _is_operator}
    _check_options("query_string", inside, known)
    text = inside.get("query", "/")
    # A quote behind a backslash or within a range opens no phrase: with a slash, neither may stand outside of one.
    if "/" in text and set('/\\"[{') & set(_INERT.sub("", text)):
        raise ValueError("query_string is a text without regular expressions; quote what has a slash in it.")


def check_search(body: Any) -> None:
    """Raise ValueError with a sentence unless every part of this body of _search is listed."""
    Walk().body(body)


def check_count(body: Any) -> None:
    """Raise ValueError with a sentence unless every part of this body of _count is listed."""
    Walk().count(body)
