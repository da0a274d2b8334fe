"""What is sent to Elasticsearch or OpenSearch: an endpoint of three, and a body that was read against the closed list.

A contract's request is one of
  {"endpoint": "_search", "index": "logs-*", "body": {"query": …, "aggs": …}}        and the same with "_count",
  {"endpoint": "_query", "query": "FROM logs-* | WHERE service == ?service | …", "params": {"service": …}},
with {"argument": "name"} in the place of a value, of the index, or of the whole body or query. The latter only where
the source says "query": true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import bound
from evidence.kinds.elasticsearch import clauses, esql, indexes
from evidence.kinds.elasticsearch.completeness import COUNT, DEFAULT_SIZE, ESQL, SEARCH
from evidence.kinds.http import encoding

KEYS = {SEARCH: {"endpoint", "index", "body"}, COUNT: {"endpoint", "index", "body"}, ESQL: {"endpoint", "query"}}
OPTIONAL = {SEARCH: set[str](), COUNT: set[str](), ESQL: {"params"}}
SHARE_OF_TIME = 0.8  # of the time that a call has, the server gets: the rest brings the answer back
# How rules call what a search is asked for: an argument of that name is that part of the request, and no other.
PLACES = {
    **dict.fromkeys(("body", "query_body", "queryBody"), ("body",)),
    **dict.fromkeys(("index", "indices", "index_pattern"), ("index",)),
    **dict.fromkeys(("query", "esql"), ("query",)),
    **dict.fromkeys(("q", "query_string", "aggs", "aggregations"), ()),
}
_CHECKS = {SEARCH: clauses.check_search, COUNT: clauses.check_count}
# A value that could stand in an argument's place, for reading a template before there is one.
_PROBES: Mapping[Any, Any] = {"integer": 1, "number": Decimal(1), "boolean": True, "array": ["x"]}


@dataclass(frozen=True)
class Asked:
    """A request: where it goes, its body, and what its answer is judged by (see completeness.incomplete)."""

    target: str
    body: dict[str, Any]
    about: dict[str, Any]


def check(request: Any, tool: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the request can become nothing but a read."""
    endpoint = request.get("endpoint") if isinstance(request, dict) else None
    if endpoint not in KEYS:
        raise ValueError(f"The endpoint of a request is one of {', '.join(sorted(KEYS))}.")
    if set(request) - OPTIONAL[endpoint] != KEYS[endpoint]:
        raise ValueError(f"A request to {endpoint} says exactly {', '.join(sorted(KEYS[endpoint]))}.")
    bound.check(request, tool, must_be_given=True)
    _check_places(request)
    if endpoint == ESQL:
        _check_query(request)
        return
    if not bound.is_argument(request["index"]):
        indexes.check([request["index"]])
    if not bound.is_argument(request["body"]):
        _check_texts(request["body"])
        _CHECKS[endpoint](bound.bind(request["body"], _probes(tool)))


def _check_places(request: Mapping[str, Any]) -> None:
    """What stands deeper is a value among others, in no place that a rule knows by name."""
    top = {key: part for key, part in request.items() if bound.is_argument(part)}
    deeper = [part for key, part in request.items() if key not in top]
    inside = [{bound.ARGUMENT: name} for part in deeper for name in bound.names(part)]
    bound.check_places({**top, "": inside}, PLACES)


def _probes(tool: Mapping[str, Any]) -> dict[str, Any]:
    properties = tool["input_schema"].get("properties", {})
    return {name: _PROBES.get(_type(schema), "x") for name, schema in properties.items()}


def _type(schema: Any) -> str:
    found = schema.get("type") if isinstance(schema, dict) else None
    return found if isinstance(found, str) else ""


def _check_texts(template: Any) -> None:
    """An argument in Lucene's query text could say much more than a value."""
    for kind, inside in _pairs(template):
        if kind == "query_string" and list(bound.names(inside)):
            raise ValueError("A query_string is written by the contract alone; take match_phrase for an argument.")


def _pairs(template: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(template, dict):
        yield from template.items()
    children = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    for child in children:
        yield from _pairs(child)


def _check_query(request: Mapping[str, Any]) -> None:
    """A fixed query takes its arguments as parameters; one that the agent writes has none besides."""
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise ValueError("params is an object: the names behind the question marks, with their values.")
    if bound.is_argument(request["query"]):
        if params:
            raise ValueError("A query that the agent writes takes no params.")
        return
    found = esql.parse(request["query"], esql.named(request["query"]))
    indexes.check(list(found.indexes))
    if found.parameters != set(params):
        raise ValueError("params names exactly what stands behind a question mark in the query.")


def compose(request: Mapping[str, Any], source: Mapping[str, Any], given: Mapping[str, Any], limits: Limits) -> Asked:
    """The request with the agent's arguments in it. Raises Refused("parameters") for what may not be asked."""
    try:
        _check_own(request, source)
        _check_values(request, given)
        filled = bound.bind(request, given)
        return _query(filled, source) if request["endpoint"] == ESQL else _search(filled, source, limits)
    except ValueError as error:
        raise Refused("parameters", str(error)) from error


def _check_own(request: Mapping[str, Any], source: Mapping[str, Any]) -> None:
    is_own = any(bound.is_argument(request.get(key)) for key in ("body", "query"))
    if is_own and source.get("query") is not True:
        raise ValueError("This source takes no searches that agents write; its tools have their own.")


def _check_values(request: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """An argument stands for a value or a list of values. For a clause it stands only as the whole body."""
    missing = sorted(name for name in bound.names(request) if given.get(name) is None)
    if missing:
        raise ValueError(f"{missing[0]} has a value; without it the question would be a wider one.")
    for key, part in request.items():
        if bound.is_argument(part) and key in ("body", "query"):
            continue
        for name in bound.names(part):
            value = given.get(name)
            items = value if isinstance(value, list) else [value]
            if any(isinstance(item, dict | list) for item in items):
                raise ValueError(f"{name} is a value or a list of values.")


def _search(filled: Mapping[str, Any], source: Mapping[str, Any], limits: Limits) -> Asked:
    endpoint, body = filled["endpoint"], filled["body"]
    indexes.check_one(filled["index"], source["indexes"])
    _CHECKS[endpoint](body)
    target = f"/{encoding.segment(filled['index'])}/{endpoint}"
    if endpoint == COUNT:
        return Asked(target, body, {"endpoint": COUNT})
    size = body.get("size", DEFAULT_SIZE)
    if size > limits.rows:
        raise ValueError(f"size goes up to {limits.rows:,} here.")
    # Counted to the end, or what is not there could not be told from what was not counted.
    milliseconds = int(limits.seconds * SHARE_OF_TIME * 1_000)
    sent = {**body, "size": size, "track_total_hits": True, "timeout": f"{milliseconds}ms"}
    return Asked(target, sent, {"endpoint": SEARCH, "size": size})


def _query(filled: Mapping[str, Any], source: Mapping[str, Any]) -> Asked:
    query = esql.parse(filled["query"], source["indexes"])
    params = filled.get("params", {})
    if query.parameters != set(params):
        raise ValueError("A query that an agent writes says its values in the text, without question marks.")
    named = [{name: value} for name, value in sorted(params.items())]
    sent = {"query": filled["query"], **({"params": named} if named else {})}
    return Asked(f"/{ESQL}", sent, {"endpoint": ESQL, "limit": query.limit, "one_row": query.one_row})
