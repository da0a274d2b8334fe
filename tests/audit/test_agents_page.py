"""The pages of agents: who they are, their tokens, what they did in the last day, and stopping them now."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit import agent_page, agents, budgets, log
from audit.kinds import Kind
from audit.models import Agent, AgentToken, Entry

pytestmark = pytest.mark.django_db
TOKEN = {"label": "laptop", "scopes": ["tools", "propose"], "days": "30"}
BUDGET = {"calls_per_hour": "20", "open_investigations": "2", "proposals_per_day": "3"}
HOSTILE = '<script>alert(1)</script> "quoted" &'


@pytest.fixture
def mia(client, make_person):
    person = make_person("mia", "admin", full_name="Mia Lindqvist")
    client.force_login(person)
    return person


def last(subject: str) -> Entry:
    return Entry.objects.filter(subject=subject).order_by("-seq")[0]


def test_agents_are_listed_without_secrets(client, make_person, make_agent) -> None:
    agent, token = make_agent("triage-agent")
    client.force_login(make_person("vera", "viewer"))
    for address in ("/agents/", "/agents/triage-agent/"):
        text = client.get(address).content.decode()
        for words in ("triage-agent", agent.owner_name, "tools", "in use"):
            assert words in text
        assert token not in text
        assert agent.tokens.get().digest not in text
        for words in ("Revoke the", "Stop this agent now", "Issue a token", "Add this agent"):
            assert words not in text


def test_an_admin_revokes_a_token(client, mia, make_agent) -> None:
    agent, token = make_agent("triage-agent")
    address = f"/agents/tokens/{agent.tokens.get().pk}/revocation/"
    for place in ("/agents/", "/agents/triage-agent/"):
        assert address in client.get(place).content.decode()
    assert client.post(address)["Location"] == "/agents/triage-agent/"
    assert agents.authenticate(token) is None
    assert "revoked" in client.get("/agents/triage-agent/").content.decode()


def test_a_token_is_shown_once_and_kept_as_a_hash(client, mia, make_agent) -> None:
    make_agent("triage-agent")
    response = client.post("/agents/triage-agent/tokens/", TOKEN)
    page = response.content.decode()
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    token = page.split("<code>csa_")[1].split("</code>")[0]
    principal = agents.authenticate(f"csa_{token}")
    assert principal is not None
    assert principal.scopes == {"tools", "propose"}
    kept = AgentToken.objects.get(label="laptop")
    assert kept.expires_at - timezone.now() < timedelta(days=30)
    assert kept.expires_at - timezone.now() > timedelta(days=29)
    assert token not in client.get("/agents/triage-agent/").content.decode()
    entry = last("agent triage-agent")
    assert (entry.kind, entry.actor) == ("token.issued", "Mia Lindqvist")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": ""}, "Say what the token is for."),
        ({"scopes": []}, "Choose what it may do."),
        ({"scopes": ["everything"]}, "not one of the available choices"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "366"}, "less than or equal to 365"),
    ],
)
def test_a_token_that_cannot_be_is_asked_for_again(client, mia, make_agent, changes, words) -> None:
    make_agent("triage-agent")
    response = client.post("/agents/triage-agent/tokens/", {**TOKEN, **changes})
    page = response.content.decode()
    assert response.status_code == 422
    assert words in page
    assert ("laptop" in page) == ("label" not in changes)
    assert AgentToken.objects.count() == 1


def test_an_admin_adds_an_agent_with_its_owner(client, mia, make_person) -> None:
    ada = make_person("ada")
    response = client.post("/agents/", {"name": "night-agent", "owner": ada.pk})
    assert response["Location"] == "/agents/night-agent/"
    agent = Agent.objects.get()
    assert (agent.owner, agent.owner_name) == (ada, "ada")
    assert (last("agent night-agent").kind, last("agent night-agent").actor) == ("agent.changed", "Mia Lindqvist")
    page = client.get(response["Location"]).content.decode()
    assert "No token yet." in page
    again = client.post("/agents/", {"name": "night-agent", "owner": mia.pk})
    assert again.status_code == 422
    assert "choose another name" in again.content.decode()
    assert 'value="night-agent"' in again.content.decode()
    assert Agent.objects.get().owner == ada


@pytest.mark.parametrize("said", [{"name": "two words"}, {"name": ""}, {"owner": ""}, {"owner": "9999"}])
def test_an_agent_needs_a_name_and_an_owner(client, mia, said) -> None:
    response = client.post("/agents/", {"name": "night-agent", "owner": mia.pk, **said})
    assert response.status_code == 422
    assert not Agent.objects.exists()


def test_nobody_who_left_owns_an_agent(client, mia, make_person) -> None:
    gone = make_person("gone")
    gone.is_active = False
    gone.save()
    assert client.post("/agents/", {"name": "night-agent", "owner": gone.pk}).status_code == 422


def test_stop_revokes_every_token_and_a_start_asks_for_a_new_one(client, mia, make_agent) -> None:
    agent, first = make_agent("triage-agent")
    second = agents.issue_token("triage-agent", owner=agent.owner, scopes=["tools"], label="two", by=mia.actor())
    agents.revoke_token(AgentToken.objects.get(label="two").pk, by=mia.actor())
    third = agents.issue_token("triage-agent", owner=agent.owner, scopes=["tools"], label="three", by=mia.actor())
    assert "Revokes 2 tokens and ends 0 investigations" in client.get("/agents/triage-agent/").content.decode()
    assert client.post("/agents/triage-agent/stop/")["Location"] == "/agents/triage-agent/"
    assert [agents.authenticate(token) for token in (first, second, third)] == [None] * 3
    stopped = last("agent triage-agent")
    assert (stopped.kind, stopped.summary) == (
        "agent.changed", "stopped: 2 tokens revoked, 0 investigations ended",
    )  # fmt: skip
    client.post("/agents/triage-agent/stop/")
    assert last("agent triage-agent").seq == stopped.seq
    page = client.get("/agents/triage-agent/").content.decode()
    assert "This agent is stopped." in page
    assert "Stop this agent now" not in page
    client.post("/agents/triage-agent/start/")
    assert [agents.authenticate(token) for token in (first, second, third)] == [None] * 3
    assert last("agent triage-agent").summary == "started again"
    new = client.post("/agents/triage-agent/tokens/", TOKEN).content.decode()
    assert agents.authenticate("csa_" + new.split("<code>csa_")[1].split("</code>")[0]) is not None


def test_an_admin_changes_the_budget_and_the_page_says_who_and_what(client, mia, make_agent) -> None:
    agent, _ = make_agent("triage-agent")
    budgets.take(agent.pk, budgets.CALLS)
    assert client.post("/agents/triage-agent/budget/", BUDGET)["Location"] == "/agents/triage-agent/"
    agent.refresh_from_db()
    assert (agent.calls_per_hour, agent.open_investigations, agent.proposals_per_day) == (20, 2, 3)
    entry = last("agent triage-agent")
    changed = "budget: calls per hour 1,000 to 20, open investigations 10 to 2, proposals per day 50 to 3"
    assert (entry.kind, entry.actor, entry.summary) == ("agent.changed", "Mia Lindqvist", changed)
    page = client.get("/agents/triage-agent/").content.decode()
    assert changed in page
    assert '<td>Calls in this hour</td><td class="num">1</td><td class="num">20</td>' in page
    client.post("/agents/triage-agent/budget/", BUDGET)
    assert last("agent triage-agent").seq == entry.seq


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calls_per_hour": "0"}, "greater than or equal to 1"),
        ({"open_investigations": "many"}, "whole number"),
        ({"proposals_per_day": "1000001"}, "less than or equal to 1000000"),
        ({"proposals_per_day": ""}, "required"),
    ],
)
def test_a_budget_that_cannot_be_is_asked_for_again(client, mia, make_agent, changes, words) -> None:
    agent, _ = make_agent("triage-agent")
    response = client.post("/agents/triage-agent/budget/", {**BUDGET, **changes})
    page = response.content.decode()
    assert response.status_code == 422
    assert words in page
    assert 'value="20"' in page or "calls_per_hour" in changes
    agent.refresh_from_db()
    assert agent.calls_per_hour == 1000


def test_the_page_says_who_issued_and_revoked_its_tokens(client, mia) -> None:
    agents.issue_token("new-agent", owner=mia, scopes=["tools"], label="for nights", by=mia.actor())
    page = client.get("/agents/new-agent/").content.decode()
    assert "Mia Lindqvist issued a token of agent new-agent" in page
    assert "for nights: tools" in page


def test_a_limit_that_is_used_up_says_so(client, mia, make_agent) -> None:
    agent, _ = make_agent("triage-agent")
    assert "used up" not in client.get("/agents/triage-agent/").content.decode()
    budgets.change(agent.pk, dict.fromkeys(budgets.COLUMNS, 1), by=mia.actor())
    budgets.take(agent.pk, budgets.PROPOSALS)
    assert "used up" in client.get("/agents/triage-agent/").content.decode()


def test_the_page_counts_the_last_day_and_shows_what_was_refused(client, mia, make_agent) -> None:
    agent, _ = make_agent("count-agent")
    actor = log.Actor("agent", "count-agent", agent.owner_name)
    for _ in range(3):
        log.record(Kind.CALL_FINISHED, actor, tool="find_job")
    entry = log.record(Kind.CALL_REFUSED, actor, tool=HOSTILE, error=HOSTILE, status="refused")
    log.record(Kind.CALL_FINISHED, log.Actor("person", "count-agent", "x"), tool="find_job")
    page = agent_page.AgentPage(agent)
    assert (page.calls, page.refused) == ("3", "1")
    assert [one.seq for one in page.refusals] == [entry.seq]
    text = client.get("/agents/count-agent/").content.decode()
    assert entry.ref in text
    assert "<script>alert" not in text


def test_yesterdays_calls_do_not_count(make_agent) -> None:
    agent, _ = make_agent("past-agent")
    log.record(Kind.CALL_FINISHED, log.Actor("agent", "past-agent", "x"), tool="find_job")
    page = agent_page.AgentPage(agent)
    page.now = timezone.now() + timedelta(days=1, minutes=1)
    assert page.calls == "0"


def test_counting_stops_early(make_agent, monkeypatch) -> None:
    agent, _ = make_agent("busy-agent")
    monkeypatch.setattr(agent_page, "MOST_COUNTED", 1)
    for _ in range(3):
        log.record(Kind.CALL_FINISHED, log.Actor("agent", "busy-agent", "x"), tool="find_job")
    assert agent_page.AgentPage(agent).calls == "more than 1"


def test_a_page_needs_as_many_queries_for_ten_as_for_one(
    client, mia, make_agent, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    agent, _ = make_agent("triage-agent")
    for address in ("/agents/", "/agents/triage-agent/"):
        with django_assert_max_num_queries(26) as first:
            client.get(address)
        for number in range(9):
            agents.issue_token("triage-agent", owner=agent.owner, scopes=["tools"], label=f"{number}", by=mia.actor())
        with django_assert_num_queries(len(first)):
            client.get(address)


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_other_roles_change_nothing(client, make_person, make_agent, role) -> None:
    agent, token = make_agent("triage-agent")
    eve = make_person("eve", role)
    client.force_login(eve)
    acts = [
        (f"/agents/tokens/{agent.tokens.get().pk}/revocation/", {}),
        ("/agents/triage-agent/tokens/", TOKEN),
        ("/agents/triage-agent/stop/", {}),
        ("/agents/triage-agent/start/", {}),
        ("/agents/triage-agent/budget/", BUDGET),
        ("/agents/", {"name": "mine", "owner": eve.pk}),
    ]
    for address, said in acts:
        assert client.post(address, said).status_code == 403, address
    assert agents.authenticate(token) is not None
    assert (Agent.objects.count(), AgentToken.objects.count()) == (1, 1)


def test_an_unknown_agent_is_not_found(client, mia) -> None:
    for act in ("", "tokens/", "stop/", "start/", "budget/"):
        address = f"/agents/nobody/{act}"
        assert (client.post(address) if act else client.get(address)).status_code == 404
    for act in ("tokens/", "stop/", "start/", "budget/"):
        assert client.get(f"/agents/nobody/{act}").status_code == 405


def test_without_agents_the_page_says_how_to_begin(client, make_person) -> None:
    client.force_login(make_person("vera", "viewer"))
    assert "No agent yet." in client.get("/agents/").content.decode()
