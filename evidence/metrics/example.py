"""A metric that passes every check: where a new one starts from."""

from __future__ import annotations

from typing import Any

FORMULA = """select a.job_id as entity, a.error_class as kind, 1 as quantity, 'attempts' as unit
from vis_attempt a
join vis_job j on j.id = a.job_id
where a.recorded_at <= :decision_point
  and j.recorded_at <= :decision_point
  and a.outcome = 'failed'
  and j.kind = :scope ->> 'job_kind'"""
EXAMPLE: dict[str, Any] = {
    "title": "Failed attempts of the jobs of one kind",
    "source": "myshop",
    "unit": "attempts",
    "grain": "job",
    "scope": {"job_kind": "text"},
    "source_fields": {
        "job.id": "key",
        "job.kind": "text",
        "job.recorded_at": "instant",
        "attempt.job_id": "key",
        "attempt.outcome": "text",
        "attempt.error_class": "text",
        "attempt.recorded_at": "instant",
    },
    "parameters": {},
    "valuation": None,
    "measure": "sum",
    "formula": FORMULA,
    "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
    "decomposers": [
        {"name": "by_error", "type": "additive", "kinds": ["timeout", "conflict"]},
        {"name": "by_job", "type": "partition", "key": "entity"},
    ],
    "trace_hook": None,
    "supported_counterfactuals": [],
    "visibility_scope": "current_decision",
    "limitations": ["attempts that are still running are not counted"],
    "golden": [
        {
            "fixture": "the shop on 1 May 2026",
            "decision_point": "2026-05-01T06:00:00Z",
            "scope": {"job_kind": "refund"},
            "value": "3",
            "status": "resolved",
        }
    ],
    "owner": "team-jobs",
    "review_by": "2027-06-01",
}
