"""The metric tools as an agent calls them: through the gateway, about the metrics of its incident's class alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import simplejson

from audit import agents, reading, twohands
from audit.agents import Principal
from audit.models import Entry
from evidence import catalog, contracts, gateway, proof, reader, scope
from evidence.errors import Problem
from evidence.metrics import calls, serving, telling
from gate.demo import definitions, metrics, shop
from tests.evidence.conftest import FakeScope, no_strangers_left, scope_of  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db
EXPORTS = {"job_kind": "export_orders"}
KINDS = {"sources": "source", "valuations": "valuation", "metrics": "metric"}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def agent(
    define: Callable[..., Any],
    make_agent: Callable[..., Any],
    shop_dsn: Callable[[str], str],
    scope_of: Callable[..., FakeScope],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> FakeScope:
    """An agent whose incident's class names two metrics, and the shop with three in force."""
    monkeypatch.setenv("SHOP_READER_DSN", shop_dsn(shop.READER))
    monkeypatch.setenv("SHOP_DOCTOR_DSN", shop_dsn(shop.DOCTOR))
    for wanted in (definitions.source(), *definitions.numbers()[:4]):
        define(KINDS[wanted.plural], wanted.name, wanted.body)
    proof.certify(twohands.active("source", "shop"))
    principal = agents.authenticate(make_agent("asker")[1])
    assert principal is not None
    within = scope_of(principal, budget=30, metrics={"failed_job_cost", "error_budget_burn", "not_in_force"})
    monkeypatch.setattr(scope, "_finders", [lambda asking: [within] if asking.agent == "asker" else []])
    return within


def ask(agent: FakeScope, tool: str, /, **given: Any) -> dict[str, Any]:
    return catalog.call(agent.principal, tool, given, None)


def refusal(agent: FakeScope, tool: str, /, **given: Any) -> tuple[int, str, str]:
    with pytest.raises(Problem) as caught:
        ask(agent, tool, **given)
    return caught.value.status, caught.value.code, caught.value.sentence


def test_an_answer_is_an_entry_with_the_metrics_version_and_the_agent_got_exactly_it(agent: FakeScope) -> None:
    answer = ask(agent, "explain_metric", metric_id="failed_job_cost", scope=EXPORTS)
    found = answer["result"]
    assert (found["value"], found["unit"], found["mechanism_status"]) == (Decimal("28.33"), "EUR", "resolved")
    finished = Entry.objects.get(seq=int(answer["audit_id"][2:]))
    started = Entry.objects.get(pk=finished.parent)
    version = twohands.active("metric", "failed_job_cost")
    assert version is not None
    assert (finished.tool, finished.tool_version, finished.tool_hash) == ("explain_metric", 1, version.digest)
    assert (finished.status, finished.source, finished.subject) == ("ok", "shop", "I-318")
    assert "failed_job_cost" in started.summary
    said = found["provenance"]
    assert (said["run"], said["entries"]) == (str(finished.call_id), [f"A-{started.seq}"])
    assert (said["formula_version"], said["formula_digest"]) == (1, version.digest)
    assert datetime.fromisoformat(said["decision_point"]) == started.at, "live, it is the time of the call"
    content = reading.payload_of(finished.pk)
    assert content.args == {"metric_id": "failed_job_cost", "scope": EXPORTS}
    assert content.result == found
    assert (answer["budget_left"], agent.budget) == (29, 29)
    assert answer["untrusted"] is True
    assert not calls.MetricCall.about("explain_metric", calls.registry.of(version)).misfit_of_result(found)


def test_each_tool_answers_as_of_the_investigations_decision_point(agent: FakeScope) -> None:
    agent.decision_point = metrics.NIGHT + timedelta(seconds=200)
    found = ask(agent, "explain_metric", metric_id="failed_job_cost", scope=EXPORTS)["result"]
    assert (found["value"], found["mechanism_status"]) == (Decimal("0.28"), "partial")
    agent.decision_point = None
    offered = {offer.name: offer for offer in catalog.offered(agent.principal) if offer.name in calls.TOOLS}
    assert set(offered) == set(calls.TOOLS)
    for name in calls.TOOLS:
        with pytest.raises(ValueError, match="how agents ask about metrics"):
            contracts.check(name, definitions.tools()[0].body)
    assert all(offer.read_only and not offer.returns_action_recommendations for offer in offered.values())
    common = {"metric_id": "failed_job_cost", "scope": EXPORTS}
    assert len(ask(agent, "trace_entity", **common, entity="j1")["result"]["items"]) == 6
    assert len(ask(agent, "trace_event", **common, event="ReadTimeout")["result"]["items"]) == 2
    fewer = ask(agent, "compare_bounded_counterfactual", **common, variable="max_attempts", value="2")["result"]
    assert fewer["value"] == Decimal("50.28")
    quarter = {"first_minute": 0, "last_minute": 14}
    burnt = ask(agent, "explain_metric", metric_id="error_budget_burn", scope=quarter)["result"]
    assert burnt["value_exact"] == "347/15"


