"""An agent's places and proposals, and what becomes of its work when it, or its owner, is stopped."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from audit import agents, budgets
from audit.models import Agent, AgentToken, Entry
from evidence import desk
from evidence.errors import Problem
from gate.people import changes, leaving
from gate.triage import investigations
from gate.triage.models import Incident, Investigation
from gate.writes.models import WriteRequest
from tests.writes.conftest import BODY as TARGET

pytestmark = pytest.mark.django_db
WRITE = {
    "target": "shop", "statement": "update shop.jobs set state = $1 where job_id = $2",
    "parameters": [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "7"}], "title": "Requeue", "reason": "Stuck.",
}  # fmt: skip


@pytest.fixture
def mia(make_person: Any) -> Any:
    return make_person("mia", "admin", full_name="Mia Lindqvist")


def limit(principal: Any, **limits: int) -> None:
    Agent.objects.filter(pk=principal.agent_id).update(**limits)


def two_incidents(open_incident: Any) -> list[Incident]:
    return [open_incident(subject={"job_id": number}) for number in (1, 2)]


def test_an_agent_has_so_many_places_and_a_place_comes_free(principal: Any, open_incident: Any) -> None:
    first, second = two_incidents(open_incident)
    limit(principal, open_investigations=1)
    desk.call(principal, "start_investigation", {"incident": first.ref})
    with pytest.raises(Problem, match="1 of 1 investigations run that this agent may run at once") as refused:
        desk.call(principal, "start_investigation", {"incident": second.ref})
    assert (refused.value.status, refused.value.code) == (429, "agent_budget_spent")
    entry = Entry.objects.filter(kind="call.refused", actor=principal.agent).latest("seq")
    assert (entry.tool, entry.error_class) == ("start_investigation", "agent_budget_spent")
    second.refresh_from_db()
    assert second.status == "open"
    Investigation.objects.update(status="abandoned")
    assert "investigation" in desk.call(principal, "start_investigation", {"incident": second.ref})


@pytest.mark.django_db(transaction=True)
def test_two_starts_at_once_do_not_both_take_the_last_place(principal: Any, open_incident: Any) -> None:
    first, second = two_incidents(open_incident)
    limit(principal, open_investigations=1)
    refused, together = [], threading.Barrier(2)

    def begin(incident: Incident) -> None:
        together.wait()
        try:
            investigations.start(principal, incident.pk)
        except Problem as problem:
            refused.append(problem.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=begin, args=[incident]) for incident in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["agent_budget_spent"]
    assert Investigation.objects.count() == 1


def test_proposals_of_a_day_are_counted_and_one_that_cannot_be_made_is_not(principal: Any, define: Any) -> None:
    define("target", "shop", TARGET)
    limit(principal, proposals_per_day=1)
    with pytest.raises(Problem, match="one sentence that the next reader can check"):
        desk.call(principal, "propose_write", {**WRITE, "title": " "})
    assert desk.call(principal, "propose_write", WRITE)["status"]
    with pytest.raises(Problem, match="1 of 1 proposals of this day are used"):
        desk.call(principal, "propose_write", WRITE)
    assert WriteRequest.objects.count() == 1
    entry = Entry.objects.filter(kind="call.refused", actor=principal.agent).latest("seq")
    assert (entry.tool, entry.error_class) == ("propose_write", "agent_budget_spent")


def test_stopping_an_agent_says_before_what_it_ends_and_records_each(
    client: Client, mia: Any, principal: Any, open_incident: Any
) -> None:
    incidents = two_incidents(open_incident)
    for incident in incidents:
        investigations.start(principal, incident.pk)
    client.force_login(mia)
    page = client.get("/agents/triage-agent/").content.decode()
    assert "Revokes 1 token and ends 2 investigations; their incidents wait for another agent." in page
    client.post("/agents/triage-agent/stop/")
    assert {one.status for one in Investigation.objects.all()} == {"abandoned"}
    for incident in incidents:
        incident.refresh_from_db()
        assert incident.status == "open"
        entry = Entry.objects.filter(incident_id=incident.pk).latest("seq")
        assert (entry.kind, entry.actor, entry.summary) == (
            "investigation.stopped", "Mia Lindqvist", "Its agent was stopped.",
        )  # fmt: skip
    assert AgentToken.objects.get().revoked_at is not None
    assert (
        "Its tokens were revoked and its investigations ended" in client.get("/agents/triage-agent/").content.decode()
    )


def test_another_agents_work_goes_on(mia: Any, make_principal: Any, open_incident: Any) -> None:
    first, second = two_incidents(open_incident)
    one, other = make_principal("one"), make_principal("other")
    investigations.start(one, first.pk)
    investigations.start(other, second.pk)
    agents.stop(one.agent_id, by=mia.actor())
    assert Investigation.objects.get(agent_id=other.agent_id).status == "running"
    assert AgentToken.objects.get(agent_id=other.agent_id).revoked_at is None


def test_an_agent_that_was_stopped_after_its_token_was_read_starts_nothing(
    mia: Any, principal: Any, open_incident: Any
) -> None:
    incident = open_incident()
    agents.stop(principal.agent_id, by=mia.actor())
    with pytest.raises(Problem, match="This agent was stopped"), transaction.atomic():
        investigations.start(principal, incident.pk)
    assert not Investigation.objects.exists()
    incident.refresh_from_db()
    assert incident.status == "open"


def test_an_agent_that_was_stopped_after_its_token_was_read_proposes_nothing(
    mia: Any, principal: Any, define: Any
) -> None:
    define("target", "shop", TARGET)
    agents.stop(principal.agent_id, by=mia.actor())
    with pytest.raises(Problem, match="This agent was stopped") as refused:
        desk.call(principal, "propose_write", WRITE)
    assert refused.value.status == 403
    assert not WriteRequest.objects.exists()
    assert Entry.objects.filter(kind="call.refused", actor=principal.agent).latest("seq").error_class == "agent_stopped"


@pytest.mark.django_db(transaction=True)
def test_the_people_plane_stops_with_its_own_rights(as_role: Any, mia: Any, principal: Any, open_incident: Any) -> None:
    investigations.start(principal, open_incident().pk)
    as_role("people")
    agents.stop(principal.agent_id, by=mia.actor())
    budgets.change(principal.agent_id, dict.fromkeys(budgets.COLUMNS, 3), by=mia.actor())
    agents.start(principal.agent_id, by=mia.actor())
    assert Investigation.objects.get().status == "abandoned"


def test_who_leaves_takes_their_agents_out_of_work_as_it_was_told(
    client: Client, mia: Any, make_person: Any, make_agent: Any, open_incident: Any
) -> None:
    ben, noa = make_person("ben", "admin"), make_person("noa")
    _, token = make_agent("noas-agent", owner=noa)
    held = agents.authenticate(token)
    assert held is not None
    incident = open_incident()
    investigations.start(held, incident.pk)
    change = changes.draft(noa, act="deactivate", by=mia, reason="She left.")
    client.force_login(ben)
    page = client.get(f"/people/{noa.pk}/").content.decode()
    for words in ("noas-agent", "1 token of their agents revoked", f"{incident.ref}</a>: ended"):
        assert words in page
    changes.confirm(change.pk, by=ben)
    assert agents.is_stopped(held.agent_id)
    assert agents.authenticate(token) is None
    incident.refresh_from_db()
    assert (incident.status, Investigation.objects.get().status) == ("open", "abandoned")
    assert leaving.of(noa) == leaving.Left([], [], [], [], [], [], 0)
