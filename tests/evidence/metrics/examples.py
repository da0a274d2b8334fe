"""Four metrics that have to be possible, as data: their bodies, and the rows that their statements answer.

The rows are those of a small recorded world at a decision point, in seconds from its start. The times of the moments in
it are what the statements take out of it with `extract(epoch from …)`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

PRICES: dict[str, Any] = {
    "title": "What a failed attempt, a delay and a lost job cost",
    "owner": "team-jobs",
    "review_by": "2027-06-01",
    "prices": {
        "wasted_compute": {"price": "0.002", "unit": "EUR", "per": "slot_s", "source": "hosting contract, page 3"},
        "delay_penalty": {"price": "0.01", "unit": "EUR", "per": "s", "source": "terms of service, section 4"},
        "permanent_loss": {"price": "25", "unit": "EUR", "per": "jobs", "source": "finance, letter of May 2026"},
    },
}
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

ENDED = """
with ended as (
  select a.job_id as job_id, a.n as n, e.outcome as outcome, e.error_class as error_class, e.ended_at as ended_at,
    extract(epoch from e.ended_at - a.started_at) as seconds
  from vis_attempt a join vis_attempt_end e on e.attempt_id = a.id and e.recorded_at <= :decision_point
  where a.recorded_at <= :decision_point
)"""
FAILED_JOB_COST: dict[str, Any] = {
    **COMMON,
    "title": "Cost of failed attempts and lost jobs",
    "unit": "EUR",
    "grain": "job",
    "scope": {"job_kind": "text"},
    "source_fields": {
        "job.id": "key", "job.kind": "text", "job.due_at": "instant", "job.recorded_at": "instant",
        "attempt.id": "key", "attempt.job_id": "key", "attempt.n": "count", "attempt.slot": "text",
        "attempt.started_at": "instant", "attempt.recorded_at": "instant",
        "attempt_end.attempt_id": "key", "attempt_end.ended_at": "instant", "attempt_end.outcome": "text",
        "attempt_end.error_class": "text", "attempt_end.recorded_at": "instant",
        "job_policy.kind": "text", "job_policy.max_attempts": "count", "job_policy.recorded_at": "instant",
    },
    "parameters": {"max_attempts": "job_policy.max_attempts"},
    "valuation": "prices@3",
    "measure": "sum",
    "formula": ENDED + """, jobs as (
  select j.id as id, j.due_at as due_at, p.max_attempts as max_attempts,
    not exists (
      select 1 from ended d where d.job_id = j.id and (d.outcome = 'succeeded' or d.n = p.max_attempts)
    ) as is_open
  from vis_job j join vis_job_policy p on p.kind = j.kind and p.recorded_at <= :decision_point
  where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
)
select k.id as entity, 'wasted_compute' as kind, d.error_class as error_class, d.seconds as quantity, 'slot_s' as unit,
  k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'failed'
union all
select k.id as entity, 'delay_penalty' as kind, null as error_class,
  greatest(extract(epoch from d.ended_at - k.due_at), 0) as quantity, 's' as unit, k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'succeeded'
union all
select k.id as entity, 'permanent_loss' as kind, d.error_class as error_class, 1 as quantity, 'jobs' as unit,
  k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'failed' and d.n = k.max_attempts
""",
    "decomposers": [
        {"name": "by_cost_kind", "type": "additive", "kinds": ["wasted_compute", "delay_penalty", "permanent_loss"]},
        {"name": "by_job", "type": "partition", "key": "entity"},
        {"name": "by_error_class", "type": "partition", "key": "error_class"},
    ],
    "trace_hook": """
select extract(epoch from e.ended_at) as at, extract(epoch from e.recorded_at) as recorded_at, a.id as id,
  coalesce(e.error_class, e.outcome) as what, a.slot as actor, 'attempt_end' as relation
from vis_attempt a join vis_attempt_end e on e.attempt_id = a.id
join vis_job j on j.id = a.job_id
where a.recorded_at <= :decision_point and e.recorded_at <= :decision_point and j.recorded_at <= :decision_point
  and j.kind = :scope ->> 'job_kind'
""",
    "supported_counterfactuals": [
        {
            "variable": "max_attempts",
            "values": [str(number) for number in range(1, 11)],
            "factual": "max_attempts",
            "model": "truncated_attempts",
            "rows": ENDED + """