def test_a_metric_that_is_not_there_and_one_that_is_not_for_the_agent_look_the_same(agent: FakeScope) -> None:
    scope_of_all = {"job_kind": "x"}
    asked = ("nothing", "not_in_force", "queue_wait", "Not a name", "x" * 90)
    for tool, more in (("explain_metric", {}), ("trace_event", {"event": "x"})):
        told = {refusal(agent, tool, metric_id=name, scope=scope_of_all, **more) for name in asked}
        assert told == {(404, "no_such_metric", calls.no_such_metric().sentence)}
    told = {refusal(agent, telling.DESCRIBE, metric_id=name) for name in asked[:3]}
    assert told == {(404, "no_such_metric", calls.no_such_metric().sentence)}
    assert agent.budget == 30


def test_what_an_agent_says_reaches_no_formula(agent: FakeScope) -> None:
    for question, word in (
        ({"scope": {"job_kind": "x", "price": "1"}}, "price is no key of the scope"),
        ({"scope": {"job_kind": 7}}, "The scope's job_kind is a text"),
        ({"scope": {}}, "scope"),
        ({"scope": EXPORTS, "decomposition": "by_wish"}, "by_cost_kind"),
        ({"scope": EXPORTS, "formula": "select 1"}, "formula is not a property"),
        ({"scope": EXPORTS, "decision_point": "2027-01-01T00:00:00Z"}, "decision_point is not a property"),
        ({}, "scope is missing"),
    ):
        status, code, sentence = refusal(agent, "explain_metric", metric_id="failed_job_cost", **question)
        assert (status, code) == (422, "wrong_arguments")
        assert word in sentence
    assert agent.budget == 30


JUNK = ["", "a\0b", "\ud800", "' or 1=1 --", "now", 10**400, True, None, float("nan"), {"a": 1}]
QUESTIONS: dict[str, dict[str, Any]] = {
    "explain_metric": {"decomposition": "by_job"},
    "trace_entity": {"entity": "j1"},
    "trace_event": {"event": "ReadTimeout"},
    "compare_bounded_counterfactual": {"variable": "max_attempts", "value": "2"},
}


@pytest.mark.parametrize("tool", QUESTIONS)
def test_whatever_is_said_is_answered_or_refused_and_never_breaks_a_read(agent: FakeScope, tool: str) -> None:
    agent.budget = 1000
    good = {"metric_id": "failed_job_cost", "scope": EXPORTS, **QUESTIONS[tool]}
    for junk in JUNK:
        said = [{**good, key: junk} for key in (*good, "investigation", "decision_point", "version")]
        for question in (*said, {**good, "scope": {"job_kind": junk}}):
            assert status(agent, tool, question) < 500, question


def status(agent: FakeScope, tool: str, question: dict[str, Any]) -> int:
    try:
        ask(agent, tool, **question)
    except Problem as problem:
        return problem.status
    return 200


def test_only_a_token_with_the_scope_asks_what_would_have_been(agent: FakeScope) -> None:
    plain = Principal(
        agent.principal.agent_id, "asker", agent.principal.owner_id, "asker-owner", frozenset({"tools"})
    )  # fmt: skip
    tool = "compare_bounded_counterfactual"
    assert tool not in {offer.name for offer in catalog.offered(plain)}
    given = {"metric_id": "failed_job_cost", "scope": EXPORTS, "variable": "max_attempts", "value": "2"}
    with pytest.raises(Problem) as caught:
        gateway.call(plain, tool, given, None)
    assert caught.value.code == "unknown_tool"
    described = catalog.call(plain, telling.DESCRIBE, {"metric_id": "failed_job_cost"}, None)["result"]["metric"]
    assert described["supported_counterfactuals"] == []
    assert tool not in described["tools"]
    _check_told(agent)


def _check_told(agent: FakeScope) -> None:
    """What is told of metrics is those of the class, and nothing of their golden values."""
    listed = ask(agent, telling.LIST)
    assert [one["metric_id"] for one in listed["result"]["metrics"]] == ["error_budget_burn", "failed_job_cost"]
    described = ask(agent, telling.DESCRIBE, metric_id="failed_job_cost")
    told = simplejson.dumps([listed["result"], described["result"]], use_decimal=True)
    assert "golden" not in told
    assert "28.33" not in told
    assert "held_out" not in told
    entry = Entry.objects.get(seq=int(described["audit_id"][2:]))
    assert (entry.tool, entry.tool_version) == (telling.DESCRIBE, 1)
    assert described["result"]["metric"]["valuation"] == "prices@1"


def test_rows_that_a_limit_cut_or_a_standby_lacks_are_no_smaller_number(
    agent: FakeScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIMITS", reader.Limits(rows=3))
    answer = ask(agent, "explain_metric", metric_id="failed_job_cost", scope=EXPORTS)
    found = answer["result"]
    assert (found["value"], found["mechanism_status"], found["components"]) == (None, "unresolved", [])
    assert "row_limit" in [reason["code"] for reason in found["reasons"]]
    assert answer["truncated"] is True
    monkeypatch.setattr(serving, "LIMITS", reader.Limits())
    monkeypatch.setattr("evidence.replicas.is_behind", lambda source, certificate, at: True)
    found = ask(agent, "explain_metric", metric_id="failed_job_cost", scope=EXPORTS)["result"]
    assert (found["value"], [reason["code"] for reason in found["reasons"]]) == (None, ["stale_replica"])
