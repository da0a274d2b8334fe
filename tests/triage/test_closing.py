"""Agreeing with a pass closes the incident only while the pass still comes out of what is on record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from audit import twohands
from audit.agents import Principal
from audit.models import Definition, Entry
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import actions, clock, intake
from gate.triage.models import Draft, Incident, Investigation, Review
from gate.triage.rules import registry
from tests.triage.conftest import JOB_FAILED, MONITOR, count_errors, find_job
from tests.triage.trying import NAME, body, decided

pytestmark = pytest.mark.django_db
WHY = "Both calls are of this job, and the count is whole."


@pytest.fixture
def mia(make_person: Callable[..., Person]) -> Person:
    return make_person("mia")


@pytest.fixture
def passed(principal: Principal, running: Investigation) -> Draft:
    """A pass that waits for a person."""
    draft = decided(principal, running)
    assert draft.outcome == "pass"
    return draft


def agree(draft: Draft, by: Person) -> Review:
    return actions.review(draft.pk, by=by, act="agree", reason=WHY, seen_version=1)


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    """From here on, the clock says so much later."""
    moment = clock.now() + timedelta(**by)
    monkeypatch.setattr(clock, "now", lambda: moment)


def refused(draft: Draft, by: Person, says: str) -> None:
    with pytest.raises(NotAllowed, match=says) as refusal:
        agree(draft, by)
    assert str(refusal.value).endswith("Send it back for a new look.")
    draft.refresh_from_db()
    assert draft.status == "waiting"
    assert Incident.objects.get(pk=draft.investigation.incident_id).status == "drafted"


def test_a_pass_that_comes_out_again_closes(passed: Draft, mia: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch, seconds=JOB_FAILED["freshness_seconds"] - 60)
    agree(passed, mia)
    assert Incident.objects.get(pk=passed.investigation.incident_id).status == "closed"


def test_after_freshness_nothing_is_closed_and_it_is_said_what_to_do(
    passed: Draft, mia: Person, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, seconds=JOB_FAILED["freshness_seconds"] + 60)
    client.force_login(mia)
    page = client.get(f"/drafts/{passed.pk}/").content.decode()
    assert "closes nothing by now" in page
    assert "older than 1 h by now" in page
    assert "Agree: pass" not in page
    refused(passed, mia, "older than 1 h by now")
    entry = Entry.objects.filter(kind="person.refused", subject=passed.ref).latest("seq")
    assert "older than 1 h" in entry.summary
    # What the sentence says to do can be done, and so can what the person knows.
    assert actions.review(passed.pk, by=mia, act="send_back", reason="Too old.", seen_version=1).act == "send_back"


def test_a_later_answer_that_contradicts_keeps_it_open(passed: Draft, mia: Person) -> None:
    find_job(passed.investigation, state="failed", last_error="ReadTimeout")
    refused(passed, mia, f"What was asked since speaks against {passed.ref}. .*the job is failed")


def test_a_later_answer_that_says_the_same_changes_nothing(passed: Draft, mia: Person) -> None:
    count_errors(passed.investigation)
    find_job(passed.investigation, finished_at=passed.investigation.incident.watch_from.isoformat())
    agree(passed, mia)


def test_an_incident_that_grew_is_not_closed_by_what_was_shown_for_less(
    passed: Draft, mia: Person, report: Callable[..., intake.Report]
) -> None:
    key = Incident.objects.get(pk=passed.investigation.incident_id).dedup_key
    intake.receive(report(subject={"job_id": 90418}, dedup_key=key), MONITOR)
    with pytest.raises(NotAllowed, match="More was grouped into the incident since"):
        agree(passed, mia)


def test_another_version_in_force_does_not_stand_for_it(passed: Draft, mia: Person, define: Callable[..., Any]) -> None:
    older = body(1)
    assert older != body(passed.rule_version)
    Definition.objects.filter(kind="rule", name=NAME).update(status="retired")
    refused(passed, mia, f"The version of {NAME} that earned")
    define("rule", NAME, older)
    assert twohands.active("rule", NAME) is not None
    refused(passed, mia, f"The version of {NAME} that earned")


def test_a_version_that_is_not_loaded_here_closes_nothing(
    passed: Draft, mia: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "find", lambda body: None)
    with pytest.raises(NotAllowed, match="this process has not loaded the version"):
        agree(passed, mia)


@pytest.mark.parametrize("edit", [{"began_at": timedelta(minutes=1)}, {"watch_from": timedelta(hours=2)}])
def test_changed_inputs_do_not_give_the_receipt_that_was_kept(
    passed: Draft, mia: Person, edit: dict[str, timedelta]
) -> None:
    incident = passed.investigation.incident
    (name, by), *_ = edit.items()
    subject = {"job_id": 90418} if name == "began_at" else incident.subject
    Incident.objects.filter(pk=incident.pk).update(**{name: getattr(incident, name) + by}, subject=subject)
    refused(passed, mia, "is not what it was")


def test_a_receipt_that_was_edited_is_not_the_one_that_comes_out(passed: Draft, mia: Person) -> None:
    passed.receipt["checks"][0]["outcome"] = "unreadable"
    passed.receipt["sha256"] = "0" * 64
    passed.save(update_fields=["receipt"])
    refused(passed, mia, "is not what it was")


def test_what_the_monitor_reports_resolved_changes_no_verdict(
    passed: Draft, mia: Person, report: Callable[..., intake.Report]
) -> None:
    before = Draft.objects.values().get(pk=passed.pk)
    key = Incident.objects.get(pk=passed.investigation.incident_id).dedup_key
    incident, _ = intake.receive(report(dedup_key=key, is_resolved=True), MONITOR)
    assert (incident.status, incident.reported_resolved_at is not None) == ("drafted", True)
    assert Draft.objects.values().get(pk=passed.pk) == before
    agree(passed, mia)


def test_resolved_by_silence_earns_nothing(
    principal: Principal, running: Investigation, report: Callable[..., intake.Report]
) -> None:
    intake.receive(report(dedup_key=running.incident.dedup_key, is_resolved=True), MONITOR)
    draft = decided(principal, running, count=...)
    assert draft.outcome == "fail"
