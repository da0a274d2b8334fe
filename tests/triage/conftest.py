"""Incidents, agents and recorded calls for triage's tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audit import agents, log
from audit.agents import Principal
from audit.kinds import Kind
from gate.triage import intake, investigations
from gate.triage.models import Incident, Investigation
from gate.triage.rules import registry

MONITOR = intake.Monitor("shop-monitor")
JOB_FAILED = {
    "kind": "incident",
    "title": "A job failed",
    "subject_keys": {"job_id": "integer"},
    "recurrence_seconds": 3 * 3600,
    "freshness_seconds": 3600,
    "ingestion_lag_seconds": 300,
    "hypotheses": ["transient_failure_recovered", "no_errors_in_logs", "worker_lost"],
    "severity": "high",
    "owner": "jonas",
    "budget_calls": 3,
    "deadline_seconds": 900,
    "tools": ["find_job", "count_errors"],
}


@pytest.fixture
def classes(define: Callable[..., Any]) -> None:
    """The class job_failed and the newest rules, in force."""
    define("class", "job_failed", JOB_FAILED)
    for rule in registry.newest():
        define("rule", rule.hypothesis, registry.body_of(rule))


@pytest.fixture
def report(classes: None) -> Callable[..., intake.Report]:
    """A report of a failed job that recovered four hours ago."""

    def make(**changes: Any) -> intake.Report:
        now = timezone.now().replace(microsecond=0)
        said: dict[str, Any] = {
            "incident_class": "job_failed",
            "title": "Job 90412 failed with ReadTimeout",
            "subject": {"job_id": 90412},
            "facts": {"error": "ReadTimeout", "job_kind": "settle_payouts"},
            "began_at": now - timedelta(hours=4, minutes=5),
            "recovered_at": now - timedelta(hours=4),
        }
        return intake.Report(**{**said, **changes})

    return make


@pytest.fixture
def open_incident(report: Callable[..., intake.Report]) -> Callable[..., Incident]:
    """An open incident, as a monitor reports it."""

    def make(**changes: Any) -> Incident:
        incident, _ = intake.receive(report(**changes), MONITOR)
        return incident

    return make


@pytest.fixture
def make_principal(make_agent: Callable[..., Any]) -> Callable[..., Principal]:
    """An agent as a request knows it."""

    def make(name: str = "triage-agent") -> Principal:
        _, token = make_agent(name)
        principal = agents.authenticate(token)
        assert principal is not None
        return principal

    return make


@pytest.fixture
def principal(make_principal: Callable[..., Principal]) -> Principal:
    return make_principal()


@pytest.fixture
def running(principal: Principal, open_incident: Callable[..., Incident]) -> Investigation:
    """A running investigation of `principal`."""
    return investigations.start(principal, open_incident().pk)


def record_call(
    investigation: Investigation, tool: str, args: dict[str, Any], result: Any, **changes: Any
) -> log.Recorded:
    """A call as the gateway records it."""
    about: dict[str, Any] = {
        "tool": tool, "tool_version": 1, "tool_hash": "ab" * 32, "source": "shop", "call_id": uuid4(), "args": args,
        "incident_id": investigation.incident_id, "run_id": str(investigation.pk),
        "subject": f"I-{investigation.incident_id}", **changes,
    }  # fmt: skip
    actor = log.Actor("agent", "triage-agent", "triage-agent-owner")
    started = log.record(Kind.CALL_STARTED, actor, **{**about, "status": "started"})
    return log.record(Kind.CALL_FINISHED, actor, parent=started.id, result=result, **about)


def find_job(investigation: Investigation, **changes: Any) -> log.Recorded:
    """The job of the incident, succeeded when the monitor says that it recovered."""
    recovered = investigation.incident.watch_from
    job = {
        "job_id": 90412, "kind": "settle_payouts", "state": "succeeded", "attempts": 3, "locked_by": None,
        "started_at": (recovered - timedelta(seconds=34)).isoformat(), "finished_at": recovered.isoformat(),
        "last_error": None, **changes,
    }  # fmt: skip
    return record_call(investigation, "find_job", {"job_id": 90412}, {"job": job})


def count_errors(investigation: Investigation, **changes: Any) -> log.Recorded:
    """A count of the incident's error since recovery: none."""
    window = {
        "from": investigation.incident.watch_from.isoformat(),
        "to": (timezone.now() - timedelta(seconds=310)).replace(microsecond=0).isoformat(),
    }
    error = {"error": "ReadTimeout", "job_kind": "settle_payouts"}
    result = {**error, "window": window, "count": 0, "scanned": 18204, "complete": True, **changes}
    result = {key: value for key, value in result.items() if value is not ...}
    return record_call(investigation, "count_errors", {**error, **window}, result)


def handed_in(*findings: tuple[str, str], hypothesis: str = "transient_failure_recovered") -> dict[str, Any]:
    """A submission."""
    return {
        "hypothesis": hypothesis,
        "findings": [{"fact": fact, "audit_id": audit_id, "note": "It shows."} for fact, audit_id in findings],
        "answer": "The job failed twice and then succeeded.",
    }
