"""An incident wider than its subject, answers that nobody cited, and objections: none of them earns anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gate.triage.cases import Finding
from gate.triage.outcomes import Fail, Pass
from gate.triage.readers.document import Answer
from gate.triage.rules.language import Check, Fact, Judgment, Need, Rule
from gate.triage.verdict import LATER_ANSWERS, OBJECTIONS, SCOPE, ActiveRule
from tests.triage.worlds import World, at, call, job_result, put, recovered, refunded


def codes(world: World) -> list[str]:
    decided = world.decide()
    return [reason.code for reason in decided.reasons] if isinstance(decided, Fail) else []


# Members


def another_job(**changes: Any) -> Any:
    result = job_result()
    result["job"].update(job_id=90413, **changes)
    return call(40, "find_job", {"job_id": 90413}, result, at(6, 26))


def grouped(**changes: Any) -> World:
    """Two jobs failed and were grouped; both are shown to have recovered."""
    world = recovered().and_call(another_job(**changes)).with_incident(members=({"job_id": 90413},))
    return world.but(findings=(*world.findings, Finding("job_completed", "A-40")))


def test_each_member_is_shown_and_has_its_own_lines() -> None:
    decided = grouped().decide()
    alone = recovered().decide()
    assert isinstance(decided, Pass), decided.reasons
    rule_lines = [line for line in decided.checks if line.fact in ("job_completed", "no_recurrence")]
    assert len(rule_lines) == 2 * sum(line.fact in ("job_completed", "no_recurrence") for line in alone.checks)
    assert [line.outcome for line in decided.checks if line.fact == SCOPE] == ["holds"]
    assert [line.fact for line in decided.checks].count(LATER_ANSWERS) == 2
    assert SCOPE not in [line.fact for line in alone.checks]


def test_a_member_that_nobody_looked_at_fails() -> None:
    world = recovered().with_incident(members=({"job_id": 90413},))
    assert "missing_fact" in codes(world)


@pytest.mark.parametrize("changes", [{"state": "failed"}, {"last_error": "ReadTimeout"}, {"state": "running"}])
def test_a_member_that_has_not_recovered_fails(changes: dict[str, Any]) -> None:
    assert "check_failed" in codes(grouped(**changes))


def test_what_is_cited_for_one_member_shows_nothing_of_another() -> None:
    world = grouped()
    own = tuple(finding for finding in world.findings if finding.audit_id != "A-10")
    assert "missing_fact" in codes(world.but(findings=own))


def test_what_is_about_none_of_them_is_not_passed_over() -> None:
    world = grouped()
    stray = replace(another_job(), audit_id="A-41", args={"job_id": 7})
    assert codes(world.and_call(stray).but(findings=(*world.findings, Finding("job_completed", "A-41"))))


def test_a_later_answer_on_a_member_contradicts() -> None:
    later = replace(another_job(state="failed"), audit_id="A-42", called_at=at(6, 28), finished_at=at(6, 28, 1))
    assert codes(grouped().and_call(later)) == ["contradicted_later"]


@pytest.mark.parametrize("missing", [1, 7, -1, True, None, "0", 0.0])
def test_alerts_that_were_not_delivered_fail(missing: Any) -> None:
    assert codes(recovered().with_incident(undelivered=missing)) == ["members_unknown"]


@pytest.mark.parametrize("members", [({},), (None,), ("job",), ({"job_id": "90412"},), ({"job_id": True},)])
def test_a_member_that_names_nothing_cannot_be_shown(members: tuple[Any, ...]) -> None:
    assert codes(recovered().with_incident(members=members))


# Later answers


def test_a_later_answer_in_a_shape_that_no_reader_takes_contradicts() -> None:
    """Asked about the same job, it says something else than any reader knows."""
    later = call(15, "find_job", {"job_id": 90412}, {"job": {"uuid": "x"}}, at(6, 27))
    assert codes(recovered().and_call(later)) == ["contradicted_later"]


@pytest.mark.parametrize("gone", ["called_at", "finished_at"])
def test_an_uncited_answer_whose_time_nobody_knows_may_be_the_newest(gone: str) -> None:
    failed = job_result()
    failed["job"]["state"] = "failed"
    later = replace(call(15, "find_job", {"job_id": 90412}, failed, at(6, 27)), **{gone: None})
    assert codes(recovered().and_call(later)) == ["contradicted_later"]
    other = replace(call(15, "find_job", {"job_id": 7}, failed, at(6, 27)), **{gone: None})
    assert isinstance(recovered().and_call(other).decide(), Pass)


def test_the_receipt_names_every_entry_that_was_read() -> None:
    again = call(15, "find_job", {"job_id": 90412}, job_result(), at(6, 27))
    decided = recovered().and_call(again).decide()
    assert isinstance(decided, Pass)
    assert decided.receipt["entries"]["A-15"]["digest"] == again.digest


# Objections


def objected(world: World, fact: str, audit_id: str) -> World:
    return world.but(objections=(Finding(fact, audit_id),))


def test_an_objection_that_the_entry_answers_changes_nothing_else() -> None:
    decided, alone = objected(recovered(), "job_completed", "A-10").decide(), recovered().decide()
    assert isinstance(decided, Pass)
    assert isinstance(alone, Pass)
    assert [line.fact for line in decided.checks if line.fact not in [kept.fact for kept in alone.checks]] == [
        OBJECTIONS
    ]


Change = Callable[[World], World]
STANDING: list[tuple[str, str, str, Change]] = [
    ("an entry of another subject", "job_completed", "A-40", lambda w: w.and_call(another_job())),
    ("an entry that fails the checks", "job_completed", "A-15", lambda w: w.and_call(
        call(15, "find_job", {"job_id": 90412}, {"job": {**job_result()["job"], "state": "failed"}}, at(6, 20)))),
    ("an entry of another tool", "job_completed", "A-13", lambda w: w),
    ("an entry that is not there", "job_completed", "A-404", lambda w: w),
    ("a fact that is not there", "unknown", "A-10", lambda w: w),
    ("an entry that was cut", "job_completed", "A-15", lambda w: w.and_call(
        call(15, "find_job", {"job_id": 90412}, job_result(), at(6, 20), truncated=True))),
    ("an entry of another incident", "job_completed", "A-15", lambda w: w.and_call(
        call(15, "find_job", {"job_id": 90412}, job_result(), at(6, 20), incident_id=9))),
    ("a stale entry", "job_completed", "A-15", lambda w: w.and_call(
        call(15, "find_job", {"job_id": 90412}, job_result(), at(2, 30)))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "audit_id", "change"), [row[1:] for row in STANDING], ids=[row[0] for row in STANDING]
)
def test_an_objection_that_its_entry_does_not_answer_takes_the_pass(fact: str, audit_id: str, change: Change) -> None:
    world = change(recovered())
    assert isinstance(world.decide(), Pass)
    assert codes(objected(world, fact, audit_id)) == ["objection_stands"]


def test_no_objection_excuses_what_fails() -> None:
    broken = recovered().with_result(10, put(("job", "state"), "failed"))
    for fact, audit_id in (("job_completed", "A-10"), ("no_recurrence", "A-13")):
        assert "check_failed" in codes(objected(broken, fact, audit_id))


@pytest.mark.parametrize("objection", [Finding(None, "A-10"), Finding("job_completed", ["A-10"]), Finding({}, 1)])  # type: ignore[arg-type]
def test_an_objection_of_no_shape_stands(objection: Finding) -> None:
    assert codes(recovered().but(objections=(objection,))) == ["objection_stands"]


# Kinds


def test_a_rule_for_claims_explains_no_incident() -> None:
    world = refunded()
    active = world.rules["refund_completed"]
    assert active.rule is not None
    only = {"refund_completed": ActiveRule(replace(active.rule, kinds=("claim",)), active.hash)}
    assert isinstance(world.but(rules=only).decide(), Pass)
    assert codes(world.but(rules=only).with_incident(kind="incident")) == ["hypothesis_not_allowed"]


# Two needs of a fact that one tool can answer


class Left(Answer):
    tools = ("pg_select",)

    @classmethod
    def reads(cls, found: Any) -> bool:
        return Left(found).result.has("left")

    def left(self) -> int:
        return self.result.integer("left")


class Right(Answer):
    tools = ("pg_select",)

    @classmethod
    def reads(cls, found: Any) -> bool:
        return Right(found).result.has("right")

    def right(self) -> int:
        return self.result.integer("right")


def anything(answer: Answer, case: Any) -> Judgment:
    return Judgment(True, "", "")


def need(reader: type[Answer], test: Any) -> Need:
    return Need((reader,), anything, anything, (Check("t", test, "e"),), (test,))


def two_needs(*results: dict[str, int]) -> World:
    rule = Rule("pair", 1, (Fact("pair_shown", (
        need(Left, lambda answer, case: Judgment(answer.left() == 1, "", "left.")),
        need(Right, lambda answer, case: Judgment(answer.right() == 1, "", "right.")),
    )),))  # fmt: skip
    entries = tuple(call(60 + n, "pg_select", {}, result, at(6, 25)) for n, result in enumerate(results))
    world = recovered().with_incident(hypotheses=("pair",))
    findings = tuple(Finding("pair_shown", entry.audit_id) for entry in entries)
    return world.but(hypothesis="pair", rules={"pair": ActiveRule(rule, "0" * 64)}, entries=entries, findings=findings)


def test_each_answer_is_meant_for_the_need_whose_reader_takes_it() -> None:
    assert isinstance(two_needs({"left": 1}, {"right": 1}).decide(), Pass)
    assert codes(two_needs({"left": 1})) == ["missing_fact"]
    assert codes(two_needs({"left": 2}, {"right": 1})) == ["check_failed"]


def test_what_no_need_takes_is_unreadable_and_what_both_take_must_hold_for_both() -> None:
    assert "unreadable" in codes(two_needs({"left": 1}, {"right": 1}, {"neither": 1}))
    assert isinstance(two_needs({"left": 1, "right": 1}).decide(), Pass)
    assert codes(two_needs({"left": 1, "right": 2})) == ["check_failed"]
