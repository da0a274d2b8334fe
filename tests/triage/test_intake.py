"""Reports of monitors become incidents, once, and only with an intake token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import agents, log, reading
from audit.kinds import Kind
from audit.models import Entry
from evidence.errors import Problem
from gate.triage import intake, investigations
from gate.triage.models import Incident
from tests.triage.conftest import JOB_FAILED, MONITOR

pytestmark = pytest.mark.django_db
ADA = log.Actor("person", "Ada", "ada")


def test_a_report_opens_an_incident_and_an_entry(report: Callable[..., intake.Report]) -> None:
    said = report()
    incident, is_new = intake.receive(said, MONITOR)
    assert is_new
    assert (incident.status, incident.severity, incident.opened_by) == ("open", "high", "shop-monitor")
    assert incident.watch_from == said.recovered_at
    entry = Entry.objects.get(kind=Kind.INCIDENT_OPENED, incident_id=incident.pk)
    assert (entry.actor_kind, entry.actor, entry.subject) == ("monitor", "shop-monitor", incident.ref)


def test_without_a_recovery_silence_counts_from_the_beginning(report: Callable[..., intake.Report]) -> None:
    incident, _ = intake.receive(report(recovered_at=None), MONITOR)
    assert incident.watch_from == incident.began_at


def test_a_second_report_of_the_same_updates_the_same_incident(report: Callable[..., intake.Report]) -> None:
    first, _ = intake.receive(report(), MONITOR)
    second, is_new = intake.receive(report(title="Job 90412 failed again", severity="critical"), MONITOR)
    assert (second.pk, is_new) == (first.pk, False)
    first.refresh_from_db()
    assert (first.title, first.severity) == ("Job 90412 failed again", "critical")
    assert Entry.objects.filter(kind=Kind.INCIDENT_UPDATED, incident_id=first.pk).count() == 1


def test_a_dedup_key_of_the_monitors_own_joins_reports(report: Callable[..., intake.Report]) -> None:
    first, _ = intake.receive(report(dedup_key="group-7"), MONITOR)
    other, _ = intake.receive(report(dedup_key="group-7", subject={"job_id": 90413}), MONITOR)
    assert other.pk == first.pk
    other.refresh_from_db()
    assert other.subject == {"job_id": 90412}


@pytest.mark.parametrize("changes", [{"title": "All is well", "severity": "low"}, {"is_resolved": True}])
def test_another_monitor_changes_nothing_of_what_one_opened(
    report: Callable[..., intake.Report], changes: dict[str, Any]
) -> None:
    first, _ = intake.receive(report(), MONITOR)
    before = Incident.objects.filter(pk=first.pk).values().get()
    told, is_new = intake.receive(report(**changes), intake.Monitor("another"))
    assert (told.pk, is_new) == (first.pk, False)
    assert Incident.objects.filter(pk=first.pk).values().get() == before
    assert Entry.objects.filter(kind=Kind.INCIDENT_UPDATED, incident_id=first.pk, actor="another").count() == 1


def test_a_report_of_another_class_is_not_swallowed(report: Callable[..., intake.Report], define: Any) -> None:
    define("class", "job_slow", JOB_FAILED)
    intake.receive(report(dedup_key="group-7"), MONITOR)
    with pytest.raises(Problem, match="of another class"):
        intake.receive(report(dedup_key="group-7", incident_class="job_slow"), MONITOR)


def test_long_subjects_that_begin_alike_are_two(report: Callable[..., intake.Report]) -> None:
    long = dict.fromkeys(("a", "b"), "x" * 190)
    keys = {intake.dedup_key(report(subject={**long, "z": end})) for end in ("1", "2")}
    assert len(keys) == 2
    assert all(len(key) <= 200 for key in keys)


def test_secrets_of_a_report_are_masked_in_the_log(report: Callable[..., intake.Report], make_agent: Any) -> None:
    said = {
        "title": "password=hunter2 fails",
        "facts": {"error": "E", "password": "hunter2"},
        "dedup_key": "pwd=hunter2",
    }
    incident, _ = intake.receive(report(**said), MONITOR)
    _, token = make_agent()
    principal = agents.authenticate(token)
    assert principal is not None
    investigations.start(principal, incident.pk)
    entries = list(Entry.objects.filter(incident_id=incident.pk))
    assert {entry.kind for entry in entries} == {"incident.opened", "investigation.started"}
    for entry in entries:
        content = reading.content_of(entry)
        assert "hunter2" not in f"{entry.summary} {content.args} {content.result}"


def test_after_closing_the_same_report_opens_a_new_incident(report: Callable[..., intake.Report]) -> None:
    first, _ = intake.receive(report(), MONITOR)
    Incident.objects.filter(pk=first.pk).update(status=Incident.Status.CLOSED)
    second, is_new = intake.receive(report(), MONITOR)
    assert is_new
    assert second.pk != first.pk


def test_a_report_of_recovery_closes_nothing(report: Callable[..., intake.Report]) -> None:
    first, _ = intake.receive(report(), MONITOR)
    told, is_new = intake.receive(report(is_resolved=True), MONITOR)
    told.refresh_from_db()
    assert (told.pk, told.status, is_new) == (first.pk, "open", False)
    assert told.reported_resolved_at is not None
    assert Entry.objects.filter(kind=Kind.INCIDENT_REPORTED_RESOLVED, incident_id=first.pk).exists()


WRONG = [
    ({"incident_class": "unheard_of"}, "There is no incident class"),
    ({"subject": {}}, "is exactly job_id"),
    ({"subject": {"job_id": 90412, "tenant": 1}}, "is exactly job_id"),
    ({"subject": {"job_id": "90412"}}, "must be of type integer"),
    ({"subject": {"job_id": True}}, "must be of type integer"),
    ({"began_at": timezone.now() + timedelta(hours=1), "recovered_at": None}, "lies in the future"),
    ({"recovered_at": timezone.now() - timedelta(days=9)}, "lies before began_at"),
    ({"began_at": datetime(1, 1, 1, tzinfo=UTC)}, "more than ten years back"),
    ({"is_resolved": True}, "nothing that could be resolved"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_what_cannot_be_is_refused_with_a_sentence(
    report: Callable[..., intake.Report], changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Problem, match=sentence):
        intake.receive(report(**changes), MONITOR)
    assert not Incident.objects.exists()


def test_a_token_is_shown_once_and_kept_as_a_hash() -> None:
    token = intake.issue_token("shop-monitor", ADA)
    assert token.startswith("csi_")
    assert intake.authenticate(token) == MONITOR
    assert intake.authenticate(token + "x") is None
    with pytest.raises(ValueError, match="choose another name"):
        intake.issue_token("shop-monitor", ADA)
    assert Entry.objects.filter(kind=Kind.TOKEN_ISSUED, subject="intake shop-monitor").exists()


def test_a_revoked_token_opens_nothing() -> None:
    token = intake.issue_token("old-monitor", ADA)
    intake.IntakeToken.objects.update(revoked_at=timezone.now())
    assert intake.authenticate(token) is None


@pytest.mark.urls("gate.config.urls_agents")
class TestOverHttp:
    """POST /api/v1/incidents."""

    def post(self, token: str, **changes: Any) -> Any:
        body = {
            "class": "job_failed", "title": "Job 90412 failed", "subject": {"job_id": 90412},
            "facts": {"error": "ReadTimeout"}, "began_at": "2026-01-29T02:10:44Z", **changes,
        }  # fmt: skip
        body = {key: value for key, value in body.items() if value is not ...}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Client().post("/api/v1/incidents", body, content_type="application/json", headers=headers)

    def test_it_opens_and_then_tells(self, classes: None) -> None:
        token = intake.issue_token("shop-monitor", ADA)
        first, second = self.post(token), self.post(token)
        assert (first.status_code, second.status_code) == (201, 200)
        number = first.json()["id"]
        assert first.json() == {"incident": f"I-{number}", "id": number, "status": "open"}
        assert second.json() == first.json()

    def test_an_agents_token_opens_nothing(self, classes: None, make_agent: Callable[..., Any]) -> None:
        _, token = make_agent()
        for wrong in (token, "", "csi_nonsense"):
            assert self.post(wrong).status_code == 401
        assert not Incident.objects.exists()

    def test_a_report_that_cannot_be_parsed_is_recorded_too(self, classes: None) -> None:
        token = intake.issue_token("shop-monitor", ADA)
        before = Entry.objects.filter(kind=Kind.CALL_REFUSED, actor="shop-monitor").count()
        nested = '{"facts": {"error": ' + "[" * 450 + "]" * 450 + "}}"
        for body, status in (("{", 400), ("[" * 100_000, 400), ("[]", 422), (nested, 422)):
            answer = Client().post(
                "/api/v1/incidents", body, content_type="application/json", headers={"Authorization": f"Bearer {token}"}
            )
            assert answer.status_code == status, answer.content
        assert Entry.objects.filter(kind=Kind.CALL_REFUSED, actor="shop-monitor").count() == before + 4

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"verdict": "pass"}, "Unknown keys: verdict"),
            ({"began_at": "2026-01-29T02:10:44"}, "with its zone"),
            ({"began_at": 1769652644}, "with its zone"),
            ({"began_at": ...}, "began_at"),
            ({"title": "a\0b"}, "title"),
            ({"facts": {"deep": {"er": 1}}}, "facts"),
            ({"facts": {"error": "a\0b"}}, "facts"),
            ({"facts": {"ratio": 0.5}}, "facts"),
            ({"severity": "apocalyptic"}, "severity"),
            ({"subject": {"job_id": 1.0}}, "subject"),
        ],
    )
    def test_a_malformed_report_is_refused_and_recorded(self, classes: None, changes: Any, said: str) -> None:
        token = intake.issue_token("shop-monitor", ADA)
        before = Entry.objects.filter(kind=Kind.CALL_REFUSED, actor="shop-monitor").count()
        answer = self.post(token, **changes)
        assert answer.status_code == 422, answer.content
        assert said in answer.json()["detail"]
        assert not Incident.objects.exists()
        assert Entry.objects.filter(kind=Kind.CALL_REFUSED, actor="shop-monitor").count() == before + 1
