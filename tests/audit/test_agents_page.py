import pytest

from audit import agents

pytestmark = pytest.mark.django_db


def test_agents_are_listed_without_secrets(client, make_person, make_agent) -> None:
    agent, token = make_agent("triage-agent")
    client.force_login(make_person("vera", "viewer"))
    text = client.get("/agents/").content.decode()
    for words in ("triage-agent", agent.owner_name, "tools", "in use"):
        assert words in text
    assert token not in text
    assert agent.tokens.get().digest not in text
    assert "Revoke" not in text.replace("Revoke</span></th>", "")


def test_an_admin_revokes_a_token(client, make_person, make_agent) -> None:
    agent, token = make_agent("triage-agent")
    client.force_login(make_person("mia", "admin"))
    address = f"/agents/tokens/{agent.tokens.get().pk}/revocation/"
    assert address in client.get("/agents/").content.decode()
    assert client.post(address)["Location"] == "/agents/"
    assert agents.authenticate(token) is None
    assert "revoked" in client.get("/agents/").content.decode()


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_other_roles_revoke_nothing(client, make_person, make_agent, role) -> None:
    agent, token = make_agent("triage-agent")
    client.force_login(make_person("eve", role))
    assert client.post(f"/agents/tokens/{agent.tokens.get().pk}/revocation/").status_code == 403
    assert agents.authenticate(token) is not None


def test_without_agents_the_page_says_how_to_begin(client, make_person) -> None:
    client.force_login(make_person("vera", "viewer"))
    assert "No agent yet." in client.get("/agents/").content.decode()
