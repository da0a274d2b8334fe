"""What the tools of all SQL kinds share: how a contract names its statement, and how rows become its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evidence.errors import Refused
from evidence.kinds.kind import Found

if TYPE_CHECKING:
    from evidence.contracts import Contract

# How rows become the result. "object": the one row's one column `result`, which is a JSON object. "row": {"row": …}
# with the one row, or null for none. "rows": {"rows": […]}. "query": {"columns": […], "rows": […]} of a SELECT that the
# agent itself writes, over the exposed schema of a source that allows it.
SHAPES = ("object", "row", "rows", "query")
QUERY_PARAMETERS = ["sql"]
# What an agent's own SELECT gives can be made up in it, so such a tool is never called what a rule reads.
QUERY_NAME = re.compile("query|sql_query_[a-z0-9_]+")
Rows = Sequence[dict[str, Any]]


def check(name: str, body: Mapping[str, Any], placeholders: Callable[[str], int], last: str) -> None:
    """Raise ValueError with a sentence unless the body's sql, parameters and shape go together.

    `placeholders` counts what a checked statement leaves open and raises Refused for what is no read; `last` says in
    words what it counted, with {} for the number.
    """
    if "sql" not in body:
        raise ValueError("A tool of this kind of source says its sql, parameters and shape, and has no request.")
    _check_parameters(body)
    if body["shape"] not in SHAPES:
        raise ValueError(f"shape is one of {', '.join(SHAPES)}.")
    if body["shape"] == "query":
        _check_query(name, body)
        return
    try:
        found = placeholders(body["sql"])
    except Refused as refused:
        raise ValueError(refused.sentence) from refused
    if found != len(body["parameters"]):
        raise ValueError(f"The SQL {last.format(found)}, but there are {len(body['parameters'])} parameters.")


def _check_parameters(body: Mapping[str, Any]) -> None:
    parameters = body["parameters"]
    if not isinstance(parameters, list) or not all(isinstance(item, str) for item in parameters):
        raise ValueError("parameters is the list of the properties that the statement's placeholders stand for.")
    stray = next((name for name in parameters if name not in body["input_schema"].get("properties", {})), None)
    if stray is not None:
        raise ValueError(f"The parameter {stray[:60]} is no property of the input schema.")
    if not isinstance(body["sql"], str):
        raise ValueError("sql is the text of one SELECT.")


def _check_query(name: str, body: Mapping[str, Any]) -> None:
    if not QUERY_NAME.fullmatch(name):
        raise ValueError("A tool whose SELECT the agent writes is called query, or sql_query_ with a word behind it.")
    given = body["input_schema"]
    properties = given.get("properties", {})
    is_text = isinstance(properties.get("sql"), dict) and properties["sql"].get("type") == "string"
    if body["sql"] or body["parameters"] != QUERY_PARAMETERS or set(properties) != set(QUERY_PARAMETERS) or not is_text:
        raise ValueError('A query has no sql of its own, and the string "sql" as its only property and parameter.')
    if given.get("required") != QUERY_PARAMETERS:
        raise ValueError("A query requires its property sql.")


def shaped(contract: Contract, columns: Sequence[str], rows: Rows, truncated: bool) -> Found:
    """The result in the contract's shape. Raises Refused when the rows do not have it."""
    if contract.shape == "rows":
        return Found({"rows": rows}, truncated)
    if contract.is_query:
        return Found({"columns": columns, "rows": rows}, truncated)
    if truncated:
        # One row that a limit cut is no row; that it is absent would be a lie.
        raise Refused("truncated", "The result is larger than a tool may give back; narrow the arguments.")
    if len(rows) > 1:
        raise Refused("wrong_shape", f"The tool promises one row and its read found {len(rows)}.")
    if contract.shape == "row":
        return Found({"row": rows[0] if rows else None})
    return Found(_object(columns, rows))


def _object(columns: Sequence[str], rows: Rows) -> dict[str, Any]:
    result = rows[0].get("result") if rows and list(columns) == ["result"] else None
    if not isinstance(result, dict):
        raise Refused("wrong_shape", "The tool promises one object in one column called result; its read found none.")
    return result
