"""The shop's monitor: it reports what goes wrong over the intake, with its own token."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx2

from gate.demo.decisions import spelled


@dataclass(frozen=True)
class Report:
    """Something that the monitor saw, or that a customer said."""

    incident_class: str
    title: str
    subject: dict[str, Any]
    began: timedelta  # before the shop's data was made, which says the same moments
    recovered: timedelta | None = None
    facts: dict[str, Any] = field(default_factory=dict)


def hours(hours: int, minutes: int, seconds: int = 0) -> timedelta:
    """So long ago."""
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


REPORTS = [
    Report(
        "job_failed", "Payout settlement job 90412 failed with ReadTimeout", {"job_id": 90412},
        began=hours(4, 20, 16), recovered=hours(4, 15, 26),
        facts={"error": "ReadTimeout", "job_kind": "settle_payouts"},
    ),
    Report(
        "job_failed", "Inventory sync job 90455 failed with DeadlockDetected", {"job_id": 90455},
        began=hours(3, 38, 51), recovered=hours(3, 26, 48),
        facts={"error": "DeadlockDetected", "job_kind": "inventory_sync"},
    ),
    Report("search_index_lag", "The search index fell behind the catalog", {"job_id": 90470}, began=hours(0, 51, 30)),
    Report(
        "job_failed", "Payout settlement job 90418 failed with ReadTimeout", {"job_id": 90418},
        began=hours(4, 19, 28), recovered=hours(4, 15, 4),
        facts={"error": "ReadTimeout", "job_kind": "settle_payouts"},
    ),
    Report(
        "refund_claim", "Refund of order 70018 said to be missing", {"charge_id": "ch_8846"}, began=hours(4, 2),
        facts={"amount_cents": 12950, "currency": "eur"},
    ),
    Report(
        "job_failed", "Export job 90433 has not finished for two hours", {"job_id": 90433}, began=hours(2, 19),
        facts={"job_kind": "export_orders"},
    ),
]  # fmt: skip


def report_all(url: str, token: str, as_of: datetime) -> list[int]:
    """Open an incident for each report over the intake at `url` and return their numbers, in order.

    `as_of` is when the shop's data was made: the reports speak of its moments, however late they are sent.
    """
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        return [_report(http, one, as_of) for one in REPORTS]


def _report(http: httpx2.Client, one: Report, now: datetime) -> int:
    answer = http.post("/api/v1/incidents", json=_payload(one, now))
    answer.raise_for_status()
    return int(answer.json()["id"])


def _payload(one: Report, now: datetime) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "class": one.incident_class,
        "title": one.title,
        "subject": one.subject,
        "facts": one.facts,
        "began_at": spelled(now - one.began),
    }
    if one.recovered:
        payload["recovered_at"] = spelled(now - one.recovered)
    return payload