select j.id as entity, d.n as attempt, d.outcome as outcome, d.seconds as quantity, 'slot_s' as unit,
  greatest(extract(epoch from d.ended_at - j.due_at), 0) as late, 's' as late_unit, 'jobs' as lost_unit,
  p.max_attempts as max_attempts
from vis_job j join ended d on d.job_id = j.id
join vis_job_policy p on p.kind = j.kind and p.recorded_at <= :decision_point
where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
""",
            "fidelity": "identity",
            "held_fixed": ["when each attempt started and ended", "the outcome of each attempt", "prices"],
            "not_modelled": ["freed slots are not credited to other jobs"],
        }
    ],
    "limitations": ["accounting does not establish causality", "freed slots are not credited to other jobs"],
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

QUEUE_WAIT: dict[str, Any] = {
    **COMMON,
    "title": "Time between being asked for and started",
    "unit": "s",
    "grain": "job",
    "scope": {"job_id": "key"},
    "source_fields": {
        "wait.job_id": "key", "wait.reason": "text", "wait.starts_at": "instant", "wait.ends_at": "instant",
        "wait.recorded_at": "instant", "job.id": "key", "job.enqueued_at": "instant", "job.recorded_at": "instant",
        "job.due_at": "instant", "job.queue": "text",
        "start.job_id": "key", "start.started_at": "instant", "start.held": "s", "start.recorded_at": "instant",
        "queue.name": "text", "queue.slots": "count", "queue.recorded_at": "instant",
    },
    "measure": "interval",
    "formula": """
select w.job_id as entity, w.reason as kind, extract(epoch from w.starts_at) as starts,
  extract(epoch from w.ends_at) as ends, extract(epoch from j.enqueued_at) as begins,
  extract(epoch from s.started_at) as finishes
from vis_wait w join vis_job j on j.id = w.job_id join vis_start s on s.job_id = j.id
where w.recorded_at <= :decision_point and j.recorded_at <= :decision_point and s.recorded_at <= :decision_point
  and j.id = :scope ->> 'job_id'
""",
    "decomposers": [
        {"name": "by_reason", "type": "time_cover", "kinds": ["not_due", "all_slots_busy", "slot_idle"],
         "without_reason": ["slot_idle"]},
    ],
    "supported_counterfactuals": [
        {
            "variable": "slots",
            "values": ["1", "2", "3", "4"],
            "factual": "slots",
            "model": "first_in_first_out",
            "rows": """
select j.id as entity, extract(epoch from j.due_at) as due, extract(epoch from s.started_at) as started,
  s.held as held, j.id = :scope ->> 'job_id' as is_asked, q.slots as slots
from vis_job j join vis_start s on s.job_id = j.id join vis_queue q on q.name = j.queue
where j.recorded_at <= :decision_point and s.recorded_at <= :decision_point and q.recorded_at <= :decision_point
""",
            "fidelity": {"tolerance": "5"},
            "held_fixed": ["when each job was due", "how long each job held its slot"],
            "not_modelled": ["keys that keep two jobs from running at once"],
        }
    ],
    "limitations": ["time in which a slot stood idle is not accounted for"],
    "golden": [{"fixture": "jobs", "decision_point": "2026-05-01T00:06:40Z", "scope": {"job_id": "j3"}, "value": "25",
                "status": "resolved"}],
}  # fmt: skip


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

ERROR_BUDGET_BURN: dict[str, Any] = {
    **COMMON,
    "title": "Share of requests that failed, as a multiple of the budget",
    "unit": "times",
    "grain": "minute",
    "scope": {"first_minute": "key", "last_minute": "key"},
    "source_fields": {
        "minute.n": "key", "minute.version": "text", "minute.requests": "requests", "minute.errors": "errors",
        "minute.recorded_at": "instant", "slo.budget": "ratio", "slo.recorded_at": "instant",
        "deploy.version": "text", "deploy.recorded_at": "instant",
    },
    "parameters": {"budget": "slo.budget"},
    "measure": "ratio",
    "formula": """
select m.version as kind, m.errors as numerator, m.requests * o.budget as denominator, m.n as tick,
  (:scope ->> 'first_minute')::int8 as first_tick, (:scope ->> 'last_minute')::int8 as last_tick
from vis_minute m cross join vis_slo o
where m.recorded_at <= :decision_point and o.recorded_at <= :decision_point
  and m.n between (:scope ->> 'first_minute')::int8 and (:scope ->> 'last_minute')::int8
