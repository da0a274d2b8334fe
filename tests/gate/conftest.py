"""Drafts to decide about."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Definition
from gate.triage.models import Draft, Incident, Investigation
from tests import cited, earned
from tests.triage.conftest import JOB_FAILED


def line(number: int, outcome: str, **more: Any) -> dict[str, Any]:
    """One stored check."""
    return {
        "number": number, "fact": "job_completed", "title": "The job is `succeeded`", "outcome": outcome,
        "audit_ids": [], "paths": {}, "absent": {}, "args": {}, "values": {}, "seen": "succeeded", "why": "",
        "earn": "A finished count", **more,
    }  # fmt: skip


@pytest.fixture
def make_draft(make_agent: Callable[..., Any]) -> Callable[..., Draft]:
    """A draft waiting for a person, on an incident of its own."""
    made: dict[str, Any] = {}

    def make(outcome: str = "pass", title: str = "Payout settlement failed twice", **fields: Any) -> Draft:
        if not made:
            agent, _ = make_agent()
            body = {**JOB_FAILED, "recurrence_seconds": 3600}
            made["agent"] = agent
            made["class"] = Definition.objects.create(
                kind="class", name="job_failed", version=1, body=body, digest="0" * 64, reason="", status="active",
                drafted_by=agent.owner,
            )  # fmt: skip
        now = timezone.now()
        incident = Incident.objects.create(
            kind="incident", incident_class=made["class"], title=title, severity="high", subject={"job_id": 90412},
            facts={"error": "ReadTimeout", "job_kind": "settle_payouts"}, dedup_key=uuid.uuid4().hex,
            began_at=now - timedelta(hours=4, minutes=5), watch_from=now - timedelta(hours=4), status="drafted",
            opened_by="monitor",
        )  # fmt: skip
        investigation = Investigation.objects.create(
            incident=incident, agent=made["agent"], status="decided", briefing={}, budget_calls=12, calls_used=5,
            deadline_at=now + timedelta(hours=1), hypothesis="transient_failure_recovered", answer="It is fine.",
            submitted_at=now,
        )  # fmt: skip
        outcomes = ["holds"] * 3 if outcome == "pass" else ["holds", "unreadable", "holds"]
        reasons = [] if outcome == "pass" else [{"code": "unreadable", "headline": "A missing count is not zero",
                                                 "sentence": "What cannot be read fails."}]  # fmt: skip
        values = {
            "rule": "transient_failure_recovered", "rule_version": 1, "rule_hash": "0" * 64, "reasons": reasons,
            "receipt": {} if outcome == "fail" or "receipt" in fields else cited.receipt(),
            "checks": [line(number, held) for number, held in enumerate(outcomes, 1)],
            "decided_at": now, **fields,
        }  # fmt: skip
        draft = Draft.objects.create(investigation=investigation, outcome=outcome, **values)
        is_plain = outcome == "pass" and not {"receipt", "rule_hash", "rule"} & set(fields)
        return earned.as_gathered(draft) if is_plain else draft

    return make
