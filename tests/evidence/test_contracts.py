"""What a source and a tool must say to be drafted at all."""

from __future__ import annotations

import importlib
import pkgutil
from decimal import Decimal
from typing import Any

import pytest

from audit.models import Definition
from audit.twohands import KINDS
from evidence import arguments, contracts, kinds, sources
from evidence.contracts import Contract
from evidence.kinds import sql_tools
from gate.demo import definitions
from gate.triage import readers
from gate.triage.readers import document
from tests.evidence import bodies


@pytest.fixture(autouse=True)
def scratch_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What kind the source is of that a tool names; the demo's tools name theirs."""
    found = {"scratch": bodies.source(), "shop": definitions.source().body}
    known = {name: Definition(kind="source", name=name, body=body) for name, body in found.items()}
    monkeypatch.setattr(sources, "known", known.get)


def schema(**changes: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"job_id": {"type": "integer"}}, **changes}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"read_only": False}, "read_only must be true"),
        ({"read_only": 1}, "read_only must be true"),
        ({"read_only": "true"}, "read_only must be true"),
        ({"returns_action_recommendations": True}, "must be false"),
        ({"returns_action_recommendations": None}, "must be false"),
        ({"returns_action_recommendations": 0}, "must be false"),
        ({"query_type": "advice"}, "query_type is one of state, metric, mechanism"),
        ({"query_type": ["state"]}, "query_type"),
        ({"shape": "many"}, "shape is one of"),
        ({"visibility_scope": "all"}, "visibility_scope"),
        ({"purpose": " "}, "purpose"),
        ({"limitations": "none"}, "limitations"),
        ({"extra": 1}, "extra is nothing that a tool says"),
        ({"parameters": ["other"]}, "other is no property"),
        ({"parameters": []}, r"goes up to \$1"),
        ({"parameters": ["job_id", "job_id"]}, "there are 2 parameters"),
        ({"sql": "delete from app.jobs where id = $1"}, "Only a SELECT"),
        ({"sql": "select $1; select 2"}, "exactly one statement"),
        ({"sql": "select $1) as x, (select 1"}, "grammar|end the query"),
        ({"sql": 5}, "sql is the text"),
        ({"source": "unheard_of"}, "no source unheard_of; draft it first"),
        ({"request": {}}, "is nothing that a tool says"),
        ({"input_schema": {"type": "array"}}, "input_schema"),
        ({"input_schema": schema(required="job_id")}, "input_schema"),
        ({"input_schema": schema(properties={"job-id": {}})}, "needs another name"),
        ({"input_schema": schema(properties={"Investigation": {}})}, "needs another name"),
        ({"input_schema": schema(properties={"investigation": {}})}, "needs another name"),
        ({"output_schema": {"type": "object", "properties": {"a": {"type": "word"}}}}, "output_schema"),
        ({"output_schema": {"type": "object", "$ref": "http://127.0.0.1/x"}}, "leaves the document"),
        ({"output_schema": True}, "output_schema"),
        ({"output_schema": {"type": "object", "$ref": "#/$defs/none"}}, "leads nowhere"),
        ({"output_schema": schema(properties={"a": {"$ref": "#none"}})}, "leads nowhere"),
        ({"output_schema": {"type": "object", "$ref": "#"}}, "without end"),
        (
            {"output_schema": {"type": "object", "allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#"}}}},
            "without end",
        ),
    ],
)
def test_a_tool_that_promises_too_much_or_nothing_clear_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        contracts.check("find_job", bodies.tool(**changes))


QUERY: dict[str, Any] = {"sql": "", "parameters": ["sql"], "shape": "query", "input_schema": {
    "type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("find_job", {}, "is called query"),
        ("pg_select", {}, "is called query"),
        ("query_prometheus", {}, "is called query"),
        ("query", {"sql": "select 1"}, "no sql of its own"),
        ("query", {"parameters": []}, "no sql of its own"),
        ("query", {"input_schema": {**QUERY["input_schema"], "required": []}}, "requires its property sql"),
        ("query", {"input_schema": schema(required=["job_id"]), "parameters": ["job_id"]}, "no sql of its own"),
        ("query", {"input_schema": schema(properties={"sql": {"type": "integer"}}, required=["sql"])}, "no sql of its"),
    ],
)
def test_a_query_is_called_one_and_takes_nothing_but_its_statement(
    name: str, changes: dict[str, Any], says: str
) -> None:
    contracts.check("sql_query_shop", bodies.tool(**QUERY))
    with pytest.raises(ValueError, match=says):
        contracts.check(name, bodies.tool(**{**QUERY, **changes}))


def test_no_rule_reads_what_an_agents_own_query_gave() -> None:
    """Such a SELECT can make up any answer, so no reader may know a tool by one of these names."""
    for module in pkgutil.walk_packages(readers.__path__, f"{readers.__name__}."):
        importlib.import_module(module.name)
    found, left = set(), [document.Answer]
    while left:
        left += (below := left.pop().__subclasses__())
        found |= {name for reader in below for name in getattr(reader, "tools", ())}
    assert {"find_job", "pg_select", "query_prometheus"} <= found
    assert not [name for name in found if sql_tools.QUERY_NAME.fullmatch(name)]


