"""A pass is watched after it has closed: what speaks against it opens the incident again and counts for the rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection
from django.utils import timezone

from audit import reading
from audit.agents import Principal
from audit.models import Entry
from evidence.errors import Problem
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import actions, briefing, history, incident_actions, intake, investigations, late, standing, trials
from gate.triage.classes import spelled
from gate.triage.models import Draft, Incident, LateEvent
from tests.triage.conftest import JOB_FAILED, MONITOR
from tests.triage.trying import decided

pytestmark = pytest.mark.django_db
WHY = "Both calls are of this job, and the count is whole."
WATCHED = 3600


@pytest.fixture
def mia(make_person: Callable[..., Person]) -> Person:
    return make_person("mia")


@pytest.fixture
def closed(
    report: Callable[..., intake.Report], principal: Principal, define: Callable[..., Any], mia: Person
) -> Callable[..., Draft]:
    """A pass that somebody agreed with, of a class that has passes watched for so long."""

    def make(watch_seconds: int = WATCHED, act: str = "agree", **count: Any) -> Draft:
        if watch_seconds:
            define("class", "job_failed", {**JOB_FAILED, "watch_seconds": watch_seconds})
        incident, _ = intake.receive(report(), MONITOR)
        draft = decided(principal, investigations.start(principal, incident.pk), **count)
        actions.review(draft.pk, by=mia, act=act, reason=WHY, seen_version=1)
        draft.refresh_from_db()
        return draft

    return make


def incident_of(draft: Draft) -> Incident:
    return Incident.objects.get(pk=draft.investigation.incident_id)


def again(report: Callable[..., intake.Report], draft: Draft, **said: Any) -> tuple[Incident, bool]:
    return intake.receive(report(dedup_key=incident_of(draft).dedup_key, **said), MONITOR)


def confirmed(draft: Draft) -> standing.Confirmed:
    return standing.of_versions([draft.rule_hash])[draft.rule_hash]


def test_a_report_within_the_watch_opens_it_again_and_counts(closed: Any, report: Any) -> None:
    draft = closed()
    assert confirmed(draft) == standing.Confirmed(right=1, wrong=0)
    incident, is_new = again(report, draft, members=[{"job_id": 90418}])
    assert (incident, is_new) == (incident_of(draft), False)
    assert (incident.status, incident.members) == ("reopened", [{"job_id": 90418}])
    incident = incident_of(draft)
    assert (incident.closed_at, incident.status) == (None, "reopened")
    event = LateEvent.objects.get(draft=draft)
    assert (event.what, event.by) == ("firing", MONITOR.name)
    assert confirmed(draft) == standing.Confirmed(right=0, wrong=1)
    assert late.of_version(draft.rule_hash) == [event]
    assert trials.is_false_pass(draft)
    entry = Entry.objects.get(kind="incident.reopened", incident_id=incident.pk)
    assert (entry.actor, "counts as false" in entry.summary) == (MONITOR.name, True)
    assert reading.content_of(entry).args["status"] == "firing"


def test_it_counts_once(closed: Any, report: Any) -> None:
    draft = closed()
    again(report, draft)
    again(report, draft)
    assert LateEvent.objects.filter(draft=draft).count() == 1


def test_after_the_watch_a_report_is_an_incident_of_its_own(closed: Any, report: Any) -> None:
    draft = closed()
    over = timezone.now() - timedelta(seconds=WATCHED + 5)
    Incident.objects.filter(pk=draft.investigation.incident_id).update(closed_at=over)
    incident, is_new = again(report, draft)
    assert is_new
    assert incident.pk != draft.investigation.incident_id
    assert incident_of(draft).status == "closed"
    assert not LateEvent.objects.exists()


def test_without_a_watch_nothing_is_opened_again(closed: Any, report: Any) -> None:
    draft = closed(watch_seconds=0)
    _, is_new = again(report, draft)
    assert (is_new, incident_of(draft).status) == (True, "closed")


def test_what_a_person_closed_against_the_rule_is_not_the_rule_s(closed: Any, report: Any) -> None:
    draft = closed(act="overrule", count=...)
    assert (draft.outcome, incident_of(draft).status) == ("fail", "closed")
    _, is_new = again(report, draft)
    assert (is_new, LateEvent.objects.exists()) == (True, False)


def test_a_recovery_speaks_against_it_only_when_it_was_after_the_pass(closed: Any, report: Any) -> None:
    draft = closed()
    for said in ({}, {"recovered_at": None}, {"recovered_at": draft.decided_at - timedelta(seconds=1)}):
        with pytest.raises(Problem, match="nothing that could be resolved"):
            again(report, draft, is_resolved=True, **said)
    incident, _ = again(report, draft, is_resolved=True, recovered_at=draft.decided_at + timedelta(seconds=1))
    assert (incident.status, LateEvent.objects.get().what) == ("reopened", "resolved")


def test_a_key_of_another_class_opens_nothing_again(closed: Any, report: Any, define: Callable[..., Any]) -> None:
    draft = closed()
    define("class", "job_slow", JOB_FAILED)
    _, is_new = again(report, draft, incident_class="job_slow")
    assert (is_new, incident_of(draft).status) == (True, "closed")


def test_nothing_from_before_it_came_back_counts_for_a_new_look(
    closed: Any, report: Any, principal: Principal, mia: Person
) -> None:
    draft = closed()
    before = Draft.objects.values().get(pk=draft.pk)
    incident, _ = again(report, draft)
    told, came_back = briefing.brief(incident, now=timezone.now()), incident_of(draft).came_back_at
    assert came_back is not None
    assert told["began_at"] == told["watch_from"] == spelled(came_back)
    new = decided(principal, investigations.start(principal, incident.pk))
    assert new.outcome == "fail"
    # What was decided before stays decided from what it was.
    assert Draft.objects.values().get(pk=draft.pk) == before
    old = history.situation_of(draft.investigation, None).incident
    assert (old.began_at, old.watch_from) == (incident.began_at, incident.watch_from)


@pytest.mark.parametrize("watch_seconds", [0, WATCHED])
def test_a_person_who_opens_it_again_speaks_against_its_pass(closed: Any, mia: Person, watch_seconds: int) -> None:
    draft = closed(watch_seconds=watch_seconds)
    incident = incident_of(draft)
    incident_actions.reopen(incident.pk, by=mia, reason="It came back.", seen_version=incident.version)
    event = LateEvent.objects.get(draft=draft)
    assert (event.what, event.by) == ("reopened", "mia")
    assert confirmed(draft) == standing.Confirmed(right=0, wrong=1)


def test_an_incident_closed_by_hand_has_no_pass_to_speak_against(closed: Any, mia: Person) -> None:
    draft = closed(act="overrule", count=...)
    incident = incident_of(draft)
    incident_actions.reopen(incident.pk, by=mia, reason="It came back.", seen_version=incident.version)
    assert not LateEvent.objects.exists()


def test_where_passes_are_watched_a_report_keeps_a_waiting_one_from_closing(
    report: Any, principal: Principal, define: Callable[..., Any], mia: Person
) -> None:
    define("class", "job_failed", {**JOB_FAILED, "watch_seconds": WATCHED})
    incident, _ = intake.receive(report(), MONITOR)
    draft = decided(principal, investigations.start(principal, incident.pk))
    again(report, draft, is_resolved=True)
    again(report, draft)
    with pytest.raises(NotAllowed, match=f"{incident.ref} was reported again after {draft.ref} was decided"):
        actions.review(draft.pk, by=mia, act="agree", reason=WHY, seen_version=1)


@pytest.mark.django_db(transaction=True)
def test_the_agents_plane_opens_it_again_without_seeing_what_is_closed(
    closed: Any, report: Any, as_role: Callable[[str], None]
) -> None:
    draft = closed()
    said = report(dedup_key=incident_of(draft).dedup_key)
    as_role("agents")
    assert not Incident.objects.filter(pk=draft.investigation.incident_id).exists()
    incident, is_new = intake.receive(said, MONITOR)
    assert (incident.pk, incident.status, is_new) == (draft.investigation.incident_id, "reopened", False)
    for statement in ("select * from triage_lateevent", "select * from triage_draft"):
        with pytest.raises(ProgrammingError, match="permission denied"), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", ["people", "worker", "reads", "writer", "auditor"])
def test_no_other_process_opens_it_again_that_way(as_role: Callable[[str], None], process: str) -> None:
    as_role(process)
    with pytest.raises(ProgrammingError, match="permission denied"):
        late.reopen_watched("a key", "job_failed", None, "somebody")
