"""What triage repeats of an entry goes when the entry is redacted, and a verdict that cites it is not earned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit import copies, log, outbox, redacting
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Entry, Outbox, Redaction
from gate.triage import incident_actions, submissions, verdicts
from gate.triage.models import Comment, Draft, Investigation
from tests.triage.conftest import count_errors, find_job, handed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def admins(make_person: Callable[..., Any]) -> tuple[Any, Any]:
    return make_person("first-admin", "admin"), make_person("second-admin", "admin")


def redact(entry: Entry, admins: tuple[Any, Any], part: str = "both") -> None:
    asker, confirmer = admins
    wanted = redacting.ask(entry, part=part, reason="A name.", by=asker)
    redacting.confirm(wanted.pk, by=confirmer)


def hand_in(principal: Principal, running: Investigation, *calls: log.Recorded) -> Outbox:
    job_call, count = calls
    findings = [("job_completed", job_call.ref), ("no_recurrence", count.ref)]
    submissions.submit(principal, running.pk, handed_in(*findings))
    return Outbox.objects.get(task=submissions.TASK, subject_id=running.pk)


def rendered(job: Outbox) -> Draft:
    outbox.run(job.task, job.pk, verdicts.render)
    return Draft.objects.get(investigation_id=job.subject_id)


def test_a_verdict_over_a_redacted_entry_is_not_earned(
    principal: Principal, running: Investigation, admins: Any
) -> None:
    job_call, count = find_job(running), count_errors(running)
    job = hand_in(principal, running, job_call, count)
    redact(Entry.objects.get(seq=job_call.seq), admins, "result")
    assert rendered(job).outcome == "fail"


def test_values_that_checks_read_are_cleared(principal: Principal, running: Investigation, admins: Any) -> None:
    job_call, count = find_job(running), count_errors(running)
    draft = rendered(hand_in(principal, running, job_call, count))
    assert any(job_call.ref in line["values"] for line in draft.checks)
    redact(Entry.objects.get(seq=job_call.seq), admins)
    draft.refresh_from_db()
    assert not any(job_call.ref in line["values"] for line in draft.checks)
    assert not any(job_call.ref in line["read"] for line in draft.receipt["checks"])
    assert {line["seen"] for line in draft.checks if job_call.ref in line["audit_ids"]} == {"redacted"}
    assert any(count.ref in line["values"] for line in draft.checks)


def test_prose_of_redacted_findings_is_cleared(principal: Principal, running: Investigation, admins: Any) -> None:
    hand_in(principal, running, find_job(running), count_errors(running))
    handed = Entry.objects.get(kind=Kind.FINDINGS_SUBMITTED, run_id=str(running.pk))
    redact(handed, admins, "args")
    running.refresh_from_db()
    assert running.answer == f"Redacted with {handed.ref}."


def test_a_redacted_comment_is_cleared(running: Investigation, admins: Any) -> None:
    incident_actions.comment(running.incident_id, by=admins[0], text="Jane wrote to us.")
    entry = Entry.objects.get(seq=Comment.objects.get().entry_seq)
    assert "shows the comment in full" in " ".join(copy.sentence for copy in copies.of(entry))
    redact(entry, admins, "args")
    assert Comment.objects.get().text == f"Redacted with {entry.ref}."


def test_nothing_is_cleared_for_a_request_that_is_not_done(running: Investigation, admins: Any) -> None:
    entry = Entry.objects.get(seq=find_job(running).seq)
    wanted = redacting.ask(entry, part="both", reason="A name.", by=admins[0])
    assert Redaction.objects.get(pk=wanted.pk).recorded_as is None
    with pytest.raises(DatabaseError, match="not done"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select triage_clear_copies(%s)", [wanted.pk])
