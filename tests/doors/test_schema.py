"""The agents' API against its own OpenAPI: whatever is sent, it answers what the schema says and never breaks.

Bodies are drawn from the schema: fitting ones, ones that are spoiled in one place, and nonsense.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.doors.conftest import World
from tests.doors.test_urls import enter, undone
from tests.evidence import bodies
from tests.evidence.conftest import certified, dsn_of, scratch_cluster, source  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db
EXAMPLES = 25
OPERATIONS = (
    "list_tools", "call_tool", "report_incident", "start_investigation", "submit_findings", "propose_write",
    "write_status",
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20) | st.sampled_from(["\0", "\ud800", "I-1", "A-1", "W-1", "2026-11-29T02:10:44Z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
Strategy = st.SearchStrategy[Any]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The OpenAPI document, as the plane serves it."""
    stated = SchemaGenerator(urlconf="gate.config.urls_agents").get_schema(public=True)
    return dict(json.loads(json.dumps(stated)))


def operations(schema: dict[str, Any]) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Each operation by its id: its path, its method, and what the schema says of it."""
    return {
        about["operationId"]: (path, method, about)
        for path, methods in schema["paths"].items()
        for method, about in methods.items()
    }


def test_every_operation_is_drawn(schema: dict[str, Any]) -> None:
    assert set(operations(schema)) == set(OPERATIONS), "Add a new operation to OPERATIONS."


def fitting(schema: dict[str, Any], part: dict[str, Any]) -> Strategy:
    """Values that fit a part of the schema. A word of the schema that is not known here draws anything."""
    if "$ref" in part:
        return fitting(schema, schema["components"]["schemas"][part["$ref"].rpartition("/")[2]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    for several in ("oneOf", "anyOf", "allOf"):
        if several in part:
            return st.one_of([fitting(schema, each) for each in part[several]])
    kinds = part.get("type", [])
    return st.one_of([_of(kind, schema, part) for kind in ([kinds] if isinstance(kinds, str) else kinds)] or [ANYTHING])


def _of(kind: str, schema: dict[str, Any], part: dict[str, Any]) -> Strategy:
    if kind == "object":
        return _object(schema, part)
    if kind == "array":
        return st.lists(fitting(schema, part.get("items", {})), max_size=3)
    if kind == "string" and part.get("format") == "date-time":
        return st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat())
    if kind == "string" and "pattern" in part:
        return st.from_regex(part["pattern"], fullmatch=True)
    least = max(part.get("minimum", 0), 0)
    plain: dict[str, Strategy] = {
        "string": st.text(min_size=1, max_size=min(part.get("maxLength", 30), 300)),
        "integer": st.integers(least, 2**31) | st.just(2**70),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return plain[kind]


def _object(schema: dict[str, Any], part: dict[str, Any]) -> Strategy:
    named = {name: fitting(schema, inner) for name, inner in part.get("properties", {}).items()}
    if not named:
        return st.dictionaries(st.text(max_size=10), ANYTHING, max_size=3)
    required = {name: named.pop(name) for name in part.get("required", []) if name in named}
    return st.fixed_dictionaries(required, optional=named)


@st.composite
def spoiled(draw: st.DrawFn, whole: Strategy) -> Any:
    """A fitting body with one thing wrong."""
    body = draw(whole)
    if not isinstance(body, dict):
        return draw(ANYTHING)
    name = draw(st.sampled_from(sorted(body)) if body else st.text(max_size=5))
    return {**body, draw(st.just(name) | st.text(max_size=5)): draw(ANYTHING)}


@pytest.fixture
def api(world: World, define: Callable[..., Any], certified: Any, settings: Any) -> World:  # noqa: F811
    """The agents' plane with a proven source, and a tool that reads it."""
    define("tool", "find_job", bodies.tool())
    enter(settings, "agents")
    return world


@pytest.mark.parametrize("holder", ["agent", "intake"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_answers_what_its_schema_says(api: World, schema: dict[str, Any], operation: str, holder: str) -> None:
    path, method, about = operations(schema)[operation]
    token = api.agent_token if holder == "agent" else api.intake_token
    client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)
    is_welcome = (operation == "report_incident") == (holder == "intake")

    @settings(
        max_examples=EXAMPLES if is_welcome else 5, derandomize=True, database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        address, body = data.draw(where(path, api)), data.draw(what(schema, about, api))
        with undone():
            answer = client.generic(method.upper(), address, body, content_type="application/json")
            check(schema, about, answer, f"{method.upper()} {address} {body!r}")

    try_one()


def where(path: str, world: World) -> Strategy:
    """Addresses: of what there is, and of what cannot be."""
    known = {
        "{investigation}": world.numbers("investigations"), "{id}": world.numbers("writes"),
        "{name}": ["find_job", "start_investigation", "submit_findings", "propose_write", "write_status"],
    }  # fmt: skip
    for part, values in known.items():
        if part in path:
            odd = st.integers(0, 2**80) | st.text(min_size=1, max_size=9).filter(lambda text: text not in (".", ".."))
            chosen = st.sampled_from(values) | odd
            return chosen.map(lambda value, part=part: path.replace(part, quote(str(value), safe="", errors="ignore")))
    assert "{" not in path, f"Say in `where` what there is at {path}."
    return st.just(path)


def what(schema: dict[str, Any], about: dict[str, Any], world: World) -> Strategy:
    """Bodies as text."""
    if "requestBody" not in about:
        return st.just("")
    fits = fitting(schema, about["requestBody"]["content"]["application/json"]["schema"])
    if about["operationId"] == "report_incident":
        fits = fits.map(lambda body: {**body, "class": "job_failed"}) | fits
    if about["operationId"] == "call_tool":
        jobs = st.fixed_dictionaries({"job_id": st.integers(1, 2**70)})
        fits = st.fixed_dictionaries({"arguments": jobs, "investigation": st.just(world.running.pk)}) | fits
    return (fits | spoiled(fits) | ANYTHING).map(json.dumps) | st.text(st.characters(codec="utf-8"), max_size=20)


def check(schema: dict[str, Any], about: dict[str, Any], answer: Any, asked: str) -> None:
    """It did not break, and the answer has the type and the shape that the schema states for its status."""
    kind = answer["Content-Type"].partition(";")[0]
    stated = about["responses"].get(str(answer.status_code)) or about["responses"].get("default")
    # A call that ran and failed is an answer with an entry, and no failure of ours.
    is_failed_call = answer.status_code == 502 and "audit_id" in json.loads(answer.content)
    assert answer.status_code < 500 or is_failed_call, f"{asked} broke: {answer.content!r}"
    if answer.status_code == 404 and b'"not_found"' in answer.content:
        return  # there is no such address, so nothing states its answer
    assert stated is not None, f"{asked} answered {answer.status_code}, of which the schema says nothing."
    assert kind in stated["content"], f"{asked} answered {kind}, but the schema says {list(stated['content'])}."
    if kind.endswith("json"):
        whole = {**stated["content"][kind]["schema"], "components": schema["components"]}
        jsonschema.Draft202012Validator(whole).validate(json.loads(answer.content))
