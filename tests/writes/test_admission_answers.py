"""Whose answers a policy reads: of probes, of the model of whoever proposes, and of what an HTTP target says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from audit import reading
from audit.models import Entry
from evidence.errors import Problem
from gate.admission import policies
from gate.writes import actions, desk
from gate.writes.models import WriteRequest
from tests.writes.admissions import admitted, allowing, newest
from tests.writes.admissions import aim as aim
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source
from tests.writes.conftest import POLICY, REQUEUE, REQUEUE_PARAMETERS

pytestmark = pytest.mark.django_db


def with_a_model() -> dict[str, Any]:
    """The shipped policy with a question that a model answers."""
    body = allowing()
    body["program"]["questions"].append({
        "id": "fits", "type": "yesno", "text": "Does the stated reason describe the rows that change?",
        "unsure_between": [0.2, 0.9],
    })  # fmt: skip
    body["program"]["rules"].insert(
        0, {"id": "unfit_reason", "when": [{"q": "fits", "op": "lte", "value": 0.2}], "then": "block"}
    )
    return body


ANSWERED: list[tuple[dict[str, Any], str, str, list[str]]] = [
    ({"fits": {"p": 0.95}}, "waiting", "production_is_asked", []),
    ({"fits": {"p": 0.1}}, "blocked", "unfit_reason", []),
    ({"fits": {"p": 0.5}}, "waiting", "", ["low_confidence"]),
    ({}, "waiting", "", ["missing"]),
    # A probe's question is not a model's to answer.
    ({"fits": {"p": 0.95}, "keyed": {"value": "no"}}, "waiting", "production_is_asked", []),
]


def test_the_proposers_model_answers_what_is_a_models_and_nothing_else(aim: Any, define: Any, agent: Any) -> None:
    aim()
    define("policy", "sql-writes", with_a_model())
    asks = desk.questions(agent, {"target": "shop"})
    assert (asks["policy"], [one["id"] for one in asks["questions"]]) == ("sql-writes", ["fits"])
    assert not {"rules", "unsure_between", "block"} & set(re.findall(r"\w+", str(asks)))
    for number, (answers, status, rule, wrong) in enumerate(ANSWERED, 1):
        told = desk.propose(agent, {
            "target": "shop", "statement": f"update shop.jobs set state = 'queued' where job_id = {number}",
            "parameters": [], "title": "t", "reason": "r", "answers": answers, "model": {"id": "some-model"},
        })  # fmt: skip
        write = admitted(WriteRequest.objects.get(pk=told["id"]))
        found = newest(write)
        assert (write.status, found.rule, [one["why"] for one in found.escalations]) == (status, rule, wrong)
        assert found.answers["keyed"] == {"value": "yes", "by": "probe"}
        kind = "write.blocked" if status == "blocked" else "write.admitted"
        args = reading.payload_of(Entry.objects.filter(subject=write.ref, kind=kind).latest("seq").pk).args
        assert (args["model"], "fits" in args["answers"]) == ({"id": "some-model"}, True)


def test_an_answer_cannot_say_that_a_probe_gave_it(target: Any, agent: Any) -> None:
    from evidence import desk as agents_desk

    given = {"target": "shop", "statement": REQUEUE, "parameters": REQUEUE_PARAMETERS, "title": "t", "reason": "r",
             "answers": {"keyed": {"value": "yes", "by": "probe"}}}  # fmt: skip
    with pytest.raises(Problem, match="answers"):
        agents_desk.call(agent, "propose_write", given)


SAID: list[tuple[str, dict[str, Any], str, str]] = [
    ("POST", {"effect": "changes", "honors_key": False}, "money_twice", "blocked"),
    ("POST", {"effect": "changes", "honors_key": True}, "money_is_asked", "waiting"),
    ("POST", {"effect": "changes", "moves_money": False, "honors_key": True}, "production_is_asked", "waiting"),
    ("POST", {}, "", "waiting"),
    ("PUT", {"moves_money": False}, "production_is_asked", "waiting"),
    ("DELETE", {"moves_money": False}, "removed_for_good", "blocked"),
    ("DELETE", {"moves_money": False, "undone_by": "nothing"}, "removed_for_good", "blocked"),
    ("DELETE", {"moves_money": False, "undone_by": "refund-0"}, "production_is_asked", "waiting"),
]


def test_http_actions_are_judged_by_what_their_target_says(define: Any, agent: Any) -> None:
    define("policy", "http-actions", policies.shipped_body("http-actions"))
    schema = {"type": "object", "properties": {"refund_id": {"type": "string"}}, "required": ["refund_id"]}
    for number, (method, said, rule, status) in enumerate(SAID):
        action = {
            "method": method, "url": "https://billing.example/refunds/{refund_id}", "header": "Authorization",
            "body": {**schema, "additionalProperties": False}, "named_hosts": [], "timeout_seconds": 1, "probe": None,
        }  # fmt: skip
        body = {"kind": "http", "credential_env": "BILLING_KEY", "environment": "production", "action": action,
                "policy": POLICY, "admission": said}  # fmt: skip
        define("target", f"refund-{number}", body)
        write = admitted(actions.propose(
            target=f"refund-{number}", statement='{"refund_id": "r-1"}', parameters=[], title="t", reason="r",
            by_agent=agent,
        ))  # fmt: skip
        assert (number, newest(write).rule, write.status) == (number, rule, status)
