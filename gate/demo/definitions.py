"""What the shop's admins have defined: where to look, with which tools, what an incident means, where to write."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evidence.own import shipped as shipped_own
from gate.admission.files import shipped as shipped_policies
from gate.admission.policies import body_of
from gate.demo import metrics
from gate.demo.shop import SQL
from gate.triage.rules import registry
from gate.writes import target_admission

SOURCE, TARGET = "shop", "shop"
PASSING_HYPOTHESES = ("transient_failure_recovered", "no_errors_in_logs", "refund_completed")


@dataclass(frozen=True)
class Wanted:
    """A definition to draft and activate: its kind's plural (as in the page's address), its name, and its body."""

    plural: str
    name: str
    body: dict[str, Any]
    reason: str


TEXT = {"type": "string", "minLength": 1, "maxLength": 200}
TEXT_OR_NULL = {**TEXT, "type": ["string", "null"]}
WORD_OR_NULL = {"type": ["string", "null"]}
POSITIVE = {"type": "integer", "minimum": 1}
COUNT = {"type": "integer", "minimum": 0}
# Whole seconds in UTC, and no other spelling: what a tool answers is then exactly what it was asked.
TIME = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}
TIME_OR_NULL = {**TIME, "type": ["string", "null"]}
CURRENCY = {"type": "string", "pattern": "^[a-z]{3}$"}


def strict(properties: dict[str, Any], *optional: str, nullable: bool = False) -> dict[str, Any]:
    """The schema of an object with these properties and no others; all are required but the `optional` ones."""
    return {
        "type": ["object", "null"] if nullable else "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def rows_of(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list of such objects."""
    return {"type": "array", "items": strict(properties)}


JOB = {
    "job_id": POSITIVE,
    "kind": TEXT,
    "state": {"enum": ["queued", "running", "succeeded", "failed"]},
    "attempts": COUNT,
    "locked_by": WORD_OR_NULL,
    "started_at": TIME_OR_NULL,
    "finished_at": TIME_OR_NULL,
    "last_error": WORD_OR_NULL,
}
ATTEMPT = {
    "attempt": POSITIVE,
    "started_at": TIME,
    "ended_at": TIME_OR_NULL,
    "outcome": {"enum": ["running", "succeeded", "failed"]},
    "error": WORD_OR_NULL,
}
# `count` is left out when the tool gave up: an answer without it says nothing about errors.
ERROR_COUNT = {
    "error": TEXT_OR_NULL,
    "job_kind": TEXT,
    "window": strict({"from": TIME, "to": TIME}),
    "count": COUNT,
    "scanned": COUNT,
    "complete": {"type": "boolean"},
}
DEPLOY = {"deploy_id": POSITIVE, "service": TEXT, "version": TEXT, "deployed_by": TEXT, "deployed_at": TIME}
CHARGE = {
    "charge_id": TEXT,
    "order_id": POSITIVE,
    "amount_cents": POSITIVE,
    "currency": CURRENCY,
    "captured": {"type": "boolean"},
    "disputed": {"type": "boolean"},
    "created_at": TIME,
}
REFUND = {
    "refund_id": TEXT,
    "charge_id": TEXT,
    "amount_cents": POSITIVE,
    "currency": CURRENCY,
    "status": {"enum": ["pending", "succeeded", "failed"]},
    "failure_reason": WORD_OR_NULL,
    "created_at": TIME,
    "settled_at": TIME_OR_NULL,
}


def tool(
    name: str, purpose: str, query_type: str, given: dict[str, Any], answer: dict[str, Any], *limitations: str
) -> Wanted:
    """A tool of the shop whose SQL stands in sql/tools/; its parameters are `given`'s properties, in that order."""
    return Wanted(
        "tools",
        name,
        {
            "purpose": purpose,
            "source": SOURCE,
            "query_type": query_type,
            "input_schema": strict(given),
            "output_schema": answer,
            "sql": (SQL / "tools" / f"{name}.sql").read_text(),
            "parameters": list(given),
            "shape": "object",
            "read_only": True,
            "returns_action_recommendations": False,
            "visibility_scope": "live",
            "limitations": list(limitations),
        },
        "First version of the shop's tools.",
    )


