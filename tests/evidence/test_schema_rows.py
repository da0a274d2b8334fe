"""A schema as people read it, and on which line something stands in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import json_places, schema_rows
from gate.demo import definitions
from tests.evidence import bodies


def test_a_row_says_what_is_promised_of_a_field() -> None:
    schema = {
        "type": "object",
        "properties": {
            "job_id": {"type": "integer", "minimum": 1, "description": "Which job."},
            "state": {"enum": ["queued", None]},
            "attempts": {"type": "array", "items": {"type": "object", "properties": {"error": {"type": ["string",
            "null"]}}}},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3},
            "any": True, "ref": {"$ref": "#/$defs/x"}, "not": {"not": {}},
        },
        "required": ["job_id", "state"],
    }  # fmt: skip
    said = {row.path: row for row in schema_rows.rows(schema)}
    assert list(said) == ["job_id", "state", "attempts", "attempts[].error", "tags", "any", "ref", "not"]
    assert (said["job_id"].types, said["job_id"].promises) == ("integer", "Which job., at least 1")
    assert (said["state"].types, said["state"].promises) == ("value", "one of queued, null")
    assert said["attempts[].error"].types == "string or null"
    assert (said["tags"].types, said["tags"].promises) == (
        "list of string", "items at most 3, each length at most 5",
    )  # fmt: skip
    assert [path for path, row in said.items() if row.is_required] == ["job_id", "state"]
    assert [path for path, row in said.items() if row.says_more] == ["ref", "not"]


def test_fields_behind_a_choice_are_shown() -> None:
    rows = {row.path: row.types for row in schema_rows.rows(bodies.tool()["output_schema"])}
    assert rows == {"job": "object or null", "job.id": "integer", "job.state": "value"}


def named(schema: Any) -> set[str]:
    """The names of all properties."""
    if isinstance(schema, list):
        return set().union(*map(named, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(named, schema.values()))


@pytest.mark.parametrize("tool", [*definitions.tools(), definitions.query()], ids=lambda tool: str(tool.name))
def test_every_field_of_a_contract_has_a_row(tool: Any) -> None:
    for key in ("input_schema", "output_schema"):
        rows = schema_rows.rows(tool.body[key])
        assert {row.path.replace("[]", "").rpartition(".")[2] for row in rows} == named(tool.body[key])
        assert not [row for row in rows if row.says_more or row.types == "?"]


DRAWN = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
SCHEMA = st.recursive(
    JSON,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.text(max_size=3), inner, max_size=3),
            "items": inner, "anyOf": st.lists(inner),
            "type": st.sampled_from(["object", "array", ["string", "null"], 5]), "required": inner, "enum": inner,
        },
    ),
    max_leaves=12,
)  # fmt: skip


@DRAWN
@given(SCHEMA)
def test_anything_at_all_can_be_shown(schema: Any) -> None:
    for row in schema_rows.rows(schema):
        assert row.types
    schema_rows.is_closed(schema)


def pointers(value: Any, path: str = "") -> list[str]:
    found = [path]
    if isinstance(value, dict):
        for name, child in value.items():
            found += pointers(child, f"{path}/{name.replace('~', '~0').replace('/', '~1')}")
    if isinstance(value, list):
        for number, child in enumerate(value):
            found += pointers(child, f"{path}/{number}")
    return found


@DRAWN
@given(JSON, st.sampled_from([None, 1, 2]), st.booleans())
def test_what_a_pointer_names_is_found_in_any_spelling_of_a_text(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert all(json_places.line_of(text, pointer) is not None for pointer in pointers(value))
    assert json_places.line_of(text, "/no such name at all") is None


def test_the_line_is_that_of_the_name() -> None:
    text = '{"a": 1,\n  "b": [\n    10,\n    {"a": "b",\n     "c~/d": {}}\n  ]\n}'
    lines = {"/a": 1, "/b": 2, "/b/0": 3, "/b/1": 4, "/b/1/a": 4, "/b/1/c~0~1d": 5, "": 1}
    assert {pointer: json_places.line_of(text, pointer) for pointer in lines} == lines
    assert json_places.line_of(text, "/b/2") is None


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a" 1}', "[1", "[" * 100_000, "nope"])
def test_what_is_no_json_has_no_lines(text: str) -> None:
    assert json_places.line_of(text, "/a") is None
