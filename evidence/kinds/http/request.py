"""What a contract of the kind http asks for: one GET, of a path and a query in which arguments have their places.

    {"path": "/v1/charges/{charge_id}/refunds",
     "query": {"expand": "charge", "limit": {"argument": "limit"}},
     "headers": {"Accept-Language": "en"},
     "whole": [{"false": "/has_more"}]}

An argument is one whole segment of the path, or the value of one parameter. `whole` states by what an answer shows that
nothing of it is left out (evidence.kinds.http.completeness).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.errors import Refused
from evidence.kinds.http import completeness, encoding, site
from evidence.kinds.http.endpoints import argument_of

NEEDED = {"path", "whole"}
OPTIONAL = {"query", "headers"}
SEGMENT = re.compile(r"[A-Za-z0-9_~@:-][A-Za-z0-9._~@:-]*")
PLACE = re.compile(r"\{([a-z][a-z0-9_]{0,62})\}")
PARAMETER = re.compile(r"[A-Za-z0-9_.\[\]$-]{1,64}")
LONGEST_FIXED = 500


@dataclass(frozen=True)
class Asked:
    """What is sent: path and query, the query's parameters, and headers."""

    target: str
    parameters: Mapping[str, Any]
    headers: tuple[tuple[str, str], ...]


def check(body: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the contract's request can be sent, and says what it sends."""
    request = body.get("request")
    if not isinstance(request, dict) or set(request) - OPTIONAL != NEEDED:
        raise ValueError("A request says its path and what shows it whole, and may say query and headers.")
    _check_path(request["path"])
    _check_query(request.get("query", {}))
    site.check_headers(request.get("headers", {}))
    completeness.check(request["whole"], request.get("query", {}))
    _check_arguments(request, body["input_schema"])


def _check_path(path: Any) -> None:
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError("path begins with a slash; it stands behind the source's url.")
    for part in path.removesuffix("/").split("/")[1:]:
        if not SEGMENT.fullmatch(part) and not PLACE.fullmatch(part):
            raise ValueError(f"{part[:60]} is no segment of a path: plain characters, or one argument like {{job_id}}.")


def _check_query(query: Any) -> None:
    if not isinstance(query, dict) or not all(map(PARAMETER.fullmatch, query)):
        raise ValueError(
            "query is an object: names of parameters with fixed texts, or with the argument that they take."
        )
    for name, value in query.items():
        is_fixed = isinstance(value, str) and len(value) <= LONGEST_FIXED and value.isprintable()
        if not is_fixed and argument_of(value) is None:
            raise ValueError(f'The parameter {name} is a fixed text, or {{"argument": "…"}}.')


def _check_arguments(request: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    properties, required = set(schema.get("properties", {})), set(schema.get("required", []))
    in_path, in_query = set(PLACE.findall(request["path"])), set(_in_query(request))
    lost = sorted((in_path | in_query) - properties)
    if lost:
        raise ValueError(f"The argument {lost[0][:60]} is no property of the input schema.")
    idle = sorted(properties - in_path - in_query)
    if idle:
        raise ValueError(f"The argument {idle[0][:60]} is asked for and not sent; a rule could take it for sent.")
    optional = sorted(in_path - required)
    if optional:
        raise ValueError(f"The argument {optional[0][:60]} stands in the path, so the input schema requires it.")


def _in_query(request: Mapping[str, Any]) -> Iterator[str]:
    found = (argument_of(value) for value in request.get("query", {}).values())
    return (argument for argument in found if argument is not None)


def sent(request: Mapping[str, Any], given: Mapping[str, Any]) -> Asked:
    """What a checked request comes to with these arguments. Raises Refused."""
    parts = [_segment(part, given) for part in request["path"].split("/")]
    said = {name: _value(value, given) for name, value in request.get("query", {}).items()}
    parameters = {name: value for name, value in said.items() if value is not None}
    headers = tuple(sorted(request.get("headers", {}).items()))
    return Asked("/".join(parts) + encoding.query(parameters.items()), parameters, headers)


def _segment(part: str, given: Mapping[str, Any]) -> str:
    place = PLACE.fullmatch(part)
    if place is None:
        return part
    if given.get(place[1]) is None:
        raise Refused("parameters", f"The argument {place[1]} is needed: it stands in the path.")
    return encoding.segment(given[place[1]])


def _value(said: Any, given: Mapping[str, Any]) -> Any:
    argument = argument_of(said)
    return said if argument is None else given.get(argument)