def source() -> Wanted:
    """The shop as a source, read through its views."""
    body = {
        "kind": "postgresql",
        "reader_env": "SHOP_READER_DSN",
        "doctor_env": "SHOP_DOCTOR_DSN",
        "environment": "production",
        "schema": "shop_read",
        "query": True,
    }
    return Wanted("sources", SOURCE, body, "The shop's production database, read-only.")


def tools() -> list[Wanted]:
    """The six tools of the shop."""
    by_job, by_charge = {"job_id": POSITIVE}, {"charge_id": TEXT}
    window = {
        "error": {**TEXT_OR_NULL, "description": "null counts every line"},
        "job_kind": TEXT,
        "from": TIME,
        "to": TIME,
    }
    return [
        tool(
            "find_job", "The state of one job.", "state", by_job, strict({"job": strict(JOB, nullable=True)}),
            "last_error is cleared when a later attempt succeeds.",
        ),
        tool(
            "list_job_attempts", "Every attempt at one job, oldest first.", "state", by_job,
            strict({"attempts": rows_of(ATTEMPT), "total": COUNT}),
        ),
        tool(
            "count_errors", "How many log lines of one kind of job carry an error, from one moment to another.",
            "metric", window, strict(ERROR_COUNT, "count"),
            "Gives up after 25,000 lines: complete is then false and there is no count.",
            "A line arrives up to 5 minutes after it was written.",
        ),
        tool(
            "list_recent_deploys", "What was deployed since a moment, newest first.", "state", {"since": TIME},
            strict({"deploys": rows_of(DEPLOY), "total": COUNT}),
        ),
        tool("get_charge", "One charge.", "state", by_charge, strict({"charge": strict(CHARGE, nullable=True)})),
        tool(
            "list_refunds", "Every refund of one charge, oldest first.", "state", by_charge,
            strict({"charge_id": TEXT, "refunds": rows_of(REFUND), "total": COUNT}),
            "A refund that succeeded can still fail later, when the bank returns it.",
        ),
    ]  # fmt: skip


def incident_class(name: str, title: str, **particulars: Any) -> Wanted:
    """What an incident of this name means; `particulars` are what it does not share with the shop's others."""
    common = {
        "kind": "incident",
        "title": title,
        "recurrence_seconds": 3 * 3600,
        "freshness_seconds": 6 * 3600,
        "ingestion_lag_seconds": 300,
        "severity": "medium",
        "owner": "jonas",
        "budget_calls": 12,
        "deadline_seconds": 900,
    }
    return Wanted("classes", name, {**common, **particulars}, "First version of the shop's classes.")


def classes() -> list[Wanted]:
    """A failed job, a refund that a customer asks about, and an index that fell behind."""
    return [
        incident_class(
            "job_failed", "A job failed", severity="high", subject_keys={"job_id": "integer"},
            hypotheses=["transient_failure_recovered", "no_errors_in_logs", "worker_lost"],
            tools=["find_job", "list_job_attempts", "count_errors", "list_recent_deploys", "query"],
            metrics=["failed_job_cost", "queue_wait", "error_budget_burn"],
        ),
        incident_class(
            "refund_claim", "A customer says that a refund is missing", kind="claim",
            subject_keys={"charge_id": "string"}, hypotheses=["refund_completed"], tools=["get_charge", "list_refunds"],
            metrics=["refund_exposure"],
        ),
        # No rule knows this hypothesis: what an agent hands in for it can only fail, and a person reads it.
        incident_class(
            "search_index_lag", "The search index fell behind", subject_keys={"job_id": "integer"},
            hypotheses=["deploy_caused_lag"], tools=["find_job", "list_job_attempts", "list_recent_deploys"],
        ),
    ]  # fmt: skip


