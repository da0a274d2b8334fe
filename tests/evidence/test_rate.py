"""Calls of a source in a minute: by one agent and by all, refused with the seconds to wait, and counted in the log."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from audit import reading
from audit.counting import Counting
from audit.models import Agent, Definition, Entry
from evidence import catalog, gateway, rate, recording, sources
from evidence.errors import Problem
from evidence.models import CallUse
from evidence.rate import Rates
from tests.evidence import bodies

pytestmark = pytest.mark.django_db
FEW = Rates(2, 3)


@pytest.fixture(autouse=True)
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The minute of a test does not end within it."""
    monkeypatch.setattr(rate, "TAKE", rate.TAKE.replace("clock_timestamp()", "timestamptz '2026-11-30 10:00:47.5+00'"))


def refused(source: str, agent: int, rates: Rates = FEW) -> Problem:
    with pytest.raises(Problem) as caught:
        rate.take(source, agent, rates)
    return caught.value


def test_an_agent_has_its_minute_and_the_source_its_own() -> None:
    assert rate.take("shop", 1, FEW) == rate.Left(1, 2)
    assert rate.take("shop", 1, FEW) == rate.Left(0, 1)
    spent = refused("shop", 1)
    assert (spent.status, spent.code, spent.retry_after) == (429, "rate_limited", 13)
    assert (
        spent.sentence == "All 2 calls that one agent may make of shop in a minute are used; ask again in 13 seconds."
    )
    assert rate.take("shop", 2, FEW) == rate.Left(1, 0)  # what was refused took nothing of the source's
    assert "that agents may make of shop" in refused("shop", 3).sentence
    assert rate.take("other", 3, FEW) == rate.Left(1, 2)


def test_the_next_minute_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in (1, 1, 2):
        rate.take("shop", agent, FEW)
    refused("shop", 2)
    monkeypatch.setattr(rate, "TAKE", rate.TAKE.replace("10:00:47", "10:01:00"))
    assert rate.take("shop", 2, FEW) == rate.Left(1, 2)


def test_the_counter_waits_for_no_disk() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select relpersistence from pg_class where oid = 'evidence_calluse'::regclass")
        assert cursor.fetchone() == ("u",)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (60, "says how many calls"),
        ({"agents": 1}, "says how many calls"),
        ({"agent": 0}, "agent is a whole number from 1 to 100,000"),
        ({"all": True}, "all is a whole number"),
        ({"all": 1.5}, "all is a whole number"),
    ],
)
def test_a_source_says_numbers_that_can_be_counted(said: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        sources.check("shop", bodies.source(calls_per_minute=said))


def test_what_a_source_does_not_say_has_a_default() -> None:
    sources.check("shop", bodies.source(calls_per_minute={"agent": 30}))
    assert rate.rates_of(bodies.source(calls_per_minute={"agent": 30})) == Rates(30, rate.DEFAULT.everyone)
    assert rate.rates_of(bodies.source()) == rate.DEFAULT


@pytest.fixture
def find_job(certified: Any, define: Any, asker: Any, scope_of: Any) -> Any:
    define("tool", "find_job", bodies.tool(max_rows=7))
    Definition.objects.filter(kind="source").update(body=bodies.source(calls_per_minute={"agent": 2}))
    return scope_of(asker[0], "find_job")


def ask(principal: Any) -> dict[str, Any]:
    return catalog.call(principal, "find_job", {"job_id": 13}, None)


def test_an_answer_says_what_is_left(find_job: Any, asker: Any) -> None:
    Agent.objects.filter(pk=asker[0].agent_id).update(calls_per_hour=10)
    assert ask(asker[0])["left"] == {
        "investigation": 4, "agent_this_hour": 9, "agent_this_minute": 1, "source_this_minute": 599, "rows_cap": 7,
        "bytes_cap": gateway.LIMITS.bytes,
    }  # fmt: skip
    assert ask(asker[0])["left"]["agent_this_minute"] == 0


def test_a_refused_call_takes_nothing_of_the_other_budgets(find_job: Any, asker: Any) -> None:
    for _ in range(2):
        ask(asker[0])
    with pytest.raises(Problem, match="in a minute are used"):
        ask(asker[0])
    assert find_job.budget == 3
    assert CallUse.objects.get(source="scratch", agent=0).used == 2


def test_a_flood_over_the_limit_is_two_entries(find_job: Any, asker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # One of its own: a minute that another test began may end in this one.
    monkeypatch.setattr(recording, "limited", Counting(recording._record_limited, free=1))
    for _ in range(2):
        ask(asker[0])
    before = Entry.objects.order_by("-seq")[0].seq
    for _ in range(50):
        with pytest.raises(Problem):
            ask(asker[0])
    recording.limited.flush()
    first, rest = Entry.objects.filter(seq__gt=before, actor="asker").order_by("seq")
    for entry in (first, rest):
        assert (entry.kind, entry.error_class, entry.source) == ("call.refused", "rate_limited", "scratch")
    assert (first.tool, rest.summary) == ("find_job", "49 more refusals over the limit within a minute")
    assert reading.payload_of(rest.pk).args == {"refusals": 49}


def test_rest_says_when_to_ask_again(find_job: Any, asker: Any, settings: Any) -> None:
    settings.ROOT_URLCONF = "gate.config.urls_agents"
    http = Client(headers={"Authorization": f"Bearer {asker[1]}"})
    body = {"arguments": {"job_id": 13}}
    answers = [http.post("/api/v1/tools/find_job", body, content_type="application/json") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2]["Retry-After"] == "13"
    assert answers[2].json()["retry_after"] == 13


def test_a_spent_budget_says_when_to_ask_again_too(find_job: Any, asker: Any) -> None:
    Agent.objects.filter(pk=asker[0].agent_id).update(calls_per_hour=1)
    ask(asker[0])
    with pytest.raises(Problem) as spent:
        ask(asker[0])
    assert spent.value.code == "agent_budget_spent"
    assert 0 < spent.value.retry_after <= 3600
