"""The known ways in which a rule passes something that is not fine, each closed. The ids are those of the taxonomy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gate.triage.cases import Finding
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.rules.language import Rule
from tests.triage import worlds
from tests.triage.worlds import (
    DECIDED,
    FIRST,
    RULES,
    World,
    at,
    call,
    count_args,
    count_result,
    drop,
    job_result,
    put,
    refund,
    refund_list,
)

# What the newest version takes as well: the attempts of the job, and a known word for an error where none was reported.
WIDENED = ("FP-18 another tool", "an incident without its error")


def recovered() -> World:
    return worlds.recovered().but(rules=FIRST)


def quiet() -> World:
    return worlds.quiet().but(rules=FIRST)


def refunded() -> World:
    return worlds.refunded().but(rules=FIRST)


def with_count(world: World, number: int, *, begins: str = "", ends: str = "") -> World:
    """The count asked and answered over another window."""
    for key, value in (("from", begins), ("to", ends)):
        if value:
            world = world.with_args(number, put((key,), value)).with_result(number, put(("window", key), value))
    return world


def set_refunds(*refunds: dict[str, Any]) -> Callable[[World], World]:
    return lambda world: world.with_call(30, result=refund_list(*refunds))


def later_job(**changes: Any) -> Callable[[World], World]:
    result = job_result()
    result["job"].update(changes)
    return lambda world: world.and_call(call(15, "find_job", {"job_id": 90412}, result, at(6, 27)))


def later_count(count: int, begins: str = "2026-11-29T02:15:34Z", **changes: Any) -> Callable[[World], World]:
    args = {**count_args(), "from": begins}
    result = {**count_result(count=count), "window": {"from": begins, "to": args["to"]}, **changes}
    return lambda world: world.and_call(call(16, "count_errors", args, result, at(6, 28)))


def later_refunds(*refunds: dict[str, Any]) -> Callable[[World], World]:
    args = {"charge_id": "ch_8846"}
    return lambda world: world.and_call(call(35, "list_refunds", args, refund_list(*refunds), at(6, 28)))


def later_control(count: int, begins: str) -> Callable[[World], World]:
    args = {**count_args(None), "from": begins}
    result = {**count_result(None, count), "window": {"from": begins, "to": args["to"]}}
    return lambda world: world.and_call(call(26, "count_errors", args, result, at(6, 28)))


BEGINS = "2026-11-29T02:15:34Z"
Break = Callable[[World], World]
FAILS: list[tuple[str, Callable[[], World], Break, str]] = [
    ("FP-01 a missing count", recovered, lambda w: w.with_result(13, drop(("count",))), "unreadable"),
    ("FP-01 a null count", recovered, lambda w: w.with_result(13, put(("count",), None)), "unreadable"),
    ("FP-01 a missing last_error", recovered, lambda w: w.with_result(10, drop(("job", "last_error"))), "unreadable"),
    ("FP-01 no such job", recovered, lambda w: w.with_result(10, put(("job",), None)), "unreadable"),
    ("FP-01 disputed is null", refunded, lambda w: w.with_result(31, put(("charge", "disputed"), None)), "unreadable"),
    ("FP-01 captured is missing", refunded, lambda w: w.with_result(31, drop(("charge", "captured"))), "unreadable"),
    ("FP-02 no refund at all", refunded, set_refunds(), "check_failed"),
    ("FP-03 a count in words", recovered, lambda w: w.with_result(13, put(("count",), "0")), "unreadable"),
    ("FP-03 a count of false", recovered, lambda w: w.with_result(13, put(("count",), False)), "unreadable"),
    ("FP-03 a count of minus nothing", recovered, lambda w: w.with_result(13, put(("count",), -0.0)), "unreadable"),
    ("FP-03 complete in words", recovered, lambda w: w.with_result(13, put(("complete",), "true")), "unreadable"),
    ("FP-03 complete as a number", recovered, lambda w: w.with_result(13, put(("complete",), 1)), "unreadable"),
    ("FP-03 a job id in words", recovered, lambda w: w.with_result(10, put(("job", "job_id"), "90412")), "unreadable"),
    ("FP-04 a new state", recovered, lambda w: w.with_result(10, put(("job", "state"), "finished")), "unreadable"),
    ("FP-04 another case", recovered, lambda w: w.with_result(10, put(("job", "state"), "Succeeded")), "unreadable"),
    ("FP-04 a new refund status", refunded, set_refunds(refund(status="reversed")), "unreadable"),
    ("FP-05 an intention", refunded, set_refunds(refund(status="pending")), "check_failed"),
    ("FP-05 a failed job without error", recovered, lambda w: w.with_result(10, put(("job", "state"), "failed")),
     "check_failed"),
    ("FP-05 a reason beside success", refunded, set_refunds(refund(failure_reason="declined")), "check_failed"),
    ("FP-06 unfinished", recovered, lambda w: w.with_result(13, put(("complete",), False)), "check_failed"),
    ("FP-06 cut", recovered, lambda w: w.with_call(13, truncated=True), "truncated"),
    ("FP-06 a list of some", refunded, lambda w: w.with_result(30, put(("total",), 2)), "check_failed"),
    ("FP-09 nothing looked at", recovered, lambda w: w.with_result(13, put(("scanned",), 0)), "check_failed"),
    ("FP-09 a dead source", quiet, lambda w: w.with_result(21, put(("count",), 0)), "check_failed"),
    ("FP-09 the search vouches for itself", quiet,
     lambda w: w.but(findings=(Finding("log_search_zero", "A-20"), Finding("log_source_alive", "A-20"))),
     "check_failed"),
    ("FP-09 a control of another window", quiet, lambda w: with_count(w, 21, begins="2026-11-29T02:00:00Z"),
     "check_failed"),
    ("FP-09 a control of another source", quiet, lambda w: w.with_call(21, source="archive"), "check_failed"),
    ("FP-09 a control of an empty window", quiet,
     lambda w: with_count(with_count(w, 20, ends=BEGINS), 21, ends=BEGINS).with_incident(recurrence_seconds=0),
     "check_failed"),
    ("FP-09 asked again, the source is dead", quiet, later_control(0, "2026-11-29T02:15:34Z"), "contradicted_later"),
    ("FP-11 before it began", recovered, lambda w: w.with_call(10, called_at=at(2, 10), finished_at=at(2, 10, 1)),
     "before_incident"),
    ("FP-11 stale", recovered, lambda w: w.with_call(10, called_at=at(6, 0, 59)), "stale"),
    ("FP-12 another year", recovered,
     lambda w: with_count(w, 13, begins="2025-11-29T02:15:34Z", ends="2025-11-29T06:20:00Z"), "check_failed"),
    ("FP-12 no zone", recovered, lambda w: with_count(w, 13, ends="2026-11-29T06:20:00"), "unreadable"),
    ("FP-12 in milliseconds", recovered, lambda w: w.with_result(13, put(("window", "to"), 1795933200000)),
     "unreadable"),
    ("FP-12 answered another window", recovered,
     lambda w: w.with_result(13, put(("window", "to"), "2026-11-29T06:19:59Z")), "check_failed"),
    ("FP-13 a second too late", recovered, lambda w: with_count(w, 13, begins="2026-11-29T02:15:35Z"), "check_failed"),
    ("FP-13 a second too short", recovered, lambda w: with_count(w, 13, ends="2026-11-29T05:15:33Z"), "check_failed"),
    ("FP-13 another pattern asked", recovered, lambda w: w.with_args(13, put(("error",), "ReadTimeouts")),
     "check_failed"),
    ("FP-13 another pattern counted", recovered, lambda w: w.with_result(13, put(("error",), "readtimeout")),
     "check_failed"),
    ("FP-14 another job asked", recovered, lambda w: w.with_args(10, put(("job_id",), 90413)), "check_failed"),
    ("FP-14 another job answered", recovered, lambda w: w.with_result(10, put(("job", "job_id"), 90413)),
     "check_failed"),
    ("FP-14 another kind of job", recovered, lambda w: w.with_result(13, put(("job_kind",), "settle")),
     "check_failed"),
    ("FP-14 another charge", refunded, lambda w: w.with_result(31, put(("charge", "charge_id"), "ch_8847")),
     "check_failed"),
    ("FP-14 the refund of another charge", refunded, set_refunds(refund(charge_id="ch_8847")), "check_failed"),
    ("FP-14 one of two refunds", refunded, set_refunds(refund(), refund(refund_id="re_2")), "unreadable"),
    ("FP-14 another currency", refunded, set_refunds(refund(currency="usd")), "check_failed"),
    ("FP-14 a charge in another currency", refunded,
     lambda w: w.with_result(31, put(("charge", "currency"), "usd")), "check_failed"),
    ("FP-15 another incident's entry", recovered, lambda w: w.with_call(13, incident_id=317), "wrong_incident"),
    ("FP-15 nobody's entry", recovered, lambda w: w.with_call(13, incident_id=None), "wrong_incident"),
    ("FP-16 an id that is not", recovered,
     lambda w: w.but(findings=(w.findings[0], Finding("no_recurrence", "A-404"))), "unknown_entry"),
    ("FP-16 an id of two entries", recovered, lambda w: w.and_call(w.entry(13)), "repeated_entry"),
    ("FP-16 an id of another spelling", recovered,
     lambda w: w.but(findings=(w.findings[0], Finding("no_recurrence", "A-013"))), "unknown_entry"),
    ("FP-17 one of two findings contradicts", recovered,
     lambda w: later_job(state="running")(w).but(findings=(*w.findings, Finding("job_completed", "A-15"))),
     "check_failed"),
    ("FP-18 another tool", recovered, lambda w: w.but(findings=(*w.findings, Finding("job_completed", "A-11"))),
     "wrong_tool"),
    ("FP-18 a fact of another rule", recovered,
     lambda w: w.but(findings=(*w.findings, Finding("log_source_alive", "A-13"))), "unknown_fact"),
    ("FP-19 into the lag", recovered, lambda w: with_count(w, 13, ends="2026-11-29T06:20:03Z"), "check_failed"),
    ("FP-20 less money", refunded, set_refunds(refund(amount_cents=1295)), "check_failed"),
    ("FP-20 nothing at all", refunded, lambda w: set_refunds(refund(amount_cents=0))(w).with_incident(
        facts={"amount_cents": 0, "currency": "eur"}), "check_failed"),
    ("FP-20 a hundred times", refunded, set_refunds(refund(amount_cents=1295000)), "check_failed"),
    ("FP-20 more than was charged", refunded, lambda w: w.with_result(31, put(("charge", "amount_cents"), 12949)),
     "check_failed"),
    ("FP-21 a filter on what is checked", recovered, lambda w: w.with_args(10, put(("state",), "succeeded")),
     "check_failed"),
    ("FP-21 a limit", recovered, lambda w: w.with_args(13, put(("limit",), 0)), "check_failed"),
    ("FP-22 a failed call", recovered, lambda w: w.with_call(10, status="failed"), "call_failed"),
    ("FP-23 a hypothesis of another class", recovered, lambda w: w.with_incident(hypotheses=("worker_lost",)),
     "hypothesis_not_allowed"),
    ("FP-23 an invented hypothesis", recovered, lambda w: w.but(hypothesis="cosmic_ray"), "no_rule"),
    ("FP-25 a changed entry", recovered, lambda w: w.with_call(10, is_intact=False), "not_intact"),
    ("FP-26 finished after the decision", recovered,
     lambda w: w.with_call(13, finished_at=DECIDED + timedelta(seconds=1)), "after_decision"),
    ("FP-29 asked until it was green", recovered, later_job(state="failed", last_error="ReadTimeout"),
     "contradicted_later"),
    ("FP-29 the error came again", recovered, later_count(1), "contradicted_later"),
    ("FP-29 a later count that gave up", recovered, lambda w: later_count(0, complete=False)(w).with_result(
        16, drop(("count",))), "contradicted_later"),
    ("FP-29 the job is gone", recovered,
     lambda w: w.and_call(call(15, "find_job", {"job_id": 90412}, {"job": None}, at(6, 27))), "contradicted_later"),
    ("FP-31 it came back within the investigation", refunded, later_refunds(refund(status="failed",
     failure_reason="expired_or_canceled_card")), "contradicted_later"),
    ("FP-34 a masked argument", recovered, lambda w: w.with_args(13, put(("error",), "[masked: token]")),
     "unreadable"),
    ("FP-36 a rule that is not loaded", recovered,
     lambda w: w.but(rules={**w.rules, w.hypothesis: ActiveRule(None, "0" * 64)}), "rule_not_loaded"),
    ("a claim without its amount", refunded, lambda w: w.with_incident(facts={"currency": "eur"}), "unreadable"),
    ("an incident without its error", recovered, lambda w: w.with_incident(facts={"job_kind": "settle_payouts"}),
     "unreadable"),
    ("nothing cited", recovered, lambda w: w.but(findings=()), "missing_fact"),
]  # fmt: skip


@pytest.mark.parametrize(("world", "breaks", "code"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_it_fails_and_says_why(world: Callable[[], World], breaks: Break, code: str) -> None:
    decided = breaks(world()).decide()
    assert isinstance(decided, Fail)
    assert code in [reason.code for reason in decided.reasons], decided.reasons
    for reason in decided.reasons:
        assert reason.headline
        assert reason.sentence.endswith(".")


@pytest.mark.parametrize("row", [row for row in FAILS if row[0] not in WIDENED], ids=lambda row: str(row[0]))
def test_the_newest_version_refuses_it_as_well(row: tuple[str, Callable[[], World], Break, str]) -> None:
    world = row[1]()
    world = row[2](world.but(rules=RULES))
    assert isinstance(world.decide(), Fail)


STILL_PASSES: list[tuple[str, Callable[[], World], Break]] = [
    ("the last second of freshness", recovered, lambda w: w.with_call(10, called_at=at(6, 1))),
    ("asked the moment it began", recovered,
     lambda w: w.with_incident(began_at=w.entry(10).called_at)),
    ("finished the moment it was handed in", recovered, lambda w: w.with_call(13, finished_at=DECIDED)),
    ("an answer in no time", recovered, lambda w: w.with_call(10, finished_at=w.entry(10).called_at)),
    ("the last second before the lag", recovered, lambda w: with_count(w, 13, ends="2026-11-29T06:20:02Z")),
    ("the shortest window", recovered, lambda w: with_count(w, 13, ends="2026-11-29T05:15:34Z")),
    ("a failed try that nobody cites", recovered,
     lambda w: w.and_call(call(17, "count_errors", count_args(), None, at(6, 28), status="failed"))),
    ("a cut try before the cited one", recovered,
     lambda w: w.and_call(call(12, "count_errors", count_args(), count_result(), at(6, 24, 50), truncated=True))),
    ("the incident's own errors in a longer window", recovered, later_count(2, begins="2026-11-29T02:00:00Z")),
    ("a later answer that says the same", recovered, later_job()),
    ("another subject's later failure", recovered,
     lambda w: w.and_call(call(15, "find_job", {"job_id": 1}, {"job": {"job_id": 1, "state": "failed"}}, at(6, 27)))),
    ("the count of another error", recovered,
     lambda w: w.and_call(call(16, "count_errors", {**count_args(), "error": "X"}, count_result("X", 9), at(6, 28)))),
    ("another incident's later failure", recovered,
     lambda w: w.and_call(call(15, "find_job", {"job_id": 90412}, {"job": None}, at(6, 27), incident_id=9))),
    ("two findings for a fact that both hold", recovered,
     lambda w: later_job()(w).but(findings=(*w.findings, Finding("job_completed", "A-15")))),
    ("a later look at a shorter time that finds no line", quiet, later_control(0, "2026-11-29T06:10:00Z")),
    ("part of a charge given back", refunded, lambda w: set_refunds(refund(amount_cents=500))(w).with_incident(
        facts={"amount_cents": 500, "currency": "eur"})),
    ("the refund that the claim names", refunded,
     lambda w: set_refunds(refund(refund_id="re_1", status="failed", failure_reason="x"), refund())(w).with_incident(
         subject={"charge_id": "ch_8846", "refund_id": "re_5526"})),
]  # fmt: skip


@pytest.mark.parametrize(("world", "changes"), [row[1:] for row in STILL_PASSES], ids=[row[0] for row in STILL_PASSES])
def test_what_is_earned_still_passes(world: Callable[[], World], changes: Break) -> None:
    decided = changes(world()).decide()
    assert isinstance(decided, Pass), decided


def test_the_refund_that_the_claim_does_not_name_shows_nothing() -> None:
    named = refunded().with_incident(subject={"charge_id": "ch_8846", "refund_id": "re_first"})
    assert isinstance(named.decide(), Fail)


def test_without_a_search_a_control_vouches_for_nothing() -> None:
    decided = quiet().but(findings=(Finding("log_source_alive", "A-21"),)).decide()
    line = next(line for line in decided.checks if line.title.startswith("Its window and source"))
    assert (line.outcome, line.why) == ("fails", "A-21: there is no search that it could vouch for.")


def test_without_a_list_of_refunds_no_amount_matches() -> None:
    decided = refunded().but(findings=(Finding("refund_amount_matches", "A-31"),)).decide()
    line = next(line for line in decided.checks if line.title.startswith("Amount and currency"))
    assert (line.outcome, line.why) == (
        "fails", "A-31: no list of refunds is cited whose amount could be compared.",
    )  # fmt: skip


def test_a_missing_count_is_said_in_words() -> None:
    decided = recovered().with_result(13, drop(("count",))).decide()
    assert isinstance(decided, Fail)
    (reason,) = decided.reasons
    assert (reason.headline, reason.sentence) == (
        "A missing count is not zero",
        "A-13: `count` is not in the result.",
    )
    line = decided.checks[2]
    assert (line.number, line.outcome, line.seen) == (3, "unreadable", "not in the result")
    assert line.absent == {"A-13": ["/count"]}
    assert line.earn.startswith("A finished count of ReadTimeout in settle_payouts, exactly 0")


def test_the_lines_of_a_pass_are_those_of_the_page() -> None:
    decided = recovered().decide()
    assert [(line.fact, line.title, line.seen) for line in decided.checks] == [
        ("job_completed", "The job of this incident is in the final state `succeeded`", '"succeeded"'),
        ("job_completed", "Its last attempt left no error", "null"),
        ("no_recurrence", "The same error did not come again: the count is exactly 0", "0"),
        (
            "no_recurrence",
            "The search covers 3 h from recovery and ends before the 5 min ingestion lag",
            "02:15:34 to 06:20:00",
        ),
        ("no_recurrence", "The search was finished and looked at lines", "true, 18204"),
        (
            "provenance",
            "Every cited call belongs to I-318, succeeded, is uncut, and falls between start and decision",
            "06:24, 06:25",
        ),
        ("later_answers", "No later answer on the same subject contradicts what is cited", "none contradicts"),
    ]
    assert decided.checks[3].paths == {"A-13": ["/error", "/job_kind", "/window/from", "/window/to"]}


@pytest.mark.parametrize(("number", "place"), [(317, "I-317"), (None, "no incident")])
def test_a_foreign_entry_is_named_with_where_it_belongs(number: int | None, place: str) -> None:
    decided = recovered().with_call(13, incident_id=number).decide()
    assert isinstance(decided, Fail)
    assert f"A-13 belongs to {place}, not to I-318." in [reason.sentence for reason in decided.reasons]


def test_the_receipt_lists_exactly_the_cited_entries() -> None:
    world = recovered()
    receipt = world.decide().receipt
    assert set(receipt["entries"]) == {"A-10", "A-13"}
    assert receipt["entries"]["A-13"]["digest"] == world.entry(13).digest
    unknown = world.but(findings=(*world.findings, Finding("job_completed", "A-404"))).decide()
    assert set(unknown.receipt["entries"]) == {"A-10", "A-13"}


@pytest.mark.parametrize("moment", [recovered().entry(10).finished_at, DECIDED])
def test_an_answer_of_the_same_moment_counts_as_later(moment: datetime) -> None:
    world = later_job(state="failed")(recovered()).with_call(15, called_at=moment, finished_at=moment)
    decided = world.decide()
    assert isinstance(decided, Fail)
    assert [reason.code for reason in decided.reasons] == ["contradicted_later"]


def test_an_answer_after_the_decision_or_before_the_cited_one_does_not_speak() -> None:
    for moment in (DECIDED + timedelta(seconds=1), recovered().entry(10).called_at):
        world = later_job(state="failed")(recovered()).with_call(15, called_at=moment, finished_at=moment)
        assert isinstance(world.decide(), Pass)


def test_a_rule_without_a_check_passes_nothing() -> None:
    empty = ActiveRule(Rule("transient_failure_recovered", 1, ()), "0" * 64)
    for findings in ((), recovered().findings):
        world = recovered().but(rules={"transient_failure_recovered": empty}, findings=findings)
        assert isinstance(world.decide(), Fail)


def test_later_means_from_the_first_cited_answer_on() -> None:
    """Citing one more green answer does not excuse the red one between."""
    world = later_job(state="running")(recovered())
    green = replace(world.entry(10), audit_id="A-18", called_at=at(6, 29), finished_at=at(6, 29, 1))
    assert isinstance(
        world.and_call(green).but(findings=(*world.findings, Finding("job_completed", "A-18"))).decide(), Fail
    )
