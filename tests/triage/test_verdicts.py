"""Rendering: from the log to one draft, however often it runs and wherever it is killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from audit import links, log, outbox, reading
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Definition, Entry, Outbox
from gate.triage import investigations, submissions, tasks, verdicts
from gate.triage.models import Draft, Incident, Investigation
from gate.triage.rules import registry
from tests.triage.conftest import count_errors, find_job, handed_in, record_call

pytestmark = pytest.mark.django_db


def hand_in(principal: Principal, investigation: Investigation, *findings: tuple[str, str], **more: Any) -> Outbox:
    submissions.submit(principal, investigation.pk, handed_in(*findings, **more))
    return Outbox.objects.get(task=submissions.TASK, subject_id=investigation.pk)


def rendered(job: Outbox) -> Draft:
    outbox.run(job.task, job.pk, verdicts.render)
    return Draft.objects.get(investigation_id=job.subject_id)


def codes(draft: Draft) -> list[str]:
    return [reason["code"] for reason in draft.reasons]


def test_an_earned_pass_becomes_a_draft(principal: Principal, running: Investigation) -> None:
    job_call, count = find_job(running), count_errors(running)
    job = hand_in(principal, running, ("job_completed", job_call.ref), ("no_recurrence", count.ref))
    draft = rendered(job)
    newest = next(rule.version for rule in registry.newest() if rule.hypothesis == draft.rule)
    assert (draft.outcome, draft.reasons, draft.rule_version) == ("pass", [], newest)
    running.refresh_from_db()
    running.incident.refresh_from_db()
    assert (running.status, running.incident.status, draft.status) == ("decided", "drafted", "waiting")
    assert draft.decided_at == running.submitted_at
    assert draft.receipt["entries"][count.ref]["digest"] == count.digest.hex()
    entry = Entry.objects.get(kind=Kind.VERDICT_RENDERED, subject=draft.ref)
    assert reading.content_of(entry).result["receipt"] == draft.receipt


def test_the_cited_entries_know_the_draft_and_the_fields_read(principal: Principal, running: Investigation) -> None:
    job_call, count = find_job(running), count_errors(running)
    job = hand_in(principal, running, ("job_completed", job_call.ref), ("no_recurrence", count.ref))
    draft = rendered(job)
    (link,) = links.citing(job_call.seq)
    assert (link.subject, link.url) == (draft.ref, f"/drafts/{draft.pk}/")
    assert link.paths == ["/job/finished_at", "/job/job_id", "/job/last_error", "/job/state"]


def test_an_entry_that_is_not_there_is_linked_to_nothing(principal: Principal, running: Investigation) -> None:
    number = find_job(running).seq + 10**6
    rendered(hand_in(principal, running, ("job_completed", f"A-{number}")))
    assert links.citing(number) == []


def test_a_secret_in_the_answer_is_masked_in_the_log(principal: Principal, running: Investigation) -> None:
    body = {**handed_in(), "answer": "It used Bearer abcdefgh12345678."}
    submissions.submit(principal, running.pk, body)
    entry = Entry.objects.get(kind=Kind.FINDINGS_SUBMITTED, run_id=str(running.pk))
    assert "abcdefgh" not in str(reading.content_of(entry).args)


def test_a_missing_count_is_not_zero(principal: Principal, running: Investigation) -> None:
    job_call, count = find_job(running), count_errors(running, count=...)
    job = hand_in(principal, running, ("job_completed", job_call.ref), ("no_recurrence", count.ref))
    draft = rendered(job)
    assert draft.outcome == "fail"
    assert "A missing count is not zero" in [reason["headline"] for reason in draft.reasons]
    line = next(line for line in draft.checks if "count is exactly 0" in line["title"])
    assert (line["outcome"], line["seen"], line["absent"]) == (
        "unreadable",
        "not in the result",
        {count.ref: ["/count"]},
    )


def test_an_entry_of_another_incident_is_named_as_such(
    principal: Principal, running: Investigation, open_incident: Callable[..., Incident]
) -> None:
    other = investigations.start(principal, open_incident(subject={"job_id": 90418}).pk)
    foreign, job_call = count_errors(other), find_job(running)
    job = hand_in(principal, running, ("job_completed", job_call.ref), ("no_recurrence", foreign.ref))
    draft = rendered(job)
    assert draft.outcome == "fail"
    assert "wrong_incident" in codes(draft)
    assert any(f"{foreign.ref} belongs to I-{other.incident_id}" in reason["sentence"] for reason in draft.reasons)


def test_a_hypothesis_without_a_rule_fails(principal: Principal, running: Investigation) -> None:
    draft = rendered(hand_in(principal, running, hypothesis="worker_lost"))
    assert (draft.outcome, codes(draft), draft.rule_version, draft.checks) == ("fail", ["no_rule"], None, [])


def test_a_rule_that_was_retired_is_no_rule(principal: Principal, running: Investigation) -> None:
    Definition.objects.filter(kind="rule", name="transient_failure_recovered").update(status="retired")
    assert codes(rendered(hand_in(principal, running))) == ["no_rule"]


def test_an_active_rule_that_this_worker_has_not_loaded_fails(principal: Principal, running: Investigation) -> None:
    body = {**registry.body_of(registry.loaded()[0]), "hypothesis": "transient_failure_recovered", "hash": "0" * 64}
    Definition.objects.filter(kind="rule", name="transient_failure_recovered").update(body=body)
    draft = rendered(hand_in(principal, running))
    assert (draft.outcome, codes(draft)) == ("fail", ["rule_not_loaded"])
    assert draft.rule_hash == "0" * 64


def test_a_failed_call_shows_nothing(principal: Principal, running: Investigation) -> None:
    result = {"job": {"job_id": 90412, "state": "succeeded", "last_error": None}}
    failed = record_call(running, "find_job", {"job_id": 90412}, result, status="failed")
    draft = rendered(hand_in(principal, running, ("job_completed", failed.ref)))
    assert draft.outcome == "fail"
    assert "call_failed" in codes(draft)


def test_a_call_after_handing_in_does_not_exist_for_the_verdict(principal: Principal, running: Investigation) -> None:
    job_call = find_job(running)
    number = job_call.seq + 10**6
    draft = rendered(hand_in(principal, running, ("job_completed", f"A-{number}")))
    assert "unknown_entry" in codes(draft)
    job = Outbox.objects.get(subject_id=running.pk, task=submissions.TASK)
    assert job.done_at is not None


def test_a_start_or_a_refusal_cannot_be_cited(principal: Principal, running: Investigation) -> None:
    job_call = find_job(running)
    draft = rendered(hand_in(principal, running, ("job_completed", f"A-{job_call.seq - 1}")))
    assert "unknown_entry" in codes(draft)


def test_a_later_uncited_answer_that_contradicts_takes_the_pass(principal: Principal, running: Investigation) -> None:
    job_call, count = find_job(running), count_errors(running)
    find_job(running, state="failed", last_error="ReadTimeout")
    draft = rendered(hand_in(principal, running, ("job_completed", job_call.ref), ("no_recurrence", count.ref)))
    assert (draft.outcome, codes(draft)) == ("fail", ["contradicted_later"])


def test_running_it_twice_makes_one_draft(principal: Principal, running: Investigation) -> None:
    job = hand_in(principal, running)
    first = rendered(job)
    verdicts.render(running.pk)
    outbox.run(job.task, job.pk, verdicts.render)
    assert Draft.objects.filter(investigation=running).get() == first
    assert Entry.objects.filter(kind=Kind.VERDICT_RENDERED, run_id=str(running.pk)).count() == 1


def test_the_tasks_are_thin_and_bear_the_names_that_are_enqueued(principal: Principal, running: Investigation) -> None:
    job = hand_in(principal, running)
    assert (tasks.render_verdict.name, tasks.abandon_overdue.name) == (job.task, "gate.triage.tasks.abandon_overdue")
    tasks.render_verdict(job.pk)
    tasks.abandon_overdue()
    assert Draft.objects.filter(investigation=running).count() == 1


def test_an_incident_closed_meanwhile_stays_closed(principal: Principal, running: Investigation) -> None:
    job = hand_in(principal, running)
    Incident.objects.filter(pk=running.incident_id).update(status="closed")
    rendered(job)
    running.incident.refresh_from_db()
    assert running.incident.status == "closed"


class Killed(BaseException):
    """The worker is gone at this point."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("point", ["_draft", "_move", "_record", "_cite"])
