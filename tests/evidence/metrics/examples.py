"""Four metrics that have to be possible: the demo's, with rows as their statements answer them.

The rows are those of a small recorded world at a decision point, in seconds from its start. The times of the moments in
it are what the statements take out of it with `extract(epoch from …)`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from gate.demo import metrics

PRICES: dict[str, Any] = metrics.PRICE_TABLE
COMMON: dict[str, Any] = {
    "source": "shop",
    "parameters": {},
    "valuation": None,
    "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
    "trace_hook": None,
    "supported_counterfactuals": [],
    "visibility_scope": "current_decision",
    "owner": "team-jobs",
    "review_by": "2027-06-01",
}
SHIPPED = metrics.bodies()
FAILED_JOB_COST: dict[str, Any] = {
    **SHIPPED["failed_job_cost"],
    "valuation": "prices@3",
    "golden": [
        {"fixture": "jobs", "decision_point": "2026-05-01T00:06:40Z", "scope": {"job_kind": "payout"},
         "value": "28.330", "status": "resolved"},
        {"fixture": "jobs", "decision_point": "2026-05-01T00:03:20Z", "scope": {"job_kind": "payout"},
         "value": "0.280", "status": "partial"},
    ],
}  # fmt: skip


def _cost(entity: str, kind: str, quantity: int, unit: str, error: str | None, is_open: bool) -> dict[str, Any]:
    return {"entity": entity, "kind": kind, "quantity": quantity, "unit": unit, "error_class": error,
            "is_open": is_open}  # fmt: skip


def _attempts(is_open: bool) -> list[dict[str, Any]]:
    wasted = [("j1", 40, "ReadTimeout"), ("j1", 50, "ReadTimeout"), ("j4", 25, "Conflict"), ("j4", 25, "Conflict")]
    return [_cost(job, "wasted_compute", seconds, "slot_s", error, is_open) for job, seconds, error in wasted]


COST_AT_200 = _attempts(is_open=True)
COST_AT_400 = [
    *_attempts(is_open=False),
    _cost("j4", "wasted_compute", 25, "slot_s", "Conflict", False),
    _cost("j1", "delay_penalty", 300, "s", None, False),
    _cost("j4", "permanent_loss", 1, "jobs", "Conflict", False),
]
# entity, attempt, slot, starts, ends, outcome; j1 was due at 30 and came at 330
WORLD = [
    ("j1", 1, "a", 0, 40, "failed"), ("j1", 2, "a", 100, 150, "failed"), ("j1", 3, "a", 270, 330, "succeeded"),
    ("j4", 1, "b", 120, 145, "failed"), ("j4", 2, "b", 160, 185, "failed"), ("j4", 3, "b", 300, 325, "failed"),
]  # fmt: skip
ATTEMPTS_AT_400 = [
    {
        "entity": job, "attempt": number, "outcome": outcome, "quantity": ends - starts, "unit": "slot_s",
        "late": max(ends - 30, 0), "late_unit": "s", "lost_unit": "jobs", "max_attempts": 3,
    }
    for job, number, _, starts, ends, outcome in WORLD
]  # fmt: skip
TRACE_OF_J1 = [
    {"at": ends, "recorded_at": ends, "id": f"a{number}", "actor": slot, "relation": "attempt_end",
     "what": "succeeded" if outcome == "succeeded" else "ReadTimeout"}
    for job, number, slot, _, ends, outcome in WORLD if job == "j1"
]  # fmt: skip

QUEUE_WAIT: dict[str, Any] = SHIPPED["queue_wait"]


def _wait(job: str, begins: int, *pieces: tuple[str, int]) -> list[dict[str, Any]]:
    rows, at = [], begins
    for kind, seconds in pieces:
        rows.append({"entity": job, "kind": kind, "starts": at, "ends": at + seconds, "begins": begins})
        at += seconds
    return [{**row, "finishes": at} for row in rows]


WAITS = {
    "j3": _wait("j3", 40, ("all_slots_busy", 25)),
    "j5": _wait("j5", 200, ("not_due", 40)),
    "j4": _wait("j4", 100, ("all_slots_busy", 28), ("slot_idle", 30)),
}
# Two slots; j4 could have started at 128 and did at 158.
QUEUED = [
    {"entity": job, "due": due, "started": started, "held": held, "is_asked": job == "j4", "slots": 2}
    for job, due, started, held in [("j1", 0, 0, 128), ("j2", 0, 0, 20), ("j3", 5, 20, 112), ("j4", 100, 158, 25)]
]

ERROR_BUDGET_BURN: dict[str, Any] = SHIPPED["error_budget_burn"]
BUDGET = Decimal("0.001")


def minutes(first: int, last: int, recorded: int = 15) -> list[dict[str, Any]]:
    """What each version served in each minute: both from 0 to 9, v2 alone from 10 to 14."""
    rows = []
    for minute in range(first, min(last + 1, recorded)):
        if minute < 10:
            rows.append({"kind": "v1", "numerator": 1, "denominator": 900, "tick": minute})
            rows.append({"kind": "v2", "numerator": 6, "denominator": 100, "tick": minute})
        else:
            rows.append({"kind": "v2", "numerator": 57 if minute == 10 else 55, "denominator": 1000, "tick": minute})
    return [{**row, "first_tick": first, "last_tick": last} for row in rows]


def burnt(first: int, last: int, recorded: int = 15) -> list[dict[str, Any]]:
    """The formula's rows: requests as so much of the budget."""
    return [{**row, "denominator": row["denominator"] * BUDGET} for row in minutes(first, last, recorded)]


def served(first: int, last: int) -> list[dict[str, Any]]:
    """The model's rows: requests as they are."""
    return [{**row, "per": BUDGET, "deployed": "v2"} for row in minutes(first, last)]


REFUND_EXPOSURE: dict[str, Any] = SHIPPED["refund_exposure"]
CLAIMS = [("ch4", "dispute_open", 9900), ("ch4", "undelivered_paid", 9900), ("ch3", "refund_pending", 1500),
          ("ch2", "duplicate_charge", 4200)]  # fmt: skip
LATER = [*CLAIMS, ("ch5", "refund_failed", 2500)]


def claimed(claims: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """The rows of the formula."""
    return [
        {"entity": entity, "kind": kind, "quantity": amount, "unit": "EUR_minor"} for entity, kind, amount in claims
    ]


def keyed(claims: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """The rows of the model: ch2 repeats ch1 within ten minutes."""
    return [{**row, "is_repeated": row["entity"] == "ch2", "keys": "off"} for row in claimed(claims)]


EXAMPLES = {
    "failed_job_cost": FAILED_JOB_COST,
    "queue_wait": QUEUE_WAIT,
    "error_budget_burn": ERROR_BUDGET_BURN,
    "refund_exposure": REFUND_EXPOSURE,
}
