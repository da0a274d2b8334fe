"""The agent's own budget, and the stop, at the doors of evidence and desk."""

from __future__ import annotations

from typing import Any

import pytest

from audit import agents, budgets, log, reading
from audit.models import Agent, Entry
from evidence import desk, gateway, reader
from evidence.errors import Problem
from tests.evidence import bodies

pytestmark = pytest.mark.django_db
ADA = log.Actor("person", "Ada", "ada")


@pytest.fixture
def find_job(certified: Any, define: Any, asker: Any, scope_of: Any) -> Any:
    define("tool", "find_job", bodies.tool())
    return scope_of(asker[0], "find_job")


@pytest.fixture
def hand_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A desk tool that is counted, and one that is not."""

    def offer(name: str, handler: Any, *, is_counted: bool = True) -> None:
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        monkeypatch.setitem(desk.DESK, name, desk.DeskTool(name, "", schema, "investigate", handler, is_counted))

    return offer


def limit_calls(principal: Any, number: int) -> None:
    Agent.objects.filter(pk=principal.agent_id).update(calls_per_hour=number)


def newest(kind: str) -> Entry:
    return Entry.objects.filter(kind=kind, actor="asker").order_by("-seq")[0]


def test_calls_over_the_budget_are_refused_recorded_and_read_nothing(
    find_job: Any, asker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_calls(asker[0], 1)
    gateway.call(asker[0], "find_job", {"job_id": 13}, None)
    monkeypatch.setattr(reader, "read", None)  # whoever reads fails
    with pytest.raises(Problem, match="1 of 1 calls of this hour are used") as refused:
        gateway.call(asker[0], "find_job", {"job_id": 13}, None)
    assert (refused.value.status, refused.value.code) == (429, "agent_budget_spent")
    entry = newest("call.refused")
    assert (entry.tool, entry.status, entry.error_class) == ("find_job", "refused", "agent_budget_spent")
    assert entry.error == refused.value.sentence
    assert find_job.budget == 4  # the investigation's own budget is not touched


def test_what_is_refused_before_costs_nothing(find_job: Any, asker: Any) -> None:
    with pytest.raises(Problem, match="is missing"):
        gateway.call(asker[0], "find_job", {}, None)
    assert budgets.used(Agent.objects.get(name="asker"), budgets.CALLS) == 0


def test_desk_tools_are_counted_and_handing_in_is_not(asker: Any, hand_in: Any) -> None:
    hand_in("counted", lambda *_: {"it": "ran"})
    hand_in("free", lambda *_: {"it": "ran"}, is_counted=False)
    limit_calls(asker[0], 1)
    assert desk.call(asker[0], "counted", {}) == {"it": "ran"}
    with pytest.raises(Problem, match="1 of 1 calls"):
        desk.call(asker[0], "counted", {})
    entry = newest("call.refused")
    assert (entry.tool, entry.error_class) == ("counted", "agent_budget_spent")
    assert desk.call(asker[0], "free", {}) == {"it": "ran"}
    assert {name for name, tool in desk.DESK.items() if not tool.is_counted} == {"submit_findings", "free"}


def test_a_call_that_was_running_when_its_agent_was_stopped_gives_no_result(
    find_job: Any, asker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reader.read

    def stopped_meanwhile(*args: Any, **more: Any) -> Any:
        agents.stop(asker[0].agent_id, by=ADA)
        return read(*args, **more)

    monkeypatch.setattr(reader, "read", stopped_meanwhile)
    with pytest.raises(Problem, match="This agent was stopped while it asked") as refused:
        gateway.call(asker[0], "find_job", {"job_id": 13}, None)
    assert (refused.value.status, refused.value.code) == (403, "agent_stopped")
    finished = newest("call.finished")
    assert (finished.status, finished.error_class) == ("failed", "agent_stopped")
    assert refused.value.audit_id == finished.ref
    assert reading.payload_of(finished.pk).result is None


def test_a_desk_tool_that_was_running_answers_nothing_either(asker: Any, hand_in: Any) -> None:
    def stopped_meanwhile(*_: Any) -> dict[str, Any]:
        agents.stop(asker[0].agent_id, by=ADA)
        return {"briefing": "secret"}

    hand_in("slow", stopped_meanwhile)
    with pytest.raises(Problem, match="This agent was stopped"):
        desk.call(asker[0], "slow", {})
    assert newest("call.refused").error_class == "agent_stopped"
