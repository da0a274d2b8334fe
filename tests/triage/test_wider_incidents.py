"""Alerts that were grouped: the incident gets wider and never narrower, and what passes is shown for all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit import outbox
from audit.agents import Principal
from audit.models import Outbox
from evidence.errors import Problem
from gate.triage import classes, intake, receipts, submissions, verdicts
from gate.triage.models import Draft, Incident, Investigation
from tests.triage.conftest import JOB_FAILED, MONITOR, count_errors, find_job, handed_in, record_call

pytestmark = pytest.mark.django_db
OTHER = {"job_id": 90413}


def decide(principal: Principal, investigation: Investigation, *findings: tuple[str, str]) -> Draft:
    submissions.submit(principal, investigation.pk, handed_in(*findings))
    job = Outbox.objects.get(task=submissions.TASK, subject_id=investigation.pk)
    outbox.run(job.task, job.pk, verdicts.render)
    return Draft.objects.get(investigation=investigation)


def earned(principal: Principal, investigation: Investigation) -> Draft:
    found = ("job_completed", find_job(investigation).ref), ("no_recurrence", count_errors(investigation).ref)
    return decide(principal, investigation, *found)


def test_a_report_names_its_members(open_incident: Callable[..., Incident]) -> None:
    incident = open_incident(members=[OTHER], undelivered=3)
    facts = classes.facts_of(incident)
    assert (facts.members, facts.undelivered) == ((OTHER,), 3)


@pytest.mark.parametrize("member", [{}, {"job_id": "90413"}, {"job_id": 1, "more": 2}, {"job": 1}])
def test_a_member_is_a_subject_of_the_class(report: Callable[..., intake.Report], member: dict[str, Any]) -> None:
    with pytest.raises(Problem):
        intake.receive(report(members=[member]), MONITOR)


def test_another_subject_under_the_same_key_is_no_repetition(report: Callable[..., intake.Report]) -> None:
    """What is grouped by a key would else be closed with the one that came first."""
    incident, _ = intake.receive(report(dedup_key="k"), MONITOR)
    again, was_opened = intake.receive(report(dedup_key="k", subject=OTHER), MONITOR)
    assert (again.pk, was_opened) == (incident.pk, False)
    intake.receive(report(dedup_key="k", subject=OTHER), MONITOR)
    intake.receive(report(dedup_key="k", undelivered=2), intake.Monitor("another"))
    intake.receive(report(dedup_key="k"), MONITOR)
    incident.refresh_from_db()
    assert (incident.members, incident.undelivered) == ([OTHER], 2)


def test_members_without_number_are_counted_and_not_named(report: Callable[..., intake.Report]) -> None:
    incident, _ = intake.receive(report(dedup_key="k", members=[{"job_id": n} for n in range(100)]), MONITOR)
    intake.receive(report(dedup_key="k", subject={"job_id": 1000}), MONITOR)
    incident.refresh_from_db()
    assert (len(incident.members), incident.undelivered) == (100, 1)


def test_a_pass_is_shown_for_each_member(principal: Principal, running: Investigation) -> None:
    Incident.objects.filter(pk=running.incident_id).update(members=[OTHER])
    running.refresh_from_db()
    draft = earned(principal, running)
    assert (draft.outcome, "missing_fact") == ("fail", draft.reasons[0]["code"])


def test_with_every_member_shown_it_passes_and_says_for_how_many(principal: Principal, running: Investigation) -> None:
    Incident.objects.filter(pk=running.incident_id).update(members=[OTHER])
    running.refresh_from_db()
    job, count = find_job(running), count_errors(running)
    result = {"job": {"job_id": 90413, "state": "succeeded", "last_error": None,
                      "finished_at": running.incident.watch_from.isoformat()}}  # fmt: skip
    other = record_call(running, "find_job", OTHER, result)
    draft = decide(
        principal, running, ("job_completed", job.ref), ("job_completed", other.ref), ("no_recurrence", count.ref)
    )
    assert (draft.outcome, draft.reasons, draft.receipt["subjects"]) == ("pass", [], 2)


def test_a_pass_is_none_any_more_when_the_incident_got_wider(principal: Principal, running: Investigation) -> None:
    draft = earned(principal, running)
    assert (draft.outcome, receipts.shown(draft).outcome) == ("pass", "pass")
    Incident.objects.filter(pk=running.incident_id).update(members=[OTHER])
    draft = Draft.objects.get(pk=draft.pk)
    assert receipts.shown(draft).outcome == "fail"
    assert receipts.WIDER in receipts.shown(draft).faults
    Incident.objects.filter(pk=running.incident_id).update(members=[], undelivered=1)
    assert receipts.shown(Draft.objects.get(pk=draft.pk)).outcome == "fail"


# Facts that a class lets a monitor say


def means(**fact_keys: str) -> classes.IncidentClass:
    return classes.parse({**JOB_FAILED, "fact_keys": fact_keys} if fact_keys else JOB_FAILED)


def test_a_condition_comes_from_the_intake_only_where_the_class_says_so() -> None:
    assert means().misfit_of_facts({"error": "ReadTimeout"}) == ""
    assert "metric_good" in means().misfit_of_facts({"metric_good": "< 0.05"})
    assert means(metric_good="condition").misfit_of_facts({"metric_good": "< 0.05"}) == ""


@pytest.mark.parametrize(
    "facts", [{"metric_good": "<0.05"}, {"metric_good": 1}, {"amount": "1"}, {"amount": True}, {"x": 1}]
)
def test_what_a_class_names_has_its_type_and_nothing_else_comes(facts: dict[str, Any]) -> None:
    assert means(metric_good="condition", amount="integer").misfit_of_facts(facts) != ""


def test_a_report_with_a_fact_that_its_class_does_not_let_it_say_is_refused(
    report: Callable[..., intake.Report],
) -> None:
    with pytest.raises(Problem) as refused:
        intake.receive(report(facts={"metric_good": "< 1"}), MONITOR)
    assert refused.value.code == "wrong_facts"


@pytest.mark.parametrize("kind", ["number", "", None, 1])
def test_a_fact_of_a_kind_that_nobody_knows_is_no_class(kind: Any) -> None:
    with pytest.raises(ValueError):
        classes.parse({**JOB_FAILED, "fact_keys": {"x": kind}})
