"""The pages work with the grants of the people's plane and nothing more."""

import json

import pytest

from audit import agents, log
from audit.kinds import Kind

pytestmark = pytest.mark.usefixtures("gadgets")


def test_every_page_opens_with_the_role_of_its_process(as_role, client, make_person, make_agent) -> None:
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    agent, token = make_agent("triage-agent")
    as_role("people")
    receipt = log.record(Kind.COMMENT_ADDED, log.Actor("person", "Ada", "ada"), subject="I-318", args={"a": 1})
    client.force_login(ada)
    posted = client.post("/gadgets/new/", {"name": "lamp", "body": json.dumps({"size": "s"}), "reason": "why"})
    assert posted.status_code == 302
    for address in ("/audit/?time=2026-01-01", f"/audit/{receipt.seq}/", f"/audit/{receipt.seq}.json", "/agents/",
                    "/gadgets/", "/gadgets/lamp/", "/gadgets/lamp/new/"):  # fmt: skip
        assert client.get(address).status_code == 200, address
    client.force_login(mia)
    assert client.post("/gadgets/lamp/versions/1/activation/").status_code == 302
    assert client.post(f"/agents/tokens/{agent.tokens.get().pk}/revocation/").status_code == 302
    assert agents.authenticate(token) is None
    for act, said in (("tokens", {"label": "x", "scopes": ["tools"], "days": 1}), ("stop", {}), ("start", {})):
        assert client.post(f"/agents/triage-agent/{act}/", said).status_code in (200, 302), act
    assert client.post("/agents/", {"name": "other-agent", "owner": ada.pk}).status_code == 302
    assert client.get("/agents/other-agent/").status_code == 200


def test_the_agents_plane_records_and_authenticates_with_its_role(as_role, make_agent) -> None:
    _, token = make_agent("triage-agent")
    as_role("agents")
    principal = agents.authenticate(token)
    assert principal is not None
    assert log.record(Kind.CALL_STARTED, principal.actor(), tool="find_job", args={"job_id": 1}).seq > 0
