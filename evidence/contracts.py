"""Tool contracts: what a tool promises to take, to read and to give back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from audit import twohands
from audit.models import Definition
from evidence import arguments, desk, grammar
from evidence.errors import Refused

QUERY_TYPES = ("state", "metric", "mechanism")
# "live": the tool answers about the moment of the call, so it knows nothing of a decision point in the past.
VISIBILITY_SCOPES = ("live",)
# How rows become the result. "object": the one row's one column `result`, which is a JSON object. "row": {"row": …}
# with the one row, or null for none. "rows": {"rows": […]}. "query": {"columns": […], "rows": […]} of a SELECT that the
# agent itself writes, over the exposed schema of a source that allows it.
SHAPES = ("object", "row", "rows", "query")
QUERY_PARAMETERS = ["sql"]
# What an agent's own SELECT gives can be made up in it, so such a tool is never called what a rule reads.
QUERY_NAME = re.compile("query|sql_query_[a-z0-9_]+")
INVESTIGATION = "investigation"  # an argument of every tool: which investigation the call belongs to
PROPERTY = re.compile(r"[a-z][a-z0-9_]{0,62}")
LONGEST_PURPOSE = 500
KEYS = {
    "purpose", "source", "query_type", "input_schema", "output_schema", "sql", "parameters", "shape", "read_only",
    "returns_action_recommendations", "visibility_scope", "limitations",
}  # fmt: skip
EXAMPLE = {
    "purpose": "The state of one job.",
    "source": "myshop",
    "query_type": "state",
    "input_schema": {
        "type": "object",
        "properties": {"job_id": {"type": "integer", "minimum": 1}},
        "required": ["job_id"],
        "additionalProperties": False,
    },
    "output_schema": {
        "type": "object",
        "properties": {
            "row": {
                "type": ["object", "null"],
                "properties": {"job_id": {"type": "integer"}, "state": {"type": "string"}},
                "required": ["job_id", "state"],
                "additionalProperties": False,
            }
        },
        "required": ["row"],
        "additionalProperties": False,
    },
    "sql": "select job_id, state from myshop_read.jobs where job_id = $1::bigint",
    "parameters": ["job_id"],
    "shape": "row",
    "read_only": True,
    "returns_action_recommendations": False,
    "visibility_scope": "live",
    "limitations": [],
}


@dataclass(frozen=True)
class Contract:
    """The version of a tool that is in force."""

    name: str
    version: int
    digest: str
    purpose: str
    source: str
    query_type: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    sql: str
    parameters: list[str]
    shape: str
    visibility_scope: str
    limitations: list[str]

    @property
    def is_query(self) -> bool:
        """Whether the agent writes the SELECT."""
        return self.shape == "query"

    @classmethod
    def of(cls, definition: Definition) -> Contract:
        """The contract that a definition's body states."""
        body = definition.body
        stated = {key: body[key] for key in KEYS - {"read_only", "returns_action_recommendations"}}
        return cls(name=definition.name, version=definition.version, digest=definition.digest, **stated)

    def advertised_input(self) -> dict[str, Any]:
        """The input schema as agents see it: nothing but its properties, and which investigation the call is for."""
        which = {"type": "integer", "minimum": 1, "description": "Needed only when you run several investigations."}
        properties = {**self.input_schema.get("properties", {}), INVESTIGATION: which}
        return {**self.input_schema, "properties": properties, "additionalProperties": False}

    def misfit(self, given: dict[str, Any]) -> str:
        """Why the arguments do not fit, as one sentence; empty when they do. An unknown name never fits."""
        return arguments.misfit({**self.input_schema, "additionalProperties": False}, given)


def active(name: str) -> Contract | None:
    """The tool in force under this name, or None. An agent may ask for any text at all."""
    found = twohands.active("tool", name) if twohands.NAME.fullmatch(name) else None
    contract = Contract.of(found) if found else None
    return contract if contract is not None and _is_allowed(contract) else None


def all_active() -> list[Contract]:
    """Every tool in force, by name."""
    found = Definition.objects.filter(kind="tool", status=Definition.Status.ACTIVE).order_by("name")
    return [contract for contract in map(Contract.of, found) if _is_allowed(contract)]


