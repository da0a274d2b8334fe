"""Agents start investigations: one per incident at a time, with a briefing that tells no outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.agents import Principal
from audit.at_once import ask
from audit.kinds import Kind
from audit.models import Entry
from evidence.errors import Problem
from gate.triage import investigations, overdue, scope
from gate.triage.models import Incident, Investigation
from gate.triage.verdict import verdict

pytestmark = pytest.mark.django_db
Start = Callable[..., Incident]


def test_the_oldest_open_incident_is_chosen_when_none_is_named(principal: Principal, open_incident: Start) -> None:
    now = timezone.now()
    open_incident(subject={"job_id": 1})
    older = open_incident(subject={"job_id": 2}, began_at=now - timedelta(hours=9))
    started = investigations.start(principal, None)
    older.refresh_from_db()
    assert (started.incident_id, older.status) == (older.pk, "investigating")
    assert started.briefing["why"] == investigations.CHOSEN_AS_OLDEST


def test_an_incident_that_a_person_took_is_not_chosen_by_itself(
    principal: Principal, open_incident: Start, make_person: Callable[..., Any]
) -> None:
    taken = open_incident()
    Incident.objects.filter(pk=taken.pk).update(owner=make_person("mia"))
    with pytest.raises(Problem, match="No open incident waits"):
        investigations.start(principal, None)
    assert investigations.start(principal, taken.ref).incident_id == taken.pk


@pytest.mark.parametrize("spelling", ["I-{pk}", "{pk}"])
def test_an_incident_is_named_as_people_do(principal: Principal, open_incident: Start, spelling: str) -> None:
    incident = open_incident()
    assert investigations.start(principal, spelling.format(pk=incident.pk)).incident_id == incident.pk


@pytest.mark.parametrize("nonsense", ["I-", "V-3", "-1", "0", "١", "1 or 1=1", 10**30, True])
def test_nonsense_names_no_incident(principal: Principal, open_incident: Start, nonsense: Any) -> None:
    open_incident()
    with pytest.raises(Problem):
        investigations.start(principal, nonsense)


def test_one_investigation_runs_on_an_incident(
    running: Investigation, make_principal: Callable[..., Principal]
) -> None:
    with pytest.raises(Problem, match="is being investigated"):
        investigations.start(make_principal("second-agent"), running.incident_id)


@pytest.mark.parametrize("status", ["drafted", "closed"])
def test_an_incident_that_waits_for_a_person_or_is_over_cannot_be_started(
    principal: Principal, open_incident: Start, status: str
) -> None:
    incident = open_incident()
    Incident.objects.filter(pk=incident.pk).update(status=status)
    with pytest.raises(Problem):
        investigations.start(principal, incident.pk)


def test_what_was_offered_chosen_and_why_is_recorded(running: Investigation) -> None:
    from audit import reading

    entry = Entry.objects.get(kind=Kind.INVESTIGATION_STARTED, run_id=str(running.pk), incident_id=running.incident_id)
    assert reading.content_of(entry).result == running.briefing
    assert set(running.briefing) == {"offered", "chosen", "why"}


def test_the_briefing_says_what_would_have_to_be_shown_and_with_what(running: Investigation) -> None:
    offered = running.briefing["offered"]
    assert offered["subject"] == {"job_id": 90412}
    assert offered["facts"] == {"error": "ReadTimeout", "job_kind": "settle_payouts"}
    hypotheses = {known["hypothesis"]: known["facts"] for known in offered["hypotheses"]}
    assert list(hypotheses) == ["transient_failure_recovered", "no_errors_in_logs", "worker_lost"]
    assert [(fact["fact"], fact["tools"]) for fact in hypotheses["transient_failure_recovered"]] == [
        ("job_completed", ["find_job"]),
        ("no_recurrence", ["count_errors"]),
    ]
    assert hypotheses["worker_lost"] == []
    assert offered["budget_calls"] == 3


def test_the_briefing_tells_no_verdict_and_carries_the_persons_sentence(
    principal: Principal, running: Investigation
) -> None:
    Incident.objects.filter(pk=running.incident_id).update(guidance="Look at the deadlocks, too.", status="open")
    Investigation.objects.filter(pk=running.pk).update(status="decided")
    again = investigations.start(principal, running.incident_id)
    told = json.dumps(again.briefing).lower()
    assert "look at the deadlocks, too." in told
    assert not [word for word in ("verdict", "pass", "fail ", "overrul", "agreed", "confidence") if word in told]


# Scope


def test_the_only_running_investigation_is_the_scope(principal: Principal, running: Investigation) -> None:
    found = ask(scope.resolving(principal, None))
    assert (found.run_id, found.incident_id, found.decision_point) == (str(running.pk), running.incident_id, None)
    assert found.allows("find_job")
    assert not found.allows("get_charge")


def test_without_one_the_agent_is_told_to_start(principal: Principal) -> None:
    with pytest.raises(Problem, match="Start an investigation first"):
        ask(scope.resolving(principal, None))


def test_with_several_the_agent_must_say_which(
    principal: Principal, running: Investigation, open_incident: Start
) -> None:
    second = investigations.start(principal, open_incident(subject={"job_id": 7}).pk)
    with pytest.raises(Problem, match="say which in `investigation`"):
        ask(scope.resolving(principal, None))
    assert ask(scope.resolving(principal, second.pk)).run_id == str(second.pk)
    assert ask(scope.resolving(principal, running.pk)).run_id == str(running.pk)


def test_anothers_and_a_finished_one_look_like_none(
    running: Investigation, make_principal: Callable[..., Principal], principal: Principal
) -> None:
    stranger = make_principal("second-agent")
    Investigation.objects.filter(pk=running.pk).update(status="decided")
    answers = []
    for who, which in ((stranger, running.pk), (principal, running.pk), (principal, 10**9), (principal, None)):
        with pytest.raises(Problem) as refused:
            ask(scope.resolving(who, which))
        answers.append((refused.value.status, refused.value.code, refused.value.sentence))
    assert len(set(answers)) == 1


def test_calls_are_counted_down_and_then_refused(principal: Principal, running: Investigation) -> None:
    mine = ask(scope.resolving(principal, None))
    assert [ask(mine.taking_call()) for _ in range(3)] == [2, 1, 0]
    with pytest.raises(Problem, match="All 3 calls are used"):
        ask(mine.taking_call())
    running.refresh_from_db()
    assert running.calls_used == 3


def test_after_the_deadline_no_call_is_taken(principal: Principal, running: Investigation) -> None:
    mine = ask(scope.resolving(principal, None))
    Investigation.objects.filter(pk=running.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Problem, match="time of this investigation is over"):
        ask(mine.taking_call())
    running.refresh_from_db()
    assert running.calls_used == 0


def test_once_it_is_handed_in_no_call_is_taken(principal: Principal, running: Investigation) -> None:
    mine = ask(scope.resolving(principal, None))
    Investigation.objects.filter(pk=running.pk).update(status="submitted")
    with pytest.raises(Problem, match="Start an investigation first"):
        ask(mine.taking_call())


# Overdue


def test_an_overdue_investigation_is_abandoned_and_its_incident_waits_again(running: Investigation) -> None:
    assert overdue.abandon_all() == 0
    Investigation.objects.filter(pk=running.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    assert overdue.abandon_all() == 1
    running.refresh_from_db()
    running.incident.refresh_from_db()
    assert (running.status, running.incident.status) == ("abandoned", "open")
    assert Entry.objects.filter(kind=Kind.INVESTIGATION_ABANDONED, run_id=str(running.pk)).count() == 1
    assert overdue.abandon_all() == 0


def test_the_verdict_takes_no_database() -> None:
    """The engine is pure: nothing that it imports brings Django in."""
    import subprocess
    import sys

    code = (
        "import sys, gate.triage.verdict, gate.triage.rules.registry as r; r.loaded(); print('django' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert answer.stdout.strip() == "False"
    assert verdict.__module__ == "gate.triage.verdict"