""",
    "decomposers": [{"name": "by_version", "type": "partition", "key": "kind"}],
    "supported_counterfactuals": [
        {
            "variable": "version",
            "values": ["v1", "v2"],
            "factual": "deployed",
            "model": "swapped_rate",
            "rows": """
select m.version as kind, m.errors as numerator, m.requests as denominator, o.budget as per, m.n as tick,
  (:scope ->> 'first_minute')::int8 as first_tick, (:scope ->> 'last_minute')::int8 as last_tick,
  d.version as deployed
from vis_minute m cross join vis_slo o cross join vis_deploy d
where m.recorded_at <= :decision_point and o.recorded_at <= :decision_point and d.recorded_at <= :decision_point
  and m.n between (:scope ->> 'first_minute')::int8 and (:scope ->> 'last_minute')::int8
""",
            "fidelity": "identity",
            "held_fixed": ["the requests of each minute", "the errors of other versions"],
            "not_modelled": ["users of the new version are taken to be like the others"],
        }
    ],
    "limitations": ["accounting does not establish causality"],
    "golden": [{"fixture": "traffic", "decision_point": "2026-05-01T00:16:40Z",
                "scope": {"first_minute": 0, "last_minute": 14}, "value": "347/15", "status": "resolved"}],
}  # fmt: skip
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


CHARGES = """
with charges as (
  select c.id as id, c.amount as amount, c.repeats_id as repeats_id from vis_charge c
  where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
)"""
# What claims a charge: the bucket, and the rows that say so.
BUCKETS = [
    ("'dispute_open'", "join vis_dispute_event d on d.charge_id = g.id and d.recorded_at <= :decision_point",
     "{} where d.state = 'opened'"),
    ("case when r.state = 'failed' then 'refund_failed' else 'refund_pending' end",
     "join vis_refund_event r on r.charge_id = g.id and r.recorded_at <= :decision_point",
     "{} where r.state in ('failed', 'pending')"),
    ("'duplicate_charge'", "", "{} where g.repeats_id is not null"),
    ("'undelivered_paid'", "join vis_delivery_event y on y.charge_id = g.id and y.recorded_at <= :decision_point",
     "{} where y.state = 'lost'"),
]  # fmt: skip


def _claims(columns: str = "", joined: str = "", condition: str = "") -> str:
    return CHARGES + "\nunion all".join(
        f"\nselect g.id as entity, {kind} as kind, g.amount as quantity, 'EUR_minor' as unit{columns}"
        f"\nfrom charges g {join} {where.format(joined)}{condition}"
        for kind, join, where in BUCKETS
    )


REFUND_EXPOSURE: dict[str, Any] = {
    **COMMON,
    "title": "Money that may have to be given back",
    "unit": "EUR_minor",
    "grain": "charge",
    "scope": {"since": "instant"},
    "source_fields": {
        "charge.id": "key", "charge.amount": "EUR_minor", "charge.charged_at": "instant",
        "charge.repeats_id": "key", "charge.recorded_at": "instant",
        "dispute_event.charge_id": "key", "dispute_event.state": "text", "dispute_event.recorded_at": "instant",
        "refund_event.charge_id": "key", "refund_event.state": "text", "refund_event.recorded_at": "instant",
        "delivery_event.charge_id": "key", "delivery_event.state": "text", "delivery_event.recorded_at": "instant",
        "charging.keys": "text", "charging.recorded_at": "instant",
    },
    "measure": "precedence",
    "formula": _claims(),
    "decomposers": [
        {"name": "by_bucket", "type": "precedence",
         "kinds": ["dispute_open", "refund_failed", "refund_pending", "duplicate_charge", "undelivered_paid"]},
        {"name": "by_charge", "type": "partition", "key": "entity"},
    ],
    "supported_counterfactuals": [
        {
            "variable": "idempotency_key",
            "values": ["off", "on"],
            "factual": "keys",
            "model": "enforced_key",
            "rows": _claims(
                ", g.repeats_id is not null as is_repeated, k.keys as keys", "cross join vis_charging k",
                " and k.recorded_at <= :decision_point",
            ),
            "fidelity": "identity",
            "held_fixed": ["orders", "other charges", "refunds and disputes as they were recorded"],
            "not_modelled": ["customers who would have tried another card"],
        }
    ],
    "limitations": ["accounting does not establish causality"],
    "golden": [{"fixture": "charges", "decision_point": "2026-05-01T00:10:00Z",
                "scope": {"since": "2026-05-01T00:00:00Z"}, "value": "15600", "status": "resolved"}],
}  # fmt: skip
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
