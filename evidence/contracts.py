"""Tool contracts: what a tool promises to take, to read and to give back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jsonschema.protocols import Validator

from audit import twohands, versions
from audit.at_once import Asked, ask
from audit.models import Definition
from audit.payloads import LARGEST_PAYLOAD
from evidence import arguments, contract_lint, desk, kinds, scope, sources
from evidence.bounds import DEFAULT
from evidence.metrics import serving
from evidence.scope import Scope

QUERY_TYPES = ("state", "metric", "mechanism")
# "live": the tool answers about the moment of the call, so it knows nothing of a decision point in the past.
VISIBILITY_SCOPES = {"live": "the moment of each call"}
INVESTIGATION = "investigation"  # an argument of every tool: which investigation the call belongs to
PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
LONGEST_PURPOSE = 500
MOST_KEPT = 1000
_contracts: dict[int, tuple[Definition, Contract]] = {}
# What tools of all kinds say. Beside it stands how the tool reads: see `reading`.
KEYS = {
    "purpose", "source", "query_type", "input_schema", "output_schema", "read_only", "returns_action_recommendations",
    "visibility_scope", "limitations",
}  # fmt: skip
SQL_KEYS = {"sql", "parameters", "shape"}  # of kinds that are read by SQL: see evidence.kinds.sql_tools
# What a tool may say besides: caps of its answers below those of every tool.
OPTIONAL = {"max_rows", "max_bytes"}
REQUEST_KEYS = {"request"}  # of kinds that are read over HTTP; each states what a request of its own holds
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
    "read_only": True,
    "returns_action_recommendations": False,
    "visibility_scope": "live",
    "limitations": [],
    **kinds.KINDS["postgresql"].tool_example,
}


@dataclass(frozen=True)
class Contract:
    """The version of a tool that is in force. It has either an sql, its parameters and its shape, or a request."""

    name: str
    version: int
    digest: str
    purpose: str
    source: str
    query_type: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    visibility_scope: str
    limitations: list[str]
    sql: str = ""
    parameters: list[str] = field(default_factory=list)
    shape: str = ""
    request: dict[str, Any] | None = None
    max_rows: int | None = None
    max_bytes: int | None = None

    @property
    def is_query(self) -> bool:
        """Whether the agent writes the SELECT."""
        return self.shape == "query"

    @classmethod
    def of(cls, definition: Definition) -> Contract:
        """The contract that a definition's body states."""
        body = definition.body
        said = (KEYS | reading(body) | (OPTIONAL & set(body))) - {"read_only", "returns_action_recommendations"}
        stated = {key: body[key] for key in said}
        return cls(name=definition.name, version=definition.version, digest=definition.digest, **stated)

    def is_offered(self, within: Scope) -> bool:
        """Whether an investigation's class offers the tool, and it can speak about its decision point."""
        return scope.is_offered(self.name, self.visibility_scope, within)

    def advertised_input(self) -> dict[str, Any]:
        """The input schema as agents see it: nothing but its properties, and which investigation the call is for."""
        which = {"type": "integer", "minimum": 1, "description": "Needed only when you run several investigations."}
        properties = {**self.input_schema.get("properties", {}), INVESTIGATION: which}
        return {**self.input_schema, "properties": properties, "additionalProperties": False}

    def misfit(self, given: dict[str, Any]) -> str:
        """Why the arguments do not fit, as one sentence; empty when they do. An unknown name never fits."""
        return arguments.misfit(self._input, given)

    def misfit_of_result(self, result: dict[str, Any]) -> str:
        """Why a result is not what the contract promises, as one sentence; empty when it is."""
        return arguments.misfit(self._output, result)

    @cached_property
    def _input(self) -> Validator:
        return arguments.checker({**self.input_schema, "additionalProperties": False})

    @cached_property
    def _output(self) -> Validator:
        return arguments.checker(self.output_schema)


def reading(body: Mapping[str, Any]) -> set[str]:
    """The keys by which a body says how the tool reads: a request where it has one, else a statement."""
    return REQUEST_KEYS if "request" in body else SQL_KEYS


def active(name: str) -> Contract | None:
    """The tool in force under this name, or None. An agent may ask for any text at all."""
    return ask(asked(name))


def asked(name: str) -> Asked[Contract | None]:
    """The same as a statement, for who asks for more at once."""
    return versions.asked("tool", name if twohands.NAME.fullmatch(name) else "").then(_offered)


def _offered(found: Definition | None) -> Contract | None:
    contract = _kept(found) if found else None
    return contract if contract is not None and _is_allowed(contract) else None


def _kept(definition: Definition) -> Contract:
    """The contract of a version that this process keeps: with what checks by its schemas, it is made once."""
    known = _contracts.get(definition.pk)
    if known is None or known[0] is not definition:
        if len(_contracts) >= MOST_KEPT:
            _contracts.clear()
        known = _contracts[definition.pk] = (definition, Contract.of(definition))
    return known[1]


def all_active() -> list[Contract]:
    """Every tool in force, by name."""
    found = Definition.objects.filter(kind="tool", status=Definition.Status.ACTIVE).order_by("name")
    return [contract for contract in map(Contract.of, found) if _is_allowed(contract)]


def _is_allowed(contract: Contract) -> bool:
    """Whether its source lets agents write SELECTs of their own, where it is a tool for that."""
    if not contract.is_query:
        return True
    source = versions.active("source", contract.source)
    return source is not None and source.body.get("query") is True


def check(name: str, body: dict[str, Any]) -> None:
    """Raise ValueError with a sentence unless the body is a contract of a tool that only reads and only reports."""
    if name in desk.DESK:
        raise ValueError(f"{name} is how agents hand something in; call the tool something else.")
    if name in serving.TOOLS.values():
        raise ValueError(f"{name} is how agents ask about metrics; call the tool something else.")
    _check_keys(body)
    _check_promises(body)
    _check_words(body)
    _check_schemas(body)
    contract_lint.check(name, body)
    _check_reading(name, body)


def _check_keys(body: Any) -> None:
    if not isinstance(body, dict):
        raise ValueError("A tool is a JSON object.")
    known = KEYS | reading(body)
    missing, unknown = sorted(known - set(body)), sorted(set(body) - known - OPTIONAL)
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
    for key, choices in (("query_type", QUERY_TYPES), ("visibility_scope", VISIBILITY_SCOPES)):
        if body[key] not in choices:
            raise ValueError(f"{key} is one of {', '.join(choices)}.")
    for key, most in (("max_rows", DEFAULT.rows), ("max_bytes", LARGEST_PAYLOAD)):
        if key in body and not (type(body[key]) is int and 0 < body[key] <= most):
            raise ValueError(f"{key} is a whole number from 1 to {most:,}, which is the cap of every tool.")
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
        if not PROPERTY.fullmatch(name) or name.lower() == INVESTIGATION:
            raise ValueError(
                f"The property {name[:60]} needs another name: letters, digits and _, and not {INVESTIGATION}."
            )


def _check_reading(name: str, body: dict[str, Any]) -> None:
    """The kind of the source says whether the tool can read it so. A source is known as soon as it is drafted."""
    source = sources.known(body["source"])
    if source is None:
        raise ValueError(f"There is no source {body['source'][:60]}; draft it first.")
    kinds.of(source).check_tool(name, body)