def test_killed_in_the_middle_it_leaves_nothing_and_then_makes_one_draft(
    principal: Principal, running: Investigation, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    job = hand_in(principal, running, ("job_completed", find_job(running).ref))
    whole = getattr(verdicts, point)

    def dies(*given: Any) -> None:
        whole(*given)
        raise Killed

    monkeypatch.setattr(verdicts, point, dies)
    with pytest.raises(Killed):
        outbox.run(job.task, job.pk, verdicts.render)
    running.refresh_from_db()
    assert running.status == "submitted"
    assert not Draft.objects.exists()
    assert not Entry.objects.filter(kind=Kind.VERDICT_RENDERED, run_id=str(running.pk)).exists()
    monkeypatch.setattr(verdicts, point, whole)
    rendered(job)
    assert Draft.objects.count() == 1
    assert Entry.objects.filter(kind=Kind.VERDICT_RENDERED, run_id=str(running.pk)).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_changed_payload_is_not_read(principal: Principal, running: Investigation) -> None:
    count = count_errors(running, count=1)
    job = hand_in(principal, running, ("no_recurrence", count.ref))
    from audit import payloads

    forged = payloads.compress(payloads.pack({"count": 0}).kept)
    with connection.cursor() as cursor:
        cursor.execute("alter table audit_payload disable trigger all")
        cursor.execute("update audit_payload set result = %s where entry_id = %s", [forged, count.id])
        cursor.execute("alter table audit_payload enable always trigger refuse_change")
        cursor.execute("alter table audit_payload enable always trigger refuse_truncate")
    assert "not_intact" in codes(rendered(job))


def test_the_worker_says_who_rendered_it(principal: Principal, running: Investigation) -> None:
    draft = rendered(hand_in(principal, running))
    entry = Entry.objects.get(kind=Kind.VERDICT_RENDERED, subject=draft.ref)
    assert (entry.actor_kind, entry.actor) == ("process", log.Actor.process().name)
