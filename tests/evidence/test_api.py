"""Tools over REST: answers, problems, and the schema."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import psycopg
import pytest
import simplejson
from django.core.management import call_command
from django.db import OperationalError
from django.db.models import Q
from django.test import Client

from audit.models import AgentToken, Entry
from evidence import api, desk, recording
from evidence.desk import DeskTool
from evidence.errors import Problem
from tests.evidence import bodies

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_agents")]


@pytest.fixture
def http(asker: Any) -> Client:
    return Client(headers={"Authorization": f"Bearer {asker[1]}"})


def post(http: Client, name: str, body: Any) -> Any:
    raw = body if isinstance(body, str) else json.dumps(body)
    return http.post(f"/api/v1/tools/{name}", raw, content_type="application/json")


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    told: dict[str, Any] = json.loads(answer.content)
    assert (told["status"], told["code"]) == (status, code)
    assert told["detail"].endswith(".")
    assert told["title"]
    return told


@pytest.fixture
def find_job(certified: Any, define: Any, asker: Any, scope_of: Any) -> Any:
    define("tool", "find_job", bodies.tool())
    return scope_of(asker[0], "find_job", "price")


def test_a_tool_is_called_and_answers_with_its_audit_id(find_job: Any, http: Client) -> None:
    answer = post(http, "find_job", {"arguments": {"job_id": 13}, "investigation": 7001})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    told = answer.json()
    assert told["result"] == {"job": {"id": 13, "state": "failed"}}
    assert (told["truncated"], told["budget_left"]) == (False, 4)
    assert Entry.objects.get(seq=int(told["audit_id"][2:])).kind == "call.finished"


def test_digits_survive_both_ways(find_job: Any, define: Any, http: Client) -> None:
    sql = "select $1::numeric as a, 0.10 as b, '\\u00e9 \\ud83d\\ude00'::jsonb as c".replace("'\\u", "'\"\\u").replace(
        "00'", "00\"'"
    )
    define("tool", "price", bodies.any_tool(sql, "amount", shape="row"))
    answer = post(http, "price", '{"arguments": {"amount": 1234567890123456789.10}}')
    row = simplejson.loads(answer.content, use_decimal=True)["result"]["row"]
    assert row["a"] == Decimal("1234567890123456789.10")
    assert str(row["b"]) == "0.10"
    assert row["c"] == "é 😀"


def test_the_list_says_what_the_token_is_good_for(
    find_job: Any, http: Client, make_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        desk, "DESK", {"hand_in": DeskTool("hand_in", "Hands in.", {"type": "object"}, "propose", dict)}
    )
    tools = http.get("/api/v1/tools").json()["tools"]
    assert [(tool["name"], tool["read_only"]) for tool in tools] == [("find_job", True), ("hand_in", False)]
    assert tools[0]["output_schema"] == bodies.tool()["output_schema"]
    assert "investigation" in tools[0]["input_schema"]["properties"]
    _, token = make_agent("only-proposes", scopes=("propose",))
    other = Client(headers={"Authorization": f"Bearer {token}"})
    assert [tool["name"] for tool in other.get("/api/v1/tools").json()["tools"]] == ["hand_in"]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer csa_unknown", "Basic dXNlcjpwdw==", "Bearer \xff\xfe", "Token x"]
)
def test_strangers_are_turned_away(find_job: Any, header: str) -> None:
    stranger = Client(headers={"Authorization": header} if header else {})
    for answer in (stranger.get("/api/v1/tools"), post(stranger, "find_job", {})):
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer["Content-Type"] == "application/problem+json"


def test_a_revoked_token_is_turned_away(find_job: Any, http: Client, asker: Any) -> None:
    from django.utils import timezone

    AgentToken.objects.update(revoked_at=timezone.now())
    problem(http.get("/api/v1/tools"), 401, "authentication_failed")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, "parse_error"),
        ('{"arguments": {"job_id": NaN}}', 400, "parse_error"),
        ("[]", 400, "invalid"),
        ('{"arguments": []}', 400, "invalid"),
        ('{"argument": {}}', 400, "invalid"),
        ('{"arguments": {}, "investigation": "x"}', 400, "invalid"),
        ('{"arguments": {}, "investigation": 0}', 400, "invalid"),
        ('{"arguments": {}}', 422, "wrong_arguments"),
        ('{"arguments": {"job_id": 1.0}}', 422, "wrong_arguments"),
        ("{}", 422, "wrong_arguments"),
        ("[" * 100_000, 400, "parse_error"),
    ],
)
def test_a_body_that_does_not_fit_is_a_problem(find_job: Any, http: Client, body: str, status: int, code: str) -> None:
    problem(post(http, "find_job", body), status, code)


POSTS = ("/api/v1/tools/find_job", "/api/v1/investigations", "/api/v1/investigations/1/findings", "/api/v1/writes")


def refused(error_class: str, **about: Any) -> Any:
    return Entry.objects.filter(kind="call.refused", error_class=error_class, **about)


@pytest.mark.parametrize("path", POSTS)
def test_no_body_breaks_an_address(http: Client, settings: Any, path: str) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 200_000
    deep, long = "[" * 100_000, json.dumps({"a": "x" * 200_000})
    problem(http.post(path, deep, content_type="application/json"), 400, "parse_error")
    problem(http.post(path, long, content_type="application/json"), 413, "too_large")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(("body", "kind"), [("{", "application/json"), ("[1]", "application/json"), ("a=b", "text/x")])
def test_a_request_that_no_handler_takes_is_recorded(http: Client, asker: Any, path: str, body: str, kind: str) -> None:
    agent = asker[0].agent
    before = Entry.objects.filter(kind="call.refused", actor=agent).count()
    assert http.post(path, body, content_type=kind).status_code in (400, 415, 422)
    assert Entry.objects.filter(kind="call.refused", actor=agent).count() == before + 1


def test_a_known_caller_does_not_flood_the_log(http: Client, asker: Any) -> None:
    recorded = Entry.objects.filter(kind="call.refused", actor=asker[0].agent)
    before = recorded.count()
    for _ in range(recording.RECORDED_EACH + 7):
        assert http.post(POSTS[0], "{", content_type="application/json").status_code == 400
    recording.counting.flush()
    assert recorded.count() == before + recording.RECORDED_EACH + 1
    newest = recorded.order_by("-seq").first()
    assert newest is not None
    assert newest.summary == "7 more refusals within a minute"


def test_a_request_that_cannot_be_recorded_is_not_answered(http: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*args: Any, **about: Any) -> Any:
        raise psycopg.OperationalError("the log is down")

    monkeypatch.setattr("audit.log.record", down)
    assert http.post(POSTS[0], "{", content_type="application/json").status_code == 503


def test_a_secret_in_what_was_named_is_masked_in_the_log(find_job: Any, http: Client) -> None:
    problem(post(http, "password=hunter2-tool", {}), 404, "unknown_tool")
    problem(post(http, "find_job", {"arguments": {"job_id": 1, "password=hunter2-key": 1}}), 422, "wrong_arguments")
    named = Entry.objects.filter(kind="call.refused")
    assert named.filter(tool="password=[masked: password]").exists()
    assert named.filter(error="password=[masked: password] is not a property of this tool.").exists()
    assert not named.filter(Q(tool__contains="hunter2") | Q(error__contains="hunter2")).exists()


def test_unknown_and_forbidden_tools_answer_alike(find_job: Any, define: Any, http: Client) -> None:
    define("tool", "of_another_class", bodies.tool())
    answers = [post(http, name, {"arguments": {"job_id": 1}}) for name in ("nothing", "of_another_class")]
    assert answers[0].content == answers[1].content
    problem(answers[0], 404, "unknown_tool")


def test_a_failed_call_carries_its_audit_id(find_job: Any, define: Any, http: Client) -> None:
    define("tool", "price", bodies.any_tool("select 1 / 0 as a"))
    told = problem(post(http, "price", {}), 502, "database")
    assert Entry.objects.get(seq=int(told["audit_id"][2:])).status == "failed"


def test_a_number_too_large_for_its_column_is_the_callers_fault(find_job: Any, http: Client) -> None:
    told = problem(post(http, "find_job", {"arguments": {"job_id": 2**90}}), 422, "parameters")
    assert Entry.objects.get(seq=int(told["audit_id"][2:])).status == "failed"


def test_everything_else_is_a_problem_too(http: Client) -> None:
    problem(http.get("/nothing/here"), 404, "not_found")
    problem(http.get("/api/v1/nothing"), 404, "not_found")
    answer = http.delete("/api/v1/tools")
    problem(answer, 405, "method_not_allowed")
    assert "GET" in answer["Allow"]
    problem(http.post("/api/v1/tools/x", "a=b", content_type="application/x-www-form-urlencoded"), 415,
            "unsupported_media_type")  # fmt: skip
    problem(http.get("/api/v1/tools", headers={"host": "elsewhere.example"}), 400, "bad_request")


def test_an_unexpected_error_says_nothing_of_itself(http: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(principal: Any) -> Any:
        raise LookupError("inner secret")

    monkeypatch.setattr(api.catalog, "offered", broken)
    http.raise_request_exception = False
    answer = http.get("/api/v1/tools")
    problem(answer, 500, "internal_error")
    assert b"inner secret" not in answer.content


def test_a_database_that_does_not_answer_is_said(http: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(principal: Any) -> Any:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(api.catalog, "offered", broken)
    problem(http.get("/api/v1/tools"), 503, "unavailable")


def test_desk_tools_are_called_and_their_refusals_recorded(http: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(principal: Any, given: dict[str, Any]) -> dict[str, Any]:
        if given["note"] == "no":
            raise Problem(409, "not_now", "Not now.")
        return {"received": given["note"], "by": principal.agent}

    given = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
    monkeypatch.setattr(desk, "DESK", {"hand_in": DeskTool("hand_in", "Hands in.", given, "propose", handle)})
    assert post(http, "hand_in", {"arguments": {"note": "x"}}).json() == {"received": "x", "by": "asker"}
    problem(post(http, "hand_in", {"arguments": {"note": "no"}}), 409, "not_now")
    problem(post(http, "hand_in", {"arguments": {}}), 422, "wrong_arguments")
    refused = Entry.objects.filter(kind="call.refused", tool="hand_in", actor="asker").order_by("-seq")[0]
    assert refused.error == "note is missing."


def test_the_schema_is_valid_and_covers_the_plane(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(target))
    schema = json.loads(target.read_text())
    assert {
        "/api/v1/tools",
        "/api/v1/tools/{name}",
        "/api/v1/incidents",
        "/api/v1/investigations",
        "/api/v1/writes",
    } <= (set(schema["paths"]))
    assert schema["paths"]["/api/v1/tools"]["get"]["security"] == [{"agentToken": []}]
    assert capsys.readouterr().err == ""


def test_the_schema_is_served_to_everyone() -> None:
    assert Client().get("/api/v1/schema").status_code == 200
