from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit import reading
from audit.models import Entry
from evidence import desk as agents_desk
from evidence.errors import Problem
from gate.writes import admitting
from gate.writes.models import Decision, WriteRequest
from tests.writes.conftest import REQUEUE, REQUEUE_PARAMETERS

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_agents")]

BODY = {
    "target": "shop", "statement": REQUEUE, "parameters": REQUEUE_PARAMETERS, "title": "Requeue job 7",
    "reason": "Stuck.",
}  # fmt: skip


@pytest.fixture
def api(target: Any, make_agent: Any) -> Any:
    """The API as an agent with a token for proposing."""
    _, token = make_agent("poster", scopes=("propose",))
    return Api(token)


class Api:
    def __init__(self, token: str) -> None:
        self.token = token
        self.client = Client()

    def post(self, body: Any, path: str = "/api/v1/writes") -> Any:
        headers = {"authorization": f"Bearer {self.token}"}
        return self.client.post(path, body, content_type="application/json", headers=headers)

    def get(self, path: str) -> Any:
        return self.client.get(path, headers={"authorization": f"Bearer {self.token}"})


def test_an_agent_proposes_and_learns_the_status_and_nothing_else(api: Api) -> None:
    answer = api.post(BODY)
    assert answer.status_code == 201
    told = answer.json()
    needs = ["admission: it is being checked before a person sees it"]
    assert told == {
        "id": told["id"], "write": f"W-{told['id']}", "status": "proposed", "edition": 1, "reason": "", "rule": "",
        "needs": needs,
    }  # fmt: skip
    assert api.get(f"/api/v1/writes/{told['id']}").json() == told
    admitting.admit(told["id"])
    assert api.get(f"/api/v1/writes/{told['id']}").json()["needs"] == [
        "a preview, which a person asks for", "approval by 1 on-call"
    ]  # fmt: skip
    WriteRequest.objects.filter(pk=told["id"]).update(status="rejected")
    assert api.get(f"/api/v1/writes/{told['id']}").json()["status"] == "rejected"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"approve": True}, "approve"), ({"status": "approved"}, "status"),
        ({"statement": "truncate shop.jobs"}, "one INSERT"),
        ({"parameters": [{"t": "bigint", "v": 7}]}, "v"), ({"parameters": "x"}, "parameters"),
        ({"title": ""}, "needs a title"),
        ({"reason": "\ud800"}, "U+D800"), ({"target": "\u0000"}, "no target"),
        ({"incident": "I-1\ud800"}, "no open incident"),
        ({"answers": {"q": {"abstain": True, "why": "a\0b"}}}, "U+0000"), ({"answers": {"q\0": {}}}, "U+0000"),
        ({"model": {"id": "\udc00"}}, "U+DC00"),
        ({"statement": "delete from shop.gate_ledger", "parameters": []}, "no proposal may name it"),
    ],
)  # fmt: skip
def test_a_proposal_that_does_not_fit_is_a_problem_with_a_sentence(api: Api, changed: Any, sentence: str) -> None:
    answer = api.post({**BODY, **changed})
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert sentence in answer.json()["detail"]
    assert WriteRequest.objects.count() == 0


@pytest.mark.parametrize("missing", BODY)
def test_every_part_is_needed(api: Api, missing: str) -> None:
    assert api.post({key: value for key, value in BODY.items() if key != missing}).status_code == 422


@pytest.mark.parametrize("body", [[], "text", 5, None])
def test_a_body_that_is_no_object_is_refused(api: Api, body: Any) -> None:
    assert api.post(body).status_code in {400, 422}


def test_a_refusal_is_in_the_log_with_what_was_asked(api: Api) -> None:
    api.post({**BODY, "statement": "delete from jobs", "parameters": []})
    entry = Entry.objects.filter(kind="call.refused", tool="propose_write", actor="poster").latest("seq")
    assert "Name the schema" in entry.error
    assert reading.payload_of(entry.pk).args["statement"] == "delete from jobs"


def test_another_agents_write_looks_like_none_at_all(api: Api, propose: Any) -> None:
    other = propose()
    first, second = api.get(f"/api/v1/writes/{other.pk}"), api.get("/api/v1/writes/999999999")
    assert (first.status_code, first.content) == (404, second.content)


def test_without_the_scope_there_is_nothing_to_call(target: Any, make_agent: Any) -> None:
    _, token = make_agent("reader", scopes=("tools",))
    assert Api(token).post(BODY).status_code == 404
    assert Api(token).get("/api/v1/writes/1").status_code == 404


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer csa_nothing"}, {"authorization": "Basic YTpi"}])
def test_without_a_token_there_is_a_401(target: Any, headers: Any) -> None:
    client = Client()
    assert client.post("/api/v1/writes", BODY, content_type="application/json", headers=headers).status_code == 401
    assert client.get("/api/v1/writes/1", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "path",
    ["/writes/{}/decision/", "/writes/{}/preview/", "/api/v1/writes/{}/decision", "/api/v1/writes/{}/approve",
     "/api/v1/writes/{}"],
)  # fmt: skip
def test_no_address_of_the_agents_plane_approves(api: Api, path: str) -> None:
    pk = api.post(BODY).json()["id"]
    for body in ({"decision": "approve", "reason": "x", "seen_version": 1}, {"status": "approved"}):
        assert api.post(body, path.format(pk)).status_code in {404, 405}
    assert WriteRequest.objects.get(pk=pk).status == "proposed"
    assert Decision.objects.count() == 0


def test_no_desk_tool_approves(agent: Any, propose: Any) -> None:
    write = propose()
    for name in agents_desk.DESK:
        assert not any(word in name for word in ("approve", "decide", "execute", "preview"))
    assert agents_desk.call(agent, "write_status", {"write": write.ref})["status"] == "waiting"
    for wrong in ("577", "W-0", "W-999999999", "W-1; drop", write.ref + " "):
        with pytest.raises(Problem) as problem:
            agents_desk.call(agent, "write_status", {"write": wrong})
        assert problem.value.code == "unknown_write"


def test_an_agents_proposal_names_its_incident_and_investigation(agent: Any, propose: Any, make_incident: Any) -> None:
    incident, investigation = make_incident(agent)
    write = propose(incident=incident.ref)
    assert (write.incident, write.investigation) == (incident, investigation)
    entry = Entry.objects.filter(kind="write.proposed", subject=write.ref).latest("seq")
    assert (entry.incident_id, entry.run_id) == (incident.pk, str(investigation.pk))


def test_the_schema_names_both_addresses(target: Any) -> None:
    schema = Client().get("/api/v1/schema").content.decode()
    assert "/api/v1/writes/{id}" in schema or "/api/v1/writes/{pk}" in schema
