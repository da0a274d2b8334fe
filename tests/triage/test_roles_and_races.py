"""Each process can do its part of triage with its own role, and two at once do it once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import close_old_connections, connection
from django.db.utils import ProgrammingError
from django.utils import timezone

from audit import log, outbox
from audit.agents import Principal
from audit.at_once import ask
from audit.models import Agent, Outbox
from evidence.errors import Problem
from gate.triage import intake, investigations, overdue, rule_actions, scope, submissions, tasks, verdicts
from gate.triage.models import Draft, Incident, IntakeToken, Investigation, Review
from gate.triage.rule_models import Job, Replay
from tests.triage.conftest import MONITOR, count_errors, find_job, handed_in

pytestmark = pytest.mark.django_db(transaction=True)
As = Callable[[str], None]


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run the works in threads that start together; each one's result, or the Problem it met."""
    barrier, results = threading.Barrier(len(works)), [None] * len(works)

    def run(place: int, work: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            results[place] = work()
        except Problem as problem:
            results[place] = problem
        finally:
            close_old_connections()
            connection.close()

    threads = [threading.Thread(target=run, args=(place, work)) for place, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def test_the_agents_plane_takes_a_report_starts_counts_and_hands_in(
    as_role: As, principal: Principal, report: Callable[..., intake.Report]
) -> None:
    said = report()
    token = intake.issue_token("shop-monitor", log.Actor("person", "Ada", "ada"))
    as_role("agents")
    monitor = intake.authenticate(token)
    assert monitor is not None
    incident, _ = intake.receive(said, monitor)
    intake.receive(report(title="again"), monitor)
    intake.receive(report(is_resolved=True), monitor)
    investigation = investigations.start(principal, None)
    assert investigation.incident_id == incident.pk
    assert ask(ask(scope.resolving(principal, None)).taking_call()) == 2
    job_call, count = find_job(investigation), count_errors(investigation)
    findings = [("job_completed", job_call.ref), ("no_recurrence", count.ref)]
    submissions.submit(principal, investigation.pk, handed_in(*findings))
    as_role("worker")
    job = Outbox.objects.get(task=submissions.TASK, subject_id=investigation.pk)
    outbox.run(job.task, job.pk, verdicts.render)
    draft = Draft.objects.get(investigation=investigation)
    assert draft.outcome == "pass", draft.reasons


def test_the_worker_abandons_what_is_overdue(as_role: As, running: Investigation) -> None:
    Investigation.objects.filter(pk=running.pk).update(deadline_at=running.started_at)
    as_role("worker")
    assert overdue.abandon_all() == 1
    assert Incident.objects.get(pk=running.incident_id).status == "open"


def test_the_agents_plane_sees_no_verdict_no_review_and_no_closed_incident(
    as_role: As, principal: Principal, open_incident: Callable[..., Incident]
) -> None:
    closed = open_incident()
    Incident.objects.filter(pk=closed.pk).update(status="closed")
    as_role("agents")
    assert not Incident.objects.filter(pk=closed.pk).exists()
    with pytest.raises(Problem, match="no open incident of that number"):
        investigations.start(principal, closed.pk)
    for hidden in (Draft, Review):
        with pytest.raises(ProgrammingError, match="permission denied"):
            hidden.objects.exists()
        connection.rollback()


def test_a_verdict_whose_worker_was_lost_each_time_is_rendered_in_the_end(
    as_role: As, principal: Principal, running: Investigation
) -> None:
    submissions.submit(principal, running.pk, handed_in())
    job = Outbox.objects.get(task=submissions.TASK, subject_id=running.pk)
    long_ago = timezone.now() - timedelta(minutes=11)
    Outbox.objects.filter(pk=job.pk).update(attempts=outbox.MOST_ATTEMPTS, gave_up_at=long_ago)
    as_role("worker")
    tasks.render_verdict(job.pk)
    assert not Draft.objects.filter(investigation=running).exists()
    tasks.abandon_overdue()
    tasks.render_verdict(job.pk)
    assert Draft.objects.filter(investigation=running).count() == 1


def test_the_worker_ends_what_was_given_up(as_role: As, principal: Principal) -> None:
    replay = Replay.objects.create(asked_by_id=Agent.objects.get(pk=principal.agent_id).owner_id)
    given_up = {"gave_up_at": timezone.now(), "error": "It was tried 8 times."}
    Outbox.objects.create(task=rule_actions.REPLAY, queue=rule_actions.QUEUE, subject_id=replay.pk, **given_up)
    as_role("worker")
    tasks.abandon_overdue()
    replay.refresh_from_db()
    assert (replay.status, replay.why[:21]) == (Job.GIVEN_UP, "It was tried 8 times.")


def test_neither_plane_nor_worker_may_do_the_others_part(as_role: As, running: Investigation) -> None:
    forbidden = [
        ("agents", lambda: IntakeToken.objects.create(name="own", digest="0" * 64)),
        ("agents", lambda: Incident.objects.filter(pk=running.incident_id).update(watch_from=running.started_at)),
        ("agents", lambda: Investigation.objects.filter(pk=running.pk).update(budget_calls=10**6)),
        ("worker", lambda: Investigation.objects.filter(pk=running.pk).update(hypothesis="x")),
        ("worker", lambda: Incident.objects.filter(pk=running.incident_id).update(closed_at=running.started_at)),
        ("worker", lambda: Draft.objects.filter(pk=1).update(outcome="pass")),
        ("reads", lambda: Investigation.objects.exists()),
    ]
    for process, act in forbidden:
        as_role(process)
        with pytest.raises(ProgrammingError, match="permission denied"):
            act()


def test_two_calls_at_once_do_not_both_take_the_last_one(principal: Principal, running: Investigation) -> None:
    Investigation.objects.filter(pk=running.pk).update(calls_used=running.budget_calls - 1)
    mine = ask(scope.resolving(principal, None))
    results = at_once(*[lambda: ask(mine.taking_call())] * 4)
    assert results.count(0) == 1
    assert sum(isinstance(result, Problem) for result in results) == 3
    running.refresh_from_db()
    assert running.calls_used == running.budget_calls


def test_two_reports_at_once_open_one_incident(report: Callable[..., intake.Report]) -> None:
    said = report()
    results = at_once(*[lambda: intake.receive(said, MONITOR)] * 3)
    assert len({incident.pk for incident, _ in results}) == 1
    assert [is_new for _, is_new in results].count(True) == 1


@pytest.mark.parametrize("waiting", [1, 2])
def test_two_agents_at_once_never_get_the_same_incident(
    make_principal: Callable[..., Principal], open_incident: Callable[..., Incident], waiting: int
) -> None:
    first, second = make_principal("one"), make_principal("two")
    for number in range(waiting):
        open_incident(subject={"job_id": number})
    results = at_once(lambda: investigations.start(first, None), lambda: investigations.start(second, None))
    started = [result.incident_id for result in results if isinstance(result, Investigation)]
    assert len(set(started)) == len(started) == waiting
    assert sum(isinstance(result, Problem) for result in results) == 2 - waiting


def test_two_submissions_at_once_are_one(principal: Principal, running: Investigation) -> None:
    hand_in = [lambda: submissions.submit(principal, running.pk, handed_in())] * 2
    results = at_once(*hand_in)
    assert results.count({"status": "received"}) == 1
    assert [result.code for result in results if isinstance(result, Problem)] == ["already_submitted"]


def test_two_workers_at_once_make_one_draft(principal: Principal, running: Investigation) -> None:
    submissions.submit(principal, running.pk, handed_in())
    job = Outbox.objects.get(task=submissions.TASK, subject_id=running.pk)
    at_once(*[lambda: outbox.run(job.task, job.pk, verdicts.render)] * 2)
    assert Draft.objects.filter(investigation=running).count() == 1
    job.refresh_from_db()
    assert job.done_at is not None
