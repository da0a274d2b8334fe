"""What an agent is told of the tools there are, and what the two declared properties look like on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import simplejson
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from audit import agents, reading
from audit.models import Agent, Entry
from evidence import catalog, discovery, mcp, scope
from evidence.errors import Problem, unknown_tool
from evidence.metrics import telling
from tests.evidence import bodies
from tests.evidence.conftest import FakeScope

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_agents")]
OWN = {"find_job", "count_jobs"}
TELLING = {discovery.LIST, discovery.DESCRIBE, telling.LIST, telling.DESCRIBE}
DESK = {"start_investigation", "submit_findings", "propose_write", "write_questions", "write_status", *TELLING}


@pytest.fixture
def tools(source: Any, define: Any) -> dict[str, Any]:
    """Three tools in force, and one that is only drafted."""
    names = ("find_job", "count_jobs", "of_another_class")
    return {name: define("tool", name, bodies.tool(purpose=f"The purpose of {name}.")) for name in names}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, scope_of: Any) -> Callable[..., None]:
    """Say which investigations an agent runs: each by its tools."""

    def give(principal: Any, *each: set[str]) -> None:
        scopes = [
            FakeScope(principal, tools, run_id=str(7001 + n), incident_id=318 + n) for n, tools in enumerate(each)
        ]
        if each:
            scope_of(principal, *each[0])
        monkeypatch.setattr(scope, "_finders", [lambda asking: scopes if asking.agent == principal.agent else []])

    return give


def ask(asker: Any, tool: str, /, **given: Any) -> dict[str, Any]:
    return catalog.call(asker[0], tool, given, None)


def listed(answer: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in answer["result"]["tools"]}


def refusal(asker: Any, **given: Any) -> tuple[int, str, str]:
    with pytest.raises(Problem) as caught:
        ask(asker, discovery.DESCRIBE, **given)
    return caught.value.status, caught.value.code, caught.value.sentence


def test_without_an_investigation_an_agent_learns_what_its_token_is_good_for(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0])
    answer = ask(asker, discovery.LIST)
    assert listed(answer) == {*tools, *DESK}
    assert "class" not in simplejson.dumps(answer["result"]).replace("of_another_class", "")


def test_with_one_it_learns_the_tools_of_its_class(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job", "not_in_force"})
    assert listed(ask(asker, discovery.LIST)) == {"find_job", *DESK}
    assert {offer.name for offer in catalog.offered(asker[0])} == {"find_job", *DESK}, "and so says every list"
    described = ask(asker, discovery.DESCRIBE, name="find_job")["result"]["tool"]
    assert (described["version"], described["contract_hash"]) == (1, tools["find_job"].digest)
    assert described["output_schema"] == bodies.tool()["output_schema"]
    assert described["limitations"] == bodies.tool()["limitations"]


def test_with_several_it_learns_the_tools_of_all_or_of_the_one_it_names(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"}, {"count_jobs"})
    assert listed(ask(asker, discovery.LIST)) == {*OWN, *DESK}
    assert listed(ask(asker, discovery.LIST, investigation=7001)) == {"find_job", *DESK}
    with pytest.raises(Problem, match="You run no such investigation"):
        ask(asker, discovery.LIST, investigation=7003)


def test_a_tool_about_now_is_none_for_a_decision_point_in_the_past(
    tools: Any, asker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.utils import timezone

    past = FakeScope(asker[0], {"find_job"}, decision_point=timezone.now())
    monkeypatch.setattr(scope, "_finders", [lambda principal: [past]])
    assert listed(ask(asker, discovery.LIST)) == DESK


def test_an_unknown_a_forbidden_and_an_unborn_tool_look_the_same(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job", "not_in_force"})
    asked = ("nothing", "of_another_class", "not_in_force", "Not a name", "x" * 80)
    told = {refusal(asker, name=name) for name in asked}
    assert told == {(404, "no_such_tool", unknown_tool().sentence)}


def test_a_token_for_other_things_asks_for_no_tools(tools: Any, make_agent: Any) -> None:
    _, token = make_agent("only-proposes", scopes=("propose",))
    other = agents.authenticate(token)
    assert other is not None
    assert {offer.name for offer in catalog.offered(other)} == {"propose_write", "write_questions", "write_status"}
    with pytest.raises(Problem) as caught:
        catalog.call(other, discovery.LIST, {}, None)
    assert caught.value.code == "unknown_tool"


def test_a_question_is_two_entries_and_no_evidence(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"})
    answer = ask(asker, discovery.DESCRIBE, name="find_job", investigation=7001)
    finished = Entry.objects.get(seq=int(answer["audit_id"][2:]))
    assert finished.parent is not None
    started = Entry.objects.get(pk=finished.parent)
    assert (started.kind, finished.kind, finished.status) == ("call.started", "call.finished", "ok")
    assert (finished.tool, finished.actor, finished.subject) == (discovery.DESCRIBE, "asker", "I-318")
    assert (finished.incident_id, finished.run_id) == (None, ""), "it belongs to no investigation's evidence"
    assert finished.digest.hex() == answer["digest"]
    said = reading.payload_of(finished.pk)
    assert (said.args, said.result) == ({"name": "find_job", "investigation": 7001}, answer["result"])


def test_a_refused_question_is_an_entry(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"})
    refusal(asker, name="of_another_class")
    entry = Entry.objects.filter(kind="call.refused", tool=discovery.DESCRIBE).order_by("-seq")[0]
    assert (entry.error_class, reading.payload_of(entry.pk).args) == ("no_such_tool", {"name": "of_another_class"})


def test_a_question_takes_a_call_of_the_hour_and_none_of_an_investigation(
    tools: Any, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    within = scope_of(asker[0], "find_job")
    monkeypatch.setattr(scope, "_finders", [lambda principal: [within]])
    Agent.objects.filter(pk=asker[0].agent_id).update(calls_per_hour=2)
    ask(asker, discovery.LIST)
    ask(asker, discovery.LIST)
    assert within.budget == 5
    with pytest.raises(Problem) as caught:
        ask(asker, discovery.LIST)
    assert caught.value.code == "agent_budget_spent"


@pytest.mark.parametrize("given", [{}, {"name": 5}, {"name": ""}, {"name": "x" * 81}, {"name": "a", "b": 1}])
def test_a_question_that_does_not_fit_is_refused(asker: Any, given: dict[str, Any]) -> None:
    assert refusal(asker, **given)[:2] == (422, "wrong_arguments")


def test_over_rest_it_is_a_tool_like_the_others(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"})
    http = Client(headers={"Authorization": f"Bearer {asker[1]}"})
    body = {"arguments": {"name": "find_job"}, "investigation": 7001}
    answer = http.post(f"/api/v1/tools/{discovery.DESCRIBE}", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    assert answer.json()["result"]["tool"]["name"] == "find_job"
    assert {tool["name"] for tool in http.get("/api/v1/tools").json()["tools"]} == {"find_job", *DESK}


# The wire, byte for byte.
def test_mcp_states_both_properties(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"})
    stated = {offer.name: mcp._advertised(offer) for offer in catalog.offered(asker[0])}
    tool = simplejson.loads(stated["find_job"].model_dump_json(by_alias=True, exclude_none=True))
    assert simplejson.dumps(tool["annotations"], sort_keys=True, separators=(",", ":")) == (
        '{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true}'
    )
    digest = tools["find_job"].digest
    assert simplejson.dumps(tool["_meta"], sort_keys=True, separators=(",", ":")) == (
        f'{{"counterseal/contract_hash":"{digest}","counterseal/contract_version":1,"counterseal/query_type":"state",'
        '"counterseal/read_only":true,"counterseal/returns_action_recommendations":false}'
    )
    hands_in = simplejson.loads(stated["submit_findings"].model_dump_json(by_alias=True, exclude_none=True))
    assert hands_in["annotations"]["readOnlyHint"] is False
    assert simplejson.dumps(hands_in["_meta"], sort_keys=True, separators=(",", ":")) == (
        '{"counterseal/read_only":false,"counterseal/returns_action_recommendations":false}'
    )
    tells = simplejson.loads(stated[discovery.LIST].model_dump_json(by_alias=True, exclude_none=True))
    assert (tells["annotations"]["readOnlyHint"], tells["_meta"]["counterseal/read_only"]) == (True, True)


def test_rest_states_both_properties(tools: Any, asker: Any, runs: Any) -> None:
    runs(asker[0], {"find_job"})
    content = Client(headers={"Authorization": f"Bearer {asker[1]}"}).get("/api/v1/tools").content
    digest = tools["find_job"].digest.encode()
    head = (
        b'{"tools":[{"name":"find_job","purpose":"The purpose of find_job.","read_only":true,'
        b'"returns_action_recommendations":false,"query_type":"state","version":1,"contract_hash":"' + digest + b'",'
    )
    assert content.replace(b", ", b",").replace(b": ", b":").startswith(head)


def test_the_openapi_document_describes_both_properties() -> None:
    generator: Any = SchemaGenerator
    schema = generator(urlconf="gate.config.urls_agents").get_schema(request=None, public=True)
    tool = schema["components"]["schemas"]["Tool"]
    for name in ("read_only", "returns_action_recommendations"):
        assert tool["properties"][name]["type"] == "boolean"
        assert name in tool["required"]
    assert "False on every tool" in tool["properties"]["returns_action_recommendations"]["description"]
