from datetime import timedelta

import pytest
from django.utils import timezone

from audit import agents, log
from audit.kinds import Kind
from audit.models import Agent, AgentToken, Entry

pytestmark = pytest.mark.django_db


def test_a_token_names_its_agent_owner_and_scopes(make_agent) -> None:
    agent, token = make_agent("triage-agent", scopes=("tools",))
    principal = agents.authenticate(token)
    assert principal is not None
    assert (principal.agent, principal.owner, principal.scopes) == ("triage-agent", agent.owner.username, {"tools"})
    assert principal.actor() == log.Actor("agent", "triage-agent", agent.owner.username)


def test_only_a_hash_of_the_token_is_kept(make_agent) -> None:
    _, token = make_agent()
    kept = AgentToken.objects.get()
    assert token not in str(vars(kept))
    assert len(token) > 40


@pytest.mark.parametrize("token", ["", "csa_", "csa_" + "x" * 43, "\0", "\ud800", "é" * 10_000])
def test_an_unknown_token_is_nobody(make_agent, token) -> None:
    make_agent()
    assert agents.authenticate(token) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda token: AgentToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1)),
        lambda token: AgentToken.objects.update(revoked_at=timezone.now()),
        lambda token: Agent.objects.update(stopped_at=timezone.now()),
    ],
    ids=["expired", "revoked", "stopped"],
)
def test_a_token_ends(make_agent, change) -> None:
    _, token = make_agent()
    assert agents.authenticate(token) is not None
    change(token)
    assert agents.authenticate(token) is None


def test_revoking_is_recorded_once(make_agent, make_person) -> None:
    agent, token = make_agent("stopped-agent")
    by = log.Actor("person", "Mia", "mia")
    for _ in range(2):
        agents.revoke_token(agent.tokens.get().pk, by=by)
    assert agents.authenticate(token) is None
    assert Entry.objects.filter(kind=Kind.TOKEN_REVOKED, subject="agent stopped-agent").count() == 1


def test_issuing_is_recorded_without_the_token(make_agent) -> None:
    from audit import reading

    _, token = make_agent("recorded-agent")
    entry = Entry.objects.get(kind=Kind.TOKEN_ISSUED, subject="agent recorded-agent")
    content = reading.content_of(entry)
    assert content.args["scopes"] == sorted(agents.SCOPES)
    assert token.encode() not in content.args_raw + content.result_raw


@pytest.mark.parametrize("scopes", [[], ["tools", "approve"], ["admin"]])
def test_a_token_carries_known_scopes_and_at_least_one(make_person, scopes) -> None:
    with pytest.raises(ValueError, match=r"scope"):
        agents.issue_token("a", owner=make_person("mia"), scopes=scopes, label="x", by=log.Actor.process())
    assert not Agent.objects.exists()


def test_an_agent_keeps_its_owner(make_agent, make_person) -> None:
    make_agent("triage-agent")
    with pytest.raises(ValueError, match="owned by someone else"):
        agents.issue_token(
            "triage-agent", owner=make_person("eve"), scopes=["tools"], label="x", by=log.Actor.process()
        )


def test_an_agent_whom_nobody_answers_for_works_no_more(client, make_person, make_agent) -> None:
    agent, _ = make_agent("orphan")
    agents.stop(agent.pk, by=log.Actor.process())
    type(agent.owner).objects.filter(pk=agent.owner_id).update(is_active=False)
    client.force_login(make_person("mia", "admin"))
    for act, typed in (("start", {}), ("tokens", {"label": "laptop", "scopes": ["tools"], "days": "30"})):
        answer = client.post(f"/agents/orphan/{act}/", typed)
        assert answer.status_code == 409
        assert "deactivated and answers for nobody" in answer.content.decode()
    assert agents.is_stopped(agent.pk)
    assert not agents.usable_tokens(agent).exists()


def test_a_deactivated_owner_gets_no_new_token(make_person) -> None:
    leaver = make_person("leaver", "admin")
    leaver.is_active = False
    leaver.save(update_fields=["is_active"])
    with pytest.raises(ValueError, match="deactivated and answers for nobody"):
        agents.issue_token("orphan", owner=leaver, scopes=["tools"], label="t", by=log.Actor("person", "A", "a"))
