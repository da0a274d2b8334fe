"""Numbers of the shop that can be taken apart, made of what it keeps as history: see sql/history_tables.sql."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from gate.demo.shop import SQL

PRICES = "prices"
NIGHT = datetime(2026, 5, 1, tzinfo=UTC)  # when the history begins
FIXTURE = "the shop in the night of 1 May 2026"
CAUSES = "accounting does not establish causality"
PRICE_TABLE: dict[str, Any] = {
    "title": "What a failed attempt, a delay and a lost job cost",
    "owner": "jonas",
    "review_by": "2027-06-01",
    "prices": {
        "wasted_compute": {"price": "0.002", "unit": "EUR", "per": "slot_s", "source": "hosting contract, page 3"},
        "delay_penalty": {"price": "0.01", "unit": "EUR", "per": "s", "source": "terms of service, section 4"},
        "permanent_loss": {"price": "25", "unit": "EUR", "per": "jobs", "source": "finance, letter of April 2026"},
    },
}

CALL_PRICES = "call_prices"
AGENT_SECOND = "0.0004"
CALL_PRICE_TABLE: dict[str, Any] = {
    "title": "What a second of a call costs",
    "owner": "jonas",
    "review_by": "2027-06-01",
    "prices": {
        "agent": {"price": AGENT_SECOND, "unit": "EUR", "per": "s", "source": "model contract, page 2"},
        "person": {"price": "0.012", "unit": "EUR", "per": "s", "source": "finance, letter of April 2026"},
        "process": {"price": "0.0001", "unit": "EUR", "per": "s", "source": "hosting contract, page 3"},
    },
}


def _sql(name: str) -> str:
    return (SQL / "metrics" / f"{name}.sql").read_text()


def _at(seconds: int, scope: dict[str, Any], value: str | None, status: str) -> dict[str, Any]:
    """A golden value, so many seconds into the night."""
    moment = (NIGHT + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return {"fixture": FIXTURE, "decision_point": moment, "scope": scope, "value": value, "status": status}


def _metric(name: str, title: str, unit: str, grain: str, **particulars: Any) -> dict[str, Any]:
    """A metric of the shop; `particulars` are what it does not share with the others."""
    common = {
        "title": title, "source": "shop", "unit": unit, "grain": grain, "parameters": {}, "valuation": None,
        "formula": _sql(name), "trace_hook": None, "visibility_scope": "current_decision",
        "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
        "owner": "jonas", "review_by": "2027-06-01",
    }  # fmt: skip
    return {**common, **particulars}


def _variable(metric: str, name: str, values: list[str], factual: str, model: str, **said: Any) -> dict[str, Any]:
    return {
        "variable": name, "values": values, "factual": factual, "model": model, "rows": _sql(f"{metric}_{name}"), **said
    }  # fmt: skip


def _failed_job_cost() -> dict[str, Any]:
    export = {"job_kind": "export_orders"}
    return _metric(
        "failed_job_cost", "Cost of failed attempts and lost jobs", "EUR", "job",
        scope={"job_kind": "text"},
        source_fields={
            "job.id": "key", "job.kind": "text", "job.due_at": "instant", "job.recorded_at": "instant",
            "attempt.id": "key", "attempt.job_id": "key", "attempt.n": "count", "attempt.slot": "text",
            "attempt.started_at": "instant", "attempt.recorded_at": "instant",
            "attempt_end.attempt_id": "key", "attempt_end.ended_at": "instant", "attempt_end.outcome": "text",
            "attempt_end.error_class": "text", "attempt_end.recorded_at": "instant",
            "job_policy.kind": "text", "job_policy.max_attempts": "count", "job_policy.recorded_at": "instant",
        },
        parameters={"max_attempts": "job_policy.max_attempts"},
        valuation=f"{PRICES}@1",
        measure="sum",
        decomposers=[
            {"name": "by_cost_kind", "type": "additive",
             "kinds": ["wasted_compute", "delay_penalty", "permanent_loss"]},
            {"name": "by_job", "type": "partition", "key": "entity"},
            {"name": "by_error_class", "type": "partition", "key": "error_class"},
        ],
        trace_hook=_sql("failed_job_cost_trace"),
        supported_counterfactuals=[
            _variable(
                "failed_job_cost", "max_attempts", [str(number) for number in range(1, 11)], "max_attempts",
                "truncated_attempts", fidelity="identity",
                held_fixed=["when each attempt started and ended", "the outcome of each attempt", "prices"],
                not_modelled=["freed slots are not credited to other jobs"],
            )
        ],
        limitations=[CAUSES, "freed slots are not credited to other jobs"],
        golden=[_at(200, export, "0.280", "partial"), _at(400, export, "28.330", "resolved")],
    )  # fmt: skip


def _queue_wait() -> dict[str, Any]:
    return _metric(
        "queue_wait", "Time between being asked for and started", "s", "job",
        scope={"job_id": "key"},
        source_fields={
            "wait.job_id": "key", "wait.reason": "text", "wait.starts_at": "instant", "wait.ends_at": "instant",
            "wait.recorded_at": "instant", "job.id": "key", "job.enqueued_at": "instant", "job.ready_at": "instant",
            "job.queue": "text", "job.recorded_at": "instant", "start.job_id": "key", "start.started_at": "instant",
            "start.held_seconds": "s", "start.recorded_at": "instant", "queue.name": "text", "queue.slots": "count",
            "queue.recorded_at": "instant",
        },
        measure="interval",
        decomposers=[
            {"name": "by_reason", "type": "time_cover", "kinds": ["not_due", "all_slots_busy", "slot_idle"],
             "without_reason": ["slot_idle"]},
        ],
        supported_counterfactuals=[
            _variable(
                "queue_wait", "slots", ["1", "2", "3", "4"], "slots", "first_in_first_out",
                fidelity={"tolerance": "5"},
                held_fixed=["when each job was ready", "how long each job held its slot"],
                not_modelled=["keys that keep two jobs from running at once"],
            )
        ],
        limitations=["time in which a slot stood idle is not accounted for"],
        golden=[
            _at(400, {"job_id": "j3"}, "25", "resolved"), _at(400, {"job_id": "j5"}, "40", "resolved"),
            _at(400, {"job_id": "j4"}, "58", "partial"),
        ],
    )  # fmt: skip


def _error_budget_burn() -> dict[str, Any]:
    quarter = {"first_minute": 0, "last_minute": 14}
    return _metric(
        "error_budget_burn", "Share of requests that failed, as a multiple of the budget", "times", "minute",
        scope={"first_minute": "key", "last_minute": "key"},
        source_fields={
            "minute.n": "key", "minute.version": "text", "minute.requests": "requests", "minute.errors": "errors",
            "minute.recorded_at": "instant", "slo.budget": "ratio", "slo.recorded_at": "instant",
            "deploy.version": "text", "deploy.recorded_at": "instant",
        },
        parameters={"budget": "slo.budget"},
        measure="ratio",
        decomposers=[{"name": "by_version", "type": "partition", "key": "kind"}],
        supported_counterfactuals=[
            _variable(
                "error_budget_burn", "version", ["v1", "v2"], "deployed", "swapped_rate", fidelity="identity",
                held_fixed=["the requests of each minute", "the errors of other versions"],
                not_modelled=["users of the new version are taken to be like the others"],
            )
        ],
        limitations=[CAUSES],
        golden=[
            _at(1000, quarter, "347/15", "resolved"), _at(400, quarter, "7", "partial"),
            _at(2000, {"first_minute": 15, "last_minute": 19}, None, "unresolved"),
        ],
    )  # fmt: skip


def _refund_exposure() -> dict[str, Any]:
    night = {"since": "2026-05-01T00:00:00Z"}
    return _metric(
        "refund_exposure", "Money that may have to be given back", "EUR_minor", "charge",
        scope={"since": "instant"},
        source_fields={
            "charge.id": "key", "charge.amount": "EUR_minor", "charge.charged_at": "instant",
            "charge.repeats_id": "key", "charge.recorded_at": "instant",
            "dispute_event.charge_id": "key", "dispute_event.state": "text", "dispute_event.recorded_at": "instant",
            "refund_event.charge_id": "key", "refund_event.state": "text", "refund_event.recorded_at": "instant",
            "delivery_event.charge_id": "key", "delivery_event.state": "text", "delivery_event.recorded_at": "instant",
            "charging.keys": "text", "charging.recorded_at": "instant",
        },
        measure="precedence",
        decomposers=[
            {"name": "by_bucket", "type": "precedence",
             "kinds": ["dispute_open", "refund_failed", "refund_pending", "duplicate_charge", "undelivered_paid"]},
            {"name": "by_charge", "type": "partition", "key": "entity"},
        ],
        trace_hook=_sql("refund_exposure_trace"),
        supported_counterfactuals=[
            _variable(
                "refund_exposure", "idempotency_key", ["off", "on"], "keys", "enforced_key", fidelity="identity",
                held_fixed=["orders", "other charges", "refunds and disputes as they were recorded"],
                not_modelled=["customers who would have tried another card"],
            )
        ],
        limitations=[CAUSES],
        golden=[_at(600, night, "15600", "resolved"), _at(9500, night, "18100", "resolved")],
    )  # fmt: skip


def bodies() -> dict[str, dict[str, Any]]:
    """The shop's metrics, by their ids."""
    return {
        "failed_job_cost": _failed_job_cost(),
        "queue_wait": _queue_wait(),
        "error_budget_burn": _error_budget_burn(),
        "refund_exposure": _refund_exposure(),
    }
