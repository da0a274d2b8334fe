"""The scripted agent decides from answers: the same script, other answers, other findings."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gate.demo import decisions
from gate.demo.decisions import Answer, Case, Memory, investigate

NOW = datetime(2026, 11, 29, 6, 31, tzinfo=UTC)
JOB_TOOLS = frozenset({"find_job", "list_job_attempts", "count_errors", "list_recent_deploys"})


def job(**changed):
    return {
        "job_id": 7, "kind": "settle_payouts", "state": "succeeded", "attempts": 3, "locked_by": None,
        "started_at": "2026-11-29T02:15:00Z", "finished_at": "2026-11-29T02:15:34Z", "last_error": None, **changed,
    }  # fmt: skip


def attempts(*errors):
    rows = [
        {"attempt": n, "outcome": "failed" if error else "succeeded", "error": error}
        for n, error in enumerate(errors, 1)
    ]
    return {"attempts": rows, "total": len(rows)}


def counted(asked, **result):
    return {
        "error": asked["error"], "job_kind": asked["job_kind"], "window": {"from": asked["from"], "to": asked["to"]},
        "count": 0, "scanned": 900, "complete": True, **result,
    }  # fmt: skip


class Shop:
    """Answers by tool, with an id for each call; a function is asked with the arguments."""

    def __init__(self, first=1, **answers):
        self.answers, self.asked, self.next = answers, [], first

    async def ask(self, tool, arguments):
        self.asked.append((tool, arguments))
        answer = self.answers[tool]
        self.next += 1
        return Answer(f"A-{self.next - 1}", answer(arguments) if callable(answer) else answer)


def case(tools=JOB_TOOLS, **subject):
    return Case(
        subject=subject or {"job_id": 7},
        facts={"error": "ReadTimeout", "job_kind": "settle_payouts"},
        tools=tools,
        watch_from=datetime(2026, 11, 29, 2, 15, 34, tzinfo=UTC),
        recurrence=timedelta(hours=3),
        lag=timedelta(minutes=5),
    )


def look(shop, case=case(), memory=None):  # noqa: B008
    return asyncio.run(investigate(case, shop.ask, memory if memory is not None else Memory(), NOW))


def facts_of(hand_in):
    return {finding.fact: finding.audit_id for finding in hand_in.findings}


def failing_shop(**changed):
    return Shop(**{
        "find_job": {"job": job()},
        "list_job_attempts": attempts("ReadTimeout", "ReadTimeout", None),
        "count_errors": counted,
        **changed,
    })  # fmt: skip


def test_a_job_that_recovered_is_handed_in_with_its_count():
    shop = failing_shop()
    hand_in = look(shop)
    assert hand_in.hypothesis == "transient_failure_recovered"
    assert facts_of(hand_in) == {"job_completed": "A-1", "no_recurrence": "A-3"}
    assert hand_in.proposals == ()


def test_the_count_starts_at_the_recovery_and_ends_before_the_lag():
    shop = failing_shop()
    look(shop)
    assert shop.asked[-1] == (
        "count_errors",
        {
            "error": "ReadTimeout", "job_kind": "settle_payouts",
            "from": "2026-11-29T02:15:34Z", "to": "2026-11-29T06:26:00Z",
        },
    )  # fmt: skip


@pytest.mark.parametrize(("reported", "counted"), [({}, "DeadlockDetected"), ({"error": "Timeout"}, "Timeout")])
def test_the_error_it_counts_is_the_reported_one_or_else_the_one_of_the_attempts(reported, counted):
    shop = failing_shop(list_job_attempts=attempts("DeadlockDetected", None))
    look(shop, replace(case(), facts=reported))
    assert shop.asked[-1][1]["error"] == counted


@pytest.mark.parametrize("state", ["failed", "queued"])
def test_a_job_that_did_not_recover_is_handed_in_without_a_count(state):
    hand_in = look(failing_shop(find_job={"job": job(state=state, finished_at=None)}))
    assert list(facts_of(hand_in)) == ["job_completed"]
    assert state in hand_in.answer


def test_a_count_that_was_given_up_is_asked_for_once_more_over_the_shortest_window():
    shop = failing_shop(
        count_errors=lambda asked: {k: v for k, v in counted(asked, complete=False).items() if k != "count"}
    )
    hand_in = look(shop)
    assert [arguments["to"] for tool, arguments in shop.asked if tool == "count_errors"] == [
        "2026-11-29T06:26:00Z", "2026-11-29T05:15:34Z",
    ]  # fmt: skip
    assert facts_of(hand_in)["no_recurrence"] == "A-4"


def test_errors_that_came_back_are_said():
    hand_in = look(failing_shop(count_errors=lambda asked: counted(asked, count=4)))
    assert "4 times" in hand_in.answer


def test_it_remembers_a_count_of_another_investigation_and_cites_it():
    memory = Memory()
    look(failing_shop(), memory=memory)
    second = failing_shop(find_job={"job": job(job_id=8, finished_at="2026-11-29T02:15:50Z")})
    second.next = 100
    later = replace(case(job_id=8), watch_from=datetime(2026, 11, 29, 2, 16, tzinfo=UTC))
    hand_in = look(second, later, memory)
    assert facts_of(hand_in) == {"job_completed": "A-100", "no_recurrence": "A-3"}


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "inventory_sync"},  # another kind of job
        {"finished_at": "2026-11-29T02:00:00Z"},  # a window that the remembered one does not cover
    ],
)
def test_it_asks_itself_when_what_it_remembers_does_not_fit(other):
    memory = Memory()
    look(failing_shop(), memory=memory)
    hand_in = look(failing_shop(find_job={"job": job(**other)}, first=100), memory=memory)
    assert facts_of(hand_in)["no_recurrence"] == "A-102"


def stuck_job(**changed):
    held = {"state": "running", "locked_by": "worker-3", "started_at": "2026-11-29T04:10:00Z", "finished_at": None}
    running = {"attempts": [{"attempt": 1, "outcome": "running", "error": None}], "total": 1}
    return failing_shop(find_job={"job": job(**{**held, **changed})}, list_job_attempts=running)


def test_a_job_whose_worker_fell_silent_ends_in_a_proposal_about_exactly_that_row():
    hand_in = look(stuck_job())
    assert hand_in.hypothesis == "worker_lost"
    requeue, wide = hand_in.proposals
    assert [parameter["v"] for parameter in requeue.parameters] == ["queued", "7", "running", "worker-3"]
    assert wide.parameters[1] == {"t": "text", "v": "settle_payouts"}
    assert facts_of(hand_in) == {"job_held": "A-1", "attempt_open": "A-2"}


def test_a_job_that_has_just_begun_is_left_alone():
    assert look(stuck_job(started_at="2026-11-29T06:20:00Z")).proposals == ()


def test_a_job_that_is_gone_leaves_only_the_log_to_ask():
    shop = failing_shop(find_job={"job": None})
    hand_in = look(shop)
    assert [arguments["error"] for tool, arguments in shop.asked[1:]] == ["ReadTimeout", None]
    assert hand_in.hypothesis == "no_errors_in_logs"
    assert facts_of(hand_in) == {"log_search_zero": "A-2", "log_source_alive": "A-3"}


def test_a_lag_is_put_down_to_the_newest_deploy():
    deploys = {
        "deploys": [{"service": "search", "version": "5.9.0", "deployed_at": "2026-11-29T05:40:00Z"}],
        "total": 1,
    }
    lag = case(frozenset({"find_job", "list_job_attempts", "list_recent_deploys"}))
    shop = failing_shop(list_recent_deploys=deploys)
    hand_in = look(shop, lag)
    assert (hand_in.hypothesis, len(hand_in.findings)) == ("deploy_caused_lag", 2)
    assert "search 5.9.0" in hand_in.answer
    assert len(look(failing_shop(list_recent_deploys={"deploys": [], "total": 0}), lag).findings) == 1


@pytest.mark.parametrize(("status", "told"), [("succeeded", "12.50 EUR"), ("failed", "re_1 is failed")])
def test_a_refund_is_told_as_it_is(status, told):
    refund = {"refund_id": "re_1", "status": status, "amount_cents": 1250, "currency": "eur", "settled_at": None}
    shop = Shop(get_charge={"charge": {}}, list_refunds={"charge_id": "ch_1", "refunds": [refund], "total": 1})
    hand_in = look(shop, case(frozenset({"get_charge", "list_refunds"}), charge_id="ch_1"))
    assert hand_in.hypothesis == "refund_completed"
    assert told in hand_in.answer


def test_moments_are_spelled_in_whole_seconds_of_utc():
    assert decisions.spelled(datetime.fromisoformat("2026-11-29T03:15:34.9+01:00")) == "2026-11-29T02:15:34Z"
