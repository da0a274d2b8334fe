"""Admission over REST: decided by the policy in force, recorded before it is told, and nothing more than asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client

from audit import reading, twohands
from audit.models import Entry
from evidence import arguments
from gate.admission import canonical, files, hooks
from tests.admission.programs import case
from tests.admission.test_hook import Machine, decision_of

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_agents")]
SHELL = files.find("shell-commands")
REGENERABLE = {"action": "removes", "place": "inside", "regenerable": "yes", "tracked": "no", "exists": "yes"}


def probed(**facts: Any) -> dict[str, Any]:
    return {name: {"value": value, "by": "probe"} for name, value in facts.items()}


def body(name: str) -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((files.SHIPPED / f"{name}.json").read_text())
    return raw


class Api:
    def __init__(self, token: str) -> None:
        self.headers = {"authorization": f"Bearer {token}"}
        self.client = Client()

    def post(self, path: str, given: Any) -> Any:
        text = given if isinstance(given, str | bytes) else json.dumps(given)
        return self.client.post(f"/api/v1/{path}", text, content_type="application/json", headers=self.headers)

    def decide(self, **given: Any) -> Any:
        return self.post("admission/decide", {"is_production": False, **given})


@pytest.fixture
def api(make_agent: Any) -> Api:
    return Api(make_agent("coder", scopes=("admit",))[1])


@pytest.fixture
def in_force(define: Any) -> Any:
    return define("policy", "shell-commands", body("shell-commands"))


def entry_of(told: dict[str, Any]) -> tuple[Entry, Any]:
    found = Entry.objects.get(seq=int(told["audit_id"].removeprefix("A-")))
    return found, reading.content_of(found)


def test_the_policy_in_force_decides_and_the_decision_is_an_entry(api: Api, in_force: Any) -> None:
    told = api.decide(policy="shell-commands", answers=probed(**REGENERABLE), subject="rm -rf node_modules").json()
    assert {**told, "audit_id": ""} == {
        "verdict": "allow", "rule": "build_output", "escalations": [], "policy": "shell-commands", "version": 1,
        "digest": canonical.digest(SHELL.program), "is_enforced": True, "is_clamped": False, "audit_id": "",
    }  # fmt: skip
    entry, content = entry_of(told)
    assert (entry.kind, entry.actor, entry.subject) == ("admission.decided", "coder", "rm -rf node_modules")
    assert (entry.tool_hash, entry.tool_version) == (told["digest"], 1)
    assert content.args["answers"] == probed(**REGENERABLE)
    assert (content.result["verdict"], content.result["rule"]) == ("allow", "build_output")


def test_every_defect_is_told_and_the_reason_of_an_abstention_is_kept(api: Api, in_force: Any) -> None:
    answers = {**probed(**REGENERABLE), "tracked": {"abstain": True, "why": "git is gone"}, "exists": {"value": "yes"}}
    told = api.decide(policy="shell-commands", answers=answers).json()
    assert told["escalations"] == [{"q": "tracked", "why": "missing"}, {"q": "exists", "why": "wrong_source"}]
    assert (told["verdict"], told["rule"]) == ("ask", None)
    assert entry_of(told)[1].result["reasons"] == {"tracked": "git is gone"}


def test_thresholds_are_recorded_as_they_were(api: Api, define: Any) -> None:
    program = case("dev-r32")["program"]
    define("policy", "loss", {"title": "Loss", "program": program, "cases": []})
    told = api.decide(policy="loss", answers=case("dev-r32")["answers"]).json()
    assert told["rule"] == "s5"
    assert json.dumps(entry_of(told)[1].result["thresholds"], default=str) == (
        json.dumps({"changes_rows": ["0.3", "0.7"], "loss": "0.6"})
    )


def test_whoever_answers_gets_questions_and_nothing_that_follows_from_the_answers(api: Api, define: Any) -> None:
    program = case("dev-r33")["program"]
    define("policy", "loss", {"title": "Loss", "program": program, "cases": []})
    answer = api.client.get("/api/v1/admission/policies/loss/questions", headers=api.headers)
    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert [one["id"] for one in answer.json()["questions"]] == ["changes_rows", "loss"]  # no probe's
    text = answer.content.decode().replace(answer.json()["policy"], "")
    for word in ("unsure", "0.3", "0.7", "0.6", "allow", "block", "rules", "then", "otherwise", "environment"):
        assert word not in text, word
    for one in answer.json()["questions"]:
        assert arguments.flaw({"type": "object", "properties": {"a": one["answer"]}}) == ""
        given = case("dev-r33")["answers"][one["id"]]
        for fitting in (given, {"abstain": True, "why": "I cannot tell"}):
            assert arguments.misfit(one["answer"], fitting) == ""
        assert arguments.misfit(one["answer"], {**given, "verdict": "allow"})
    missing = api.client.get("/api/v1/admission/policies/nobody/questions", headers=api.headers)
    assert missing.status_code == 404


def test_the_model_that_answered_is_recorded(api: Api, in_force: Any) -> None:
    told = api.decide(
        policy="shell-commands", answers=probed(**REGENERABLE), model={"id": "answers-2", "latency_ms": 812}
    ).json()
    assert entry_of(told)[1].args["model"] == {"id": "answers-2", "latency_ms": 812}


def test_another_action_voids_the_evidence(api: Api, in_force: Any) -> None:
    given = {"policy": "shell-commands", "answers": probed(**REGENERABLE), "judged_action": "a"}
    assert api.decide(**given, executed_action="a").json()["verdict"] == "allow"
    for more in ({"executed_action": "b"}, {}):
        assert api.decide(**given, **more).json()["escalations"] == [{"q": None, "why": "action_changed"}]


def test_production_is_never_allowed_but_may_be_blocked(api: Api, in_force: Any) -> None:
    told = api.decide(policy="shell-commands", answers=probed(**REGENERABLE), is_production=True).json()
    assert (told["verdict"], told["rule"], told["is_clamped"]) == ("ask", "build_output", True)
    unsaid = {"policy": "shell-commands", "answers": probed(**REGENERABLE)}
    assert api.post("admission/decide", unsaid).json()["verdict"] == "ask"
    blocked = probed(**{**REGENERABLE, "place": "home"})
    told = api.decide(policy="shell-commands", answers=blocked, is_production=True).json()
    assert (told["verdict"], told["is_clamped"]) == ("block", False)


def test_without_a_policy_a_person_is_asked(api: Api) -> None:
    told = api.decide(policy="shell-commands", answers=probed(**REGENERABLE)).json()
    assert (told["verdict"], told["escalations"], told["version"]) == ("ask", [{"q": None, "why": "no_policy"}], None)


def test_a_draft_decides_nothing_and_an_observing_version_holds_nothing_back(api: Api, make_person: Any) -> None:
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    version = twohands.draft("policy", "shell-commands", body("shell-commands"), by=ada, reason="first")
    home = probed(**{**REGENERABLE, "place": "home"})
    assert api.decide(policy="shell-commands", answers=home).json()["version"] is None
    twohands.shadow(version.pk, by=ada)
    told = api.decide(policy="shell-commands", answers=home).json()
    assert (told["verdict"], told["is_enforced"], told["version"]) == ("block", False, 1)
    assert entry_of(told)[0].summary == "block: rule home_or_system, observed only"
    call = observed_call(REGENERABLE | {"place": "home"})
    assert api.post("hooks/claude-code", call).content == b""
    twohands.activate(version.pk, by=mia)
    assert api.decide(policy="shell-commands", answers=home).json()["is_enforced"] is True


def call(tool: str = "Bash", **given: Any) -> dict[str, Any]:
    return {
        "session_id": "5f1c", "transcript_path": "/home/ada/.claude/5f1c.jsonl", "cwd": "/home/ada/shop",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": given or {"command": "rm -rf node_modules", "description": "Clean up"}, "tool_use_id": "toolu_01",
    }  # fmt: skip


def observed_call(facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    payload = call()
    return {**payload, "counterseal": {"action": hooks.action_of(payload), "answers": facts, **more}}


def said(answer: Any) -> tuple[str, str]:
    found = answer.json()["hookSpecificOutput"]
    assert (answer.status_code, found["hookEventName"]) == (200, "PreToolUse")
    return found["permissionDecision"], found["permissionDecisionReason"]


def test_a_real_payload_without_an_observation_is_asked(api: Api, in_force: Any) -> None:
    decision, reason = said(api.post("hooks/claude-code", call()))
    assert decision == "ask"
    assert "place missing" in reason


def test_an_observed_call_is_let_be_or_denied_with_the_rule(api: Api, in_force: Any) -> None:
    passed = api.post("hooks/claude-code", observed_call(REGENERABLE))
    assert (passed.status_code, passed.content) == (200, b"")
    decision, reason = said(api.post("hooks/claude-code", observed_call({**REGENERABLE, "place": "home"})))
    assert decision == "deny"
    assert "shell-commands, block: rule home_or_system" in reason
    assert "place home" in reason


def test_facts_are_a_client_probes_whatever_they_say_and_what_is_not_known_is_none(api: Api, in_force: Any) -> None:
    decision, reason = said(api.post("hooks/claude-code", observed_call({**REGENERABLE, "tracked": {"unknown": "x"}})))
    assert decision == "ask"
    assert "tracked missing" in reason
    odd = {**REGENERABLE, "tracked": {"value": "no", "by": "probe"}}
    assert said(api.post("hooks/claude-code", observed_call(odd)))[0] == "ask"
    entry = Entry.objects.filter(kind="admission.decided", actor="coder").latest("seq")
    assert reading.content_of(entry).args["action"]["observed_by"] == "client probes"


def test_an_observation_of_another_call_is_void(api: Api, in_force: Any) -> None:
    changed = {**observed_call(REGENERABLE), "tool_input": {"command": "rm -rf ~"}}
    decision, reason = said(api.post("hooks/claude-code", changed))
    assert (decision, "action_changed" in reason) == ("ask", True)
    unbound = observed_call(REGENERABLE)
    del unbound["counterseal"]["action"]
    assert said(api.post("hooks/claude-code", unbound))[0] == "ask"


def test_facts_that_are_bound_to_no_action_are_void(api: Api, in_force: Any) -> None:
    for action in (None, "", 1):
        unbound = observed_call(REGENERABLE)
        unbound["counterseal"]["action"] = action
        assert said(api.post("hooks/claude-code", unbound))[0] == "ask"


def test_a_tool_or_an_event_that_no_policy_is_for_is_asked(api: Api, in_force: Any) -> None:
    assert said(api.post("hooks/claude-code", call("mcp__shop__refund", id=1)))[0] == "ask"
    assert said(api.post("hooks/claude-code", {**observed_call(REGENERABLE), "hook_event_name": "Stop"}))[0] == "ask"


def test_what_a_call_writes_is_not_in_the_log_and_secrets_are_masked(api: Api, in_force: Any) -> None:
    api.post("hooks/claude-code", call("Write", file_path="/home/ada/shop/a", content="the text of the file"))
    api.post("hooks/claude-code", call("Bash", command="curl -H 'Authorization: Bearer abcdefghijklmnop' x"))
    wrote, ran = Entry.objects.filter(kind="admission.decided", actor="coder").order_by("-seq")[:2][::-1]
    assert reading.content_of(wrote).args["action"]["names"] == {"file_path": "/home/ada/shop/a"}
    assert "abcdefghijklmnop" not in json.dumps(reading.content_of(ran).args)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("{", 400), ('{"policy": NaN}', 400), ('{"policy": "a", "policy": "b", "answers": {}}', 400), (b"\xff", 400),
        ('{"policy": "a", "answers": {"q": {"p": 1e999}}}', 400), ("[" * 100_000, 400), ([], 422), ({}, 422),
        ({"policy": 1, "answers": {}}, 422), ({"policy": "a\x00", "answers": {}}, 422),
        ({"policy": "\ud800", "answers": {}}, 422), ({"policy": "", "answers": {}}, 422),
        ({"policy": "a", "answers": []}, 422),
        ({"policy": "a", "answers": {}, "verdict": "allow"}, 422),
        ({"policy": "a", "answers": {}, "judged_action": 1}, 422),
    ],
)  # fmt: skip
def test_a_body_that_is_none_is_refused(api: Api, given: Any, status: int) -> None:
    assert api.post("admission/decide", given).status_code == status


def test_odd_texts_are_kept_and_decided(api: Api, in_force: Any) -> None:
    """Characters that a database or a log would choke on, and numbers beyond any type."""
    answers = {"place": {"value": "in\x00side", "by": "probe"}, "\ud800": {"p": 10**300}, "action": {"value": "\udfff"}}
    told = api.decide(policy="shell-commands", answers=answers, subject="a\x00b\ud800", action={"\x00": "\ud800"})
    assert (told.status_code, told.json()["verdict"]) == (200, "ask")


def test_a_token_for_something_else_asks_nothing(make_agent: Any) -> None:
    other = Api(make_agent("reader", scopes=("tools", "propose"))[1])
    assert other.decide(policy="a", answers={}).status_code == 403
    assert other.post("hooks/claude-code", call()).status_code == 403
    assert Api("csa_nobody").decide(policy="a", answers={}).status_code == 401


@pytest.fixture
def served(transactional_db: None) -> Iterator[str]:
    """The agents' plane over a socket, in this process."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    running = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def test_the_hook_command_lets_node_modules_through_and_stops_a_home_folder(
    served: str, make_agent: Any, define: Any, tmp_path: Path
) -> None:
    define("policy", "shell-commands", body("shell-commands"))
    machine = Machine(tmp_path)
    there = {"COUNTERSEAL_URL": served, "COUNTERSEAL_TOKEN": make_agent("coder", scopes=("admit",))[1]}
    for command, expected in (("rm -rf node_modules", ""), ("rm -rf ~", "deny"), ("rm -rf src", "ask")):
        done = machine.run(machine.payload("Bash", command=command), **there)
        assert (done.returncode, decision_of(done)) == (0, expected), command