def _is_allowed(contract: Contract) -> bool:
    """Whether its source lets agents write SELECTs of their own, where it is a tool for that."""
    if not contract.is_query:
        return True
    source = twohands.active("source", contract.source)
    return source is not None and source.body.get("query") is True


def check(name: str, body: dict[str, Any]) -> None:
    """Raise ValueError with a sentence unless the body is a contract of a tool that only reads and only reports."""
    if name in desk.DESK:
        raise ValueError(f"{name} is how agents hand something in; call the tool something else.")
    _check_keys(body)
    _check_promises(body)
    _check_words(body)
    _check_schemas(body)
    _check_statement(name, body)


def _check_keys(body: Any) -> None:
    if not isinstance(body, dict):
        raise ValueError("A tool is a JSON object.")
    missing, unknown = sorted(KEYS - set(body)), sorted(set(body) - KEYS)
    if missing:
        raise ValueError(f"A tool says its {missing[0]}; it is missing.")
    if unknown:
        raise ValueError(f"{unknown[0][:60]} is nothing that a tool says.")


def _check_promises(body: dict[str, Any]) -> None:
    if body["read_only"] is not True:
        raise ValueError("read_only must be true: an evidence tool changes nothing.")
    if body["returns_action_recommendations"] is not False:
        raise ValueError("returns_action_recommendations must be false: an evidence tool gives facts, no advice.")


def _check_words(body: dict[str, Any]) -> None:
    for key, choices in (("query_type", QUERY_TYPES), ("shape", SHAPES), ("visibility_scope", VISIBILITY_SCOPES)):
        if body[key] not in choices:
            raise ValueError(f"{key} is one of {', '.join(choices)}.")
    if not isinstance(body["purpose"], str) or not 0 < len(body["purpose"].strip()) <= LONGEST_PURPOSE:
        raise ValueError(f"purpose is a sentence of at most {LONGEST_PURPOSE} characters.")
    if not isinstance(body["source"], str) or not body["source"]:
        raise ValueError("source is the name of the source that the tool reads.")
    if not _are_texts(body["limitations"]):
        raise ValueError("limitations is a list of sentences.")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check_schemas(body: dict[str, Any]) -> None:
    for key in ("input_schema", "output_schema"):
        flaw = arguments.flaw(body[key])
        if flaw:
            raise ValueError(f"{key} is no usable JSON Schema: {flaw}")
    for name in body["input_schema"].get("properties", {}):
        if not PROPERTY.fullmatch(name) or name == INVESTIGATION:
            raise ValueError(
                f"The property {name[:60]} needs another name: a-z, digits and _, and not {INVESTIGATION}."
            )


def _check_statement(name: str, body: dict[str, Any]) -> None:
    parameters = body["parameters"]
    if not _are_texts(parameters):
        raise ValueError("parameters is the list of the properties that $1, $2, … stand for.")
    stray = next((name for name in parameters if name not in body["input_schema"].get("properties", {})), None)
    if stray is not None:
        raise ValueError(f"The parameter {stray[:60]} is no property of the input schema.")
    if not isinstance(body["sql"], str):
        raise ValueError("sql is the text of one SELECT.")
    if body["shape"] == "query":
        _check_query(name, body)
        return
    try:
        placeholders = grammar.check(body["sql"], 1).placeholders
    except Refused as refused:
        raise ValueError(refused.sentence) from refused
    if placeholders != len(parameters):
        raise ValueError(f"The SQL goes up to ${placeholders}, but there are {len(parameters)} parameters.")


def _check_query(name: str, body: dict[str, Any]) -> None:
    if not QUERY_NAME.fullmatch(name):
        raise ValueError("A tool whose SELECT the agent writes is called query, or sql_query_ with a word behind it.")
    given = body["input_schema"]
    properties = given.get("properties", {})
    is_text = isinstance(properties.get("sql"), dict) and properties["sql"].get("type") == "string"
    if body["sql"] or body["parameters"] != QUERY_PARAMETERS or set(properties) != set(QUERY_PARAMETERS) or not is_text:
        raise ValueError('A query has no sql of its own, and the string "sql" as its only property and parameter.')
    if given.get("required") != QUERY_PARAMETERS:
        raise ValueError("A query requires its property sql.")