def rules() -> list[Wanted]:
    """The three rules, each at the version and hash of the file that this installation has loaded."""
    return [
        Wanted("rules", rule.hypothesis, registry.body_of(rule), "The rule's newest version, as reviewed.")
        for rule in registry.newest()
        if rule.hypothesis in PASSING_HYPOTHESES
    ]


OF_JOBS = dict.fromkeys(
    ("state", "attempts", "priority", "locked_by", "run_after", "started_at", "finished_at", "last_error"),
    target_admission.OPERATIONAL,
)
OF_JOBS_TRIGGERS = dict.fromkeys(("touch_jobs", "log_job_change"), target_admission.OPERATIONAL)


def target() -> Wanted:
    """The shop as a place to write, through the gate."""
    body = {
        "kind": "postgresql",
        "credential_env": "SHOP_WRITER_DSN",
        "environment": "production",
        "ledger": "shop.gate_ledger",
        "first_look_source": SOURCE,
        # What is not listed counts as user data: of what a shop's customers entered, nothing is.
        "admission": {"labels": {"shop.jobs": {"columns": OF_JOBS, "triggers": OF_JOBS_TRIGGERS}}},
        "policy": {
            "approvers": {"on_call": 1},
            "method": "password",
            "expiry_seconds": 4 * 3600,
            "row_cap": 100,
            "binding": "strict",
            "proposers": ["agent", "on_call", "admin"],
            "risk": "normal",
            "break_glass": False,
        },
    }
    return Wanted("targets", TARGET, body, "Writes to the shop's jobs and money, one approval each.")


def query() -> Wanted:
    """A SELECT of the agent's own over the shop's views, because the source allows it."""
    answer = strict({"columns": {"type": "array", "items": {"type": "string"}}, "rows": {"type": "array"}})
    body = {
        "purpose": "Rows of one SELECT over the schema shop_read: jobs, job_attempts, log_lines, deploys, charges, "
        "refunds.",
        "source": SOURCE,
        "query_type": "state",
        "input_schema": strict({"sql": {"type": "string", "minLength": 1, "maxLength": 20_000}}),
        "output_schema": answer,
        "sql": "",
        "parameters": ["sql"],
        "shape": "query",
        "read_only": True,
        "returns_action_recommendations": False,
        "visibility_scope": "live",
        "limitations": ["No rule reads what it answers, so nothing is decided by it."],
    }
    return Wanted("tools", "query", body, "For what no other tool of the shop tells.")


def everything() -> list[Wanted]:
    """All definitions, in an order in which each finds what it names."""
    return [source(), *tools(), query(), *numbers(), *own(), *rules(), *classes(), target(), *policies()]


def numbers() -> list[Wanted]:
    """The shop's prices, and the metrics that are made with them and without."""
    prices = Wanted("valuations", metrics.PRICES, metrics.PRICE_TABLE, "As the contracts of May say.")
    found = [
        Wanted("metrics", name, body, "First version of the shop's metrics.") for name, body in metrics.bodies().items()
    ]
    return [prices, *found]


def own() -> list[Wanted]:
    """Counterseal's own record as a source, and its metrics, as they are shipped."""
    reason = "It comes with Counterseal."
    cost = shipped_own.cost(f"{metrics.CALL_PRICES}@1", Decimal(metrics.AGENT_SECOND))
    bodies = {**shipped_own.metrics(), shipped_own.COST: cost}
    prices = Wanted("valuations", metrics.CALL_PRICES, metrics.CALL_PRICE_TABLE, "As the contracts say.")
    found = [Wanted("metrics", name, body, reason) for name, body in bodies.items()]
    return [Wanted("sources", *shipped_own.source(), reason), prices, *found]


def policies() -> list[Wanted]:
    """The shipped policies: for what is proposed to Counterseal, and for an agent's tool calls at its own machine."""
    return [Wanted("policies", one.name, body_of(one), "It is shipped with Counterseal.") for one in shipped_policies()]
