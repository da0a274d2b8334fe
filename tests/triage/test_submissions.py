"""One submission per investigation, and nothing in it that decides."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import reading
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Entry, Outbox
from evidence import desk
from evidence.errors import Problem
from gate.triage import submissions
from gate.triage.models import Investigation
from tests.triage.conftest import handed_in

pytestmark = pytest.mark.django_db
ONE = ("job_completed", "A-1")


def test_it_is_received_recorded_and_queued(principal: Principal, running: Investigation) -> None:
    assert submissions.submit(principal, running.pk, handed_in(ONE)) == {"status": "received"}
    running.refresh_from_db()
    assert (running.status, running.hypothesis) == ("submitted", "transient_failure_recovered")
    assert running.submitted_at is not None
    assert [(f.position, f.fact, f.audit_id) for f in running.findings.all()] == [(1, *ONE)]
    entry = Entry.objects.get(kind=Kind.FINDINGS_SUBMITTED, run_id=str(running.pk))
    assert reading.content_of(entry).args == handed_in(ONE)
    job = Outbox.objects.get(task="gate.triage.tasks.render_verdict", subject_id=running.pk)
    assert job.queue == "verdicts"


def test_a_second_submission_changes_nothing(principal: Principal, running: Investigation) -> None:
    submissions.submit(principal, running.pk, handed_in(ONE))
    with pytest.raises(Problem) as refused:
        submissions.submit(principal, running.pk, handed_in(("no_recurrence", "A-2")))
    assert (refused.value.status, refused.value.code) == (409, "already_submitted")
    assert [finding.fact for finding in running.findings.all()] == ["job_completed"]


def test_only_ones_own_running_investigation_can_be_handed_in(
    running: Investigation, principal: Principal, make_principal: Callable[..., Principal]
) -> None:
    with pytest.raises(Problem, match="Start an investigation first"):
        submissions.submit(make_principal("second-agent"), running.pk, handed_in(ONE))
    Investigation.objects.filter(pk=running.pk).update(status="abandoned")
    with pytest.raises(Problem, match="Start an investigation first"):
        submissions.submit(principal, running.pk, handed_in(ONE))


def test_after_the_deadline_nothing_is_taken(principal: Principal, running: Investigation) -> None:
    Investigation.objects.filter(pk=running.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Problem, match="time of this investigation is over"):
        submissions.submit(principal, running.pk, handed_in(ONE))


def with_finding(**changes: Any) -> dict[str, Any]:
    whole = handed_in(ONE)
    finding = {key: value for key, value in {**whole["findings"][0], **changes}.items() if value is not ...}
    return {**whole, "findings": [finding]}


REFUSED = [
    ({**handed_in(ONE), "verdict": "pass"}, "Code decides"),
    ({**handed_in(ONE), "confidence": 0.99}, "Code decides"),
    (with_finding(confidence=1), "Code decides"),
    (with_finding(result={"count": 0}), "Code decides"),
    (with_finding(audit_id="A-01"), "audit_id"),
    (with_finding(audit_id="a1"), "audit_id"),
    (with_finding(audit_id=...), "audit_id"),
    (with_finding(fact="Job Completed"), "fact"),
    (with_finding(note="x" * 2001), "note"),
    (with_finding(note="a\0b"), "cannot be kept"),
    (with_finding(note="\ud800"), "cannot be kept"),
    ({**handed_in(ONE), "answer": "a\0b"}, "cannot be kept"),
    ({**handed_in(ONE), "answer": ""}, "answer"),
    ({**handed_in(ONE), "answer": "x" * 20_001}, "answer"),
    ({**handed_in(ONE), "hypothesis": "'; drop table"}, "hypothesis"),
    ({**handed_in(ONE), "findings": handed_in(ONE)["findings"] * 41}, "findings"),
    ({**handed_in(ONE), "findings": None}, "findings"),
    ({"hypothesis": "x", "findings": []}, "answer"),
    ([], "object"),
]


@pytest.mark.parametrize(("body", "said"), REFUSED)
def test_more_or_less_than_a_submission_is_refused(
    principal: Principal, running: Investigation, body: Any, said: str
) -> None:
    with pytest.raises(Problem, match=said):
        submissions.submit(principal, running.pk, body)
    running.refresh_from_db()
    assert running.status == "running"
    assert not Outbox.objects.filter(subject_id=running.pk).exists()


def test_a_submission_without_findings_is_one(principal: Principal, running: Investigation) -> None:
    assert submissions.submit(principal, running.pk, handed_in())["status"] == "received"


def test_the_desk_takes_the_only_investigation_and_records_refusals(
    principal: Principal, running: Investigation
) -> None:
    before = Entry.objects.filter(kind=Kind.CALL_REFUSED, tool="submit_findings").count()
    with pytest.raises(Problem, match="Code decides"):
        desk.call(principal, "submit_findings", {**handed_in(ONE), "verdict": "pass"})
    assert Entry.objects.filter(kind=Kind.CALL_REFUSED, tool="submit_findings").count() == before + 1
    assert desk.call(principal, "submit_findings", handed_in(ONE)) == {"status": "received"}
    with pytest.raises(Problem, match="Start an investigation first"):
        desk.call(principal, "submit_findings", handed_in(ONE))


def test_the_desk_starts_an_investigation(principal: Principal, open_incident: Callable[..., Any]) -> None:
    incident = open_incident()
    answer = desk.call(principal, "start_investigation", {"incident": incident.ref})
    assert answer["briefing"]["incident"] == incident.ref
    assert Investigation.objects.get(pk=answer["investigation"]).incident_id == incident.pk


@pytest.mark.urls("gate.config.urls_agents")
class TestOverHttp:
    """POST /api/v1/investigations and its findings."""

    def post(self, token: str, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)

    def test_from_the_start_to_received(
        self, make_agent: Callable[..., Any], open_incident: Callable[..., Any]
    ) -> None:
        _, token = make_agent("http-agent")
        incident = open_incident()
        begun = self.post(token, "investigations", {"incident": incident.ref})
        assert begun.status_code == 201, begun.content
        number = begun.json()["investigation"]
        refused = self.post(token, f"investigations/{number}/findings", {**handed_in(ONE), "verdict": "pass"})
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown_key")
        taken = self.post(token, f"investigations/{number}/findings", handed_in(ONE))
        assert (taken.status_code, taken.json()) == (202, {"status": "received"})
        again = self.post(token, f"investigations/{number}/findings", handed_in(ONE))
        assert (again.status_code, again.json()["code"]) == (409, "already_submitted")

    def test_a_token_without_the_scope_starts_nothing(
        self, make_agent: Callable[..., Any], open_incident: Callable[..., Any]
    ) -> None:
        open_incident()
        _, token = make_agent("reader", scopes=("tools",))
        assert self.post(token, "investigations", {}).status_code == 404
        assert self.post("csa_nonsense", "investigations", {}).status_code == 401
        assert not Investigation.objects.exists()

    @pytest.mark.parametrize("body", [[], "x", 3, {"incident": 3.5}, {"incident": None, "why": "x"}])
    def test_a_body_that_is_no_request_is_refused(
        self, make_agent: Callable[..., Any], open_incident: Callable[..., Any], body: Any
    ) -> None:
        import json

        open_incident()
        _, token = make_agent("http-agent")
        assert self.post(token, "investigations", json.dumps(body)).status_code == 422
