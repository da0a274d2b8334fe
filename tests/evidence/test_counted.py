"""Calls are counted out of the sealed log, each once, and what is asked again is known without saying what it was."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audit import log, seal
from audit.kinds import Kind
from audit.models import Agent
from audit.notes import SigningKey
from evidence import counted, durations
from evidence.agent_activity import Activity
from evidence.models import CallSlot, CallTotal, MonitorState, Question

pytestmark = pytest.mark.django_db(transaction=True)
KEY = SigningKey("example.org/log", bytes(range(32)))
AGENT = log.Actor("agent", "asker", "ada")
OTHER = log.Actor("agent", "other", "ada")


class Log:
    """A log of its own, written, sealed and counted by the processes that do so."""

    def __init__(self, become: Any) -> None:
        self.become = become

    def call(self, job: int = 1, *, actor: log.Actor = AGENT, run: str = "1", took: int = 5, **more: Any) -> None:
        self.become("agents")
        about: log.About = {
            "call_id": uuid.uuid4(), "tool": "find_job", "tool_version": 1, "source": "shop", "run_id": run,
            "incident_id": 318, "args": {"job_id": job},
        }  # fmt: skip
        log.record(Kind.CALL_STARTED, actor, **about)
        log.record(Kind.CALL_FINISHED, actor, **{**about, "duration_ms": took, "result": {"job": None}, **more})

    def refuse(self, code: str, **more: Any) -> None:
        self.become("agents")
        log.record(Kind.CALL_REFUSED, AGENT, **{"status": "refused", "error_class": code, **more})

    def count(self) -> int:
        self.become("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        self.become("worker")
        return counted.follow(10)


@pytest.fixture
def own(own_log: str, as_role: Any) -> Log:
    return Log(as_role)


def totals() -> dict[tuple[str, str, str], int]:
    return {(row.tool, row.outcome, row.code): row.calls for row in CallTotal.objects.all()}


def test_each_call_is_counted_once_by_how_it_ended(own: Log) -> None:
    own.call(took=3)
    own.call(took=300, status="failed", error_class="timeout", result=None)
    own.refuse("wrong_arguments", tool="find_job", tool_version=1, source="shop")
    own.refuse("unknown_tool", tool="drop table \u202e")
    own.refuse("too_many", args={"refusals": 40})
    assert own.count() > 0
    expected = {
        ("find_job", "ok", ""): 1, ("find_job", "failed", "timeout"): 1, ("find_job", "refused", "wrong_arguments"): 1,
        ("", "refused", "unknown_tool"): 1, ("", "refused", "too_many"): 40,
    }  # fmt: skip
    assert totals() == expected
    assert own.count() == 0
    own.call(took=9)
    own.count()
    assert totals() == expected | {("find_job", "ok", ""): 2}
    total = CallTotal.objects.get(outcome="ok")
    assert (total.milliseconds, sum(total.durations), total.durations[durations.place(9)]) == (12, 2, 1)


def test_nothing_is_counted_before_it_is_sealed_and_nothing_is_skipped(own: Log, monkeypatch: Any) -> None:
    monkeypatch.setattr(counted, "BATCH", 3)
    for job in range(5):
        own.call(job)
    own.become("worker")
    assert counted.follow(10) == 0
    own.count()
    assert CallTotal.objects.get().calls == 5
    assert Question.objects.count() == 5


def test_the_same_question_is_one_row_for_each_investigation_and_says_not_what_it_was(own: Log) -> None:
    for run, job in (("1", 7), ("1", 7), ("1", 8), ("2", 7)):
        own.call(job, run=run)
    own.call(7, actor=OTHER)
    own.count()
    found = Question.objects.order_by("agent", "run_id", "first_seq").values_list("agent", "run_id", "times")
    assert list(found) == [("asker", "1", 2), ("asker", "1", 1), ("asker", "2", 1), ("other", "1", 1)]
    assert len(set(Question.objects.values_list("digest", flat=True))) == 2
    key = bytes(MonitorState.objects.get().key)
    assert counted.digest_of(key, "find_job", {"job_id": 7}) in Question.objects.values_list("digest", flat=True)
    assert counted.digest_of(bytes(32), "find_job", {"job_id": 7}) not in Question.objects.values_list(
        "digest", flat=True
    )


def test_what_is_old_goes(own: Log) -> None:
    own.call()
    own.count()
    old = datetime(2020, 1, 1, tzinfo=UTC)
    own.become("owner")
    CallSlot.objects.update(since=old)
    Question.objects.update(last_at=old)
    own.become("worker")
    counted.forget()
    assert not CallSlot.objects.exists()
    assert not Question.objects.exists()
    assert CallTotal.objects.exists()  # what a monitor reads never shrinks


def test_the_page_shows_it_as_people_may_read_it(own: Log, client: Any, make_person: Any, make_agent: Any) -> None:
    own.become("owner")
    make_agent("asker")
    client.force_login(make_person("vera", "viewer"))
    for _ in range(3):
        own.call(7, took=8)
    own.refuse("rate_limited", tool="find_job", tool_version=1, source="shop", error="All calls are used.")
    own.count()
    own.become("people")
    activity = Activity(Agent.objects.get(name="asker"))
    row = activity.rows[0]
    assert (row.tool, row.ok, row.failed, row.refused) == ("find_job", 3, 0, 1)
    assert row.median is not None
    assert 6 <= row.median <= 10
    assert [(one.times, one.runs, one.incident_id) for one in activity.questions] == [(3, 1, 318)]
    assert activity.refused == [("rate_limited", 1)]
    text = client.get("/agents/asker/").content.decode()
    assert "Asked again" in text
    assert "rate_limited" in text
    own.become("owner")


def test_a_slot_is_a_quarter_of_an_hour() -> None:
    moment = datetime(2026, 11, 30, 10, 44, 59, tzinfo=UTC)
    assert counted.slot_of(moment) == datetime(2026, 11, 30, 10, 30, tzinfo=UTC)
    assert counted.slot_of(moment + timedelta(seconds=1)) == datetime(2026, 11, 30, 10, 45, tzinfo=UTC)