@pytest.mark.parametrize("key", sorted(contracts.KEYS | contracts.SQL_KEYS))
def test_a_tool_says_everything(key: str) -> None:
    body = bodies.tool()
    del body[key]
    with pytest.raises(ValueError, match=f"{key}; it is missing"):
        contracts.check("find_job", body)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "csv"}, "one of .*postgresql"),
        ({"kind": None}, "one of"),
        ({"kind": ["postgresql"]}, "one of"),
        ({"reader_env": "postgresql://user:secret@host/db"}, "never stands here"),
        ({"reader_env": "DATABASE_URL"}, "never stands here"),
        ({"reader_env": "COUNTERSEAL_OWNER_URL"}, "never stands here"),
        ({"doctor_env": "SCRATCH_READER_DSN"}, "cannot prove itself"),
        ({"environment": ""}, "environment"),
        ({"schema": "a b"}, "schema"),
        ({"password": "x"}, "says exactly"),
    ],
)
def test_a_source_that_is_not_one_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        KINDS["source"].check("scratch", bodies.source(**changes))


@pytest.mark.parametrize("name", sorted(kinds.KINDS))
def test_every_kinds_own_example_is_valid(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kind = kinds.KINDS[name]
    assert kind.name == name == kind.source_example["kind"]
    KINDS["source"].check("example", dict(kind.source_example))
    example = Definition(kind="source", name="example", body=dict(kind.source_example))
    monkeypatch.setattr(sources, "known", {"example": example}.get)
    common = {key: value for key, value in contracts.EXAMPLE.items() if key not in contracts.SQL_KEYS}
    KINDS["tool"].check("find_example", {**common, "source": "example", **kind.tool_example})
    other = {"request": {}} if "sql" in kind.tool_example else {"sql": "select 1", "parameters": [], "shape": "row"}
    with pytest.raises(ValueError):
        KINDS["tool"].check("find_example", {**common, "source": "example", **other})


@pytest.mark.parametrize("body", [None, [], "x", [{"a": 1}]])
@pytest.mark.parametrize("kind", ["source", "tool"])
def test_a_body_that_is_no_object_is_refused(kind: str, body: Any) -> None:
    with pytest.raises(ValueError):
        KINDS[kind].check("x", body)


def test_the_demos_source_and_tools_are_valid() -> None:
    KINDS["source"].check("shop", definitions.source().body)
    for tool in definitions.tools():
        KINDS["tool"].check(tool.name, tool.body)


@pytest.mark.django_db
def test_a_contract_carries_its_definitions_hash(define: Any) -> None:
    definition = define("tool", "find_job", bodies.tool())
    contract = contracts.active("find_job")
    assert contract == Contract.of(definition)
    assert (contract.digest, contract.version) == (definition.digest, 1)
    advertised = contract.advertised_input()
    assert advertised["additionalProperties"] is False
    assert list(advertised["properties"]) == ["job_id", "investigation"]
    assert advertised["required"] == ["job_id"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, "job_id is missing."),
        ({"job_id": "s3cr3t"}, "job_id must be of type integer."),
        ({"job_id": True}, "job_id must be of type integer."),
        ({"job_id": 1.0}, "job_id must be of type integer."),
        ({"job_id": 1, "\ud800\0": 1}, "\\ud800\\u0000 is not a property of this tool."),
        ({"job_id": 1, "other": "s3cr3t"}, "other is not a property of this tool."),
        ({"job_id": 1, "at": "s3cr3t"}, "at breaks the rule format: date-time."),
        ({"job_id": 1, "at": "2026-01-02T03:04:05"}, "at breaks the rule format: date-time."),
        ({"job_id": 1, "at": "2026-01-02T03:04:05Z"}, ""),
        ({"job_id": 0}, "job_id breaks the rule minimum: 1."),
    ],
)
def test_a_misfit_names_the_property_and_never_the_value(value: dict[str, Any], says: str) -> None:
    given = schema(
        properties={"job_id": {"type": "integer", "minimum": 1}, "at": {"type": "string", "format": "date-time"}},
        required=["job_id"],
        additionalProperties=False,
    )
    assert arguments.misfit(given, value) == says


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "abc\n", False),
        ("^(a$|b)", "a\n", False),
        (r"^\d{2}$", "12", True),
        (r"^\d{2}$", "١٢", False),
        (r"^\$$", "$", True),
        (r"^[$\]]+$", "$]", True),
    ],
)
def test_a_pattern_means_what_json_schema_says(pattern: str, value: str, fits: bool) -> None:
    given = schema(properties={"a": {"type": "string", "pattern": pattern}})
    assert (arguments.misfit(given, {"a": value}) == "") is fits


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"$ref": "#/$defs/none"}, 1),
        ({"$ref": "#/properties/a"}, 1),
        ({"multipleOf": 0.1}, Decimal("0.3")),
        ({"format": "regex"}, "(" * 20_000),
    ],
)
def test_what_cannot_be_checked_does_not_fit(rule: dict[str, Any], value: Any) -> None:
    assert "cannot be applied" in arguments.misfit(schema(properties={"a": rule}), {"a": value})


@pytest.mark.parametrize(
    "name", ["start_investigation", "submit_findings", "propose_write", "write_questions", "write_status"]
)
def test_no_evidence_tool_takes_the_name_of_a_desk_tool(name: str) -> None:
    with pytest.raises(ValueError, match="hand something in"):
        contracts.check(name, bodies.tool())
