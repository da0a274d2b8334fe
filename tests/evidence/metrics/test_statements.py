"""The examples' statements, run by PostgreSQL, answer the rows that the examples are counted from, at any moment.

What was recorded after the decision point may be there, be gone, or be much more: not a byte of an answer changes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import psycopg
import pytest
import simplejson
from psycopg import sql
from psycopg.types.json import Jsonb

from evidence.metrics import formula
from evidence.metrics.exact import exact
from tests.evidence.metrics import examples

LATE = 1_000_000  # seconds: after every decision point
MOMENTS = (
    "due_at", "recorded_at", "started_at", "ended_at", "starts_at", "ends_at", "enqueued_at", "ready_at", "charged_at",
)  # fmt: skip
WHOLE = ("n", "max_attempts", "slots", "requests", "errors", "amount")
NUMBERS = {**dict.fromkeys(WHOLE, "int8"), "held_seconds": "numeric", "budget": "numeric"}

Tables = dict[str, list[dict[str, Any]]]
JOBS: Tables = {
    "job": [{"id": job, "kind": "payout", "due_at": 30, "recorded_at": 0} for job in ("j1", "j4")],
    "job_policy": [{"kind": "payout", "max_attempts": 3, "recorded_at": 0}],
    "attempt": [
        {"id": f"{job}{n}", "job_id": job, "n": n, "slot": slot, "started_at": starts, "recorded_at": starts}
        for job, n, slot, starts, _, _ in examples.WORLD
    ],
    "attempt_end": [
        {"attempt_id": f"{job}{n}", "ended_at": ends, "outcome": outcome, "recorded_at": ends,
         "error_class": None if outcome == "succeeded" else "ReadTimeout" if job == "j1" else "Conflict"}
        for job, n, _, _, ends, outcome in examples.WORLD
    ],
}  # fmt: skip
QUEUE: Tables = {
    "job": [
        {"id": row["entity"], "queue": "q", "due_at": row["due"], "enqueued_at": row["due"], "ready_at": row["due"],
         "recorded_at": 0}
        for row in examples.QUEUED
    ],
    "start": [
        {"job_id": row["entity"], "started_at": row["started"], "held_seconds": row["held"],
         "recorded_at": row["started"]}
        for row in examples.QUEUED
    ],
    "queue": [{"name": "q", "slots": 2, "recorded_at": 0}],
    "wait": [
        {"job_id": "j4", "reason": row["kind"], "starts_at": row["starts"], "ends_at": row["ends"],
         "recorded_at": row["ends"]} for row in examples.WAITS["j4"]
    ],
}  # fmt: skip
TRAFFIC: Tables = {
    "minute": [
        {"n": row["tick"], "version": row["kind"], "requests": row["denominator"], "errors": row["numerator"],
         "recorded_at": 60 * row["tick"] + 75} for row in examples.minutes(0, 14)
    ],
    "slo": [{"budget": examples.BUDGET, "recorded_at": 0}],
    "deploy": [{"version": "v2", "recorded_at": 0}],
}  # fmt: skip
CHARGES: Tables = {
    "charge": [
        {"id": name, "amount": amount, "charged_at": at, "recorded_at": at, "repeats_id": repeats}
        for name, amount, at, repeats in [
            ("ch1", 4200, 10, None), ("ch2", 4200, 20, "ch1"), ("ch3", 1500, 30, None), ("ch4", 9900, 40, None),
            ("ch5", 2500, 50, None),
        ]
    ],
    "dispute_event": [{"charge_id": "ch4", "state": "opened", "recorded_at": 500}],
    "refund_event": [
        {"charge_id": "ch3", "state": "pending", "recorded_at": 300},
        {"charge_id": "ch5", "state": "succeeded", "recorded_at": 400},
        {"charge_id": "ch5", "state": "failed", "recorded_at": 9000},
    ],
    "delivery_event": [{"charge_id": "ch4", "state": "lost", "recorded_at": 450}],
    "charging": [{"keys": "off", "recorded_at": 0}],
}  # fmt: skip
SCOPES = {
    "failed_job_cost": {"job_kind": "payout"}, "queue_wait": {"job_id": "j4"},
    "error_budget_burn": {"first_minute": "0", "last_minute": "14"},
    "refund_exposure": {"since": "1970-01-01T00:00:00Z"},
}  # fmt: skip
WORLDS = {
    "failed_job_cost": JOBS, "queue_wait": QUEUE, "error_budget_burn": TRAFFIC, "refund_exposure": CHARGES,
}  # fmt: skip


@pytest.fixture
def recorded(superuser: Any) -> Callable[[Tables], Any]:
    """Makes a world's tables with their views, which last as long as the connection."""

    def make(tables: Tables) -> Any:
        for name, rows in tables.items():
            kinds = [f"{column} {_type(column)}" for column in rows[0]]
            superuser.execute(f"create temp table {name}_rows ({', '.join(kinds)})")
            superuser.execute(f"create temp view vis_{name} as select * from {name}_rows")
            for row in rows:
                _insert(superuser, name, row)
        return superuser

    return make


def _type(column: str) -> str:
    return "timestamptz" if column in MOMENTS else NUMBERS.get(column, "text")


def _insert(connection: Any, name: str, row: dict[str, Any]) -> None:
    values = [_moment(value) if column in MOMENTS else value for column, value in row.items()]
    marks = sql.SQL(", ").join(sql.Placeholder() * len(values))
    connection.execute(sql.SQL("insert into {} values ({})").format(sql.Identifier(f"{name}_rows"), marks), values)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def answer(connection: Any, statement: str, at: int, scope: dict[str, str]) -> list[str]:
    """The rows as JSON texts, in an order of their own."""
    text = f"select row_to_json(r)::text from ({formula.parse(statement).sql}) r"
    rows = psycopg.RawCursor(connection).execute(text, [_moment(at), Jsonb(scope)]).fetchall()
    return sorted(row for (row,) in rows)


def plain(rows: list[Any]) -> list[list[tuple[str, Any]]]:
    """Rows as they compare: numbers by their value, in whatever order."""
    return sorted(
        (sorted((key, _value(value)) for key, value in row.items()) for row in rows), key=lambda row: repr(row)
    )


def _value(value: Any) -> Any:
    return value if isinstance(value, bool | str | None) else Fraction(exact(value))


def read(connection: Any, name: str, statement: str, at: int) -> list[Any]:
    return [simplejson.loads(row, use_decimal=True) for row in answer(connection, statement, at, SCOPES[name])]


EXPECTED = [
    ("failed_job_cost", 400, "formula", examples.COST_AT_400),
    ("failed_job_cost", 200, "formula", examples.COST_AT_200),
    ("failed_job_cost", 400, "model", examples.ATTEMPTS_AT_400),
    ("queue_wait", 400, "formula", examples.WAITS["j4"]),
    ("queue_wait", 400, "model", examples.QUEUED),
    ("error_budget_burn", 1000, "formula", examples.burnt(0, 14)),
    ("error_budget_burn", 400, "formula", examples.burnt(0, 14, recorded=6)),
    ("error_budget_burn", 1000, "model", examples.served(0, 14)),
    ("refund_exposure", 600, "formula", examples.claimed(examples.CLAIMS)),
    ("refund_exposure", 9500, "formula", examples.claimed(examples.LATER)),
    ("refund_exposure", 600, "model", examples.keyed(examples.CLAIMS)),
]


@pytest.mark.parametrize(("name", "at", "which", "expected"), EXPECTED)
def test_a_statement_answers_the_rows_of_its_example(recorded, name, at, which, expected) -> None:
    body = examples.EXAMPLES[name]
    statement = body["formula"] if which == "formula" else body["supported_counterfactuals"][0]["rows"]
    assert plain(read(recorded(WORLDS[name]), name, statement, at)) == plain(expected)


def test_the_trace_answers_the_attempts_of_the_job(recorded) -> None:
    found = read(recorded(JOBS), "failed_job_cost", examples.FAILED_JOB_COST["trace_hook"], 400)
    ended = [{**row, "entity": "j1", "id": f"j1{row['id'][1:]}"} for row in examples.TRACE_OF_J1]
    started = [
        {"entity": job, "at": starts, "recorded_at": starts, "id": f"{job}{n}", "what": "started", "actor": slot,
         "relation": "attempt"} for job, n, slot, starts, _, _ in examples.WORLD if job == "j1"
    ]  # fmt: skip
    assert plain([row for row in found if row["id"].startswith("j1")]) == plain([*started, *ended])


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_that_was_recorded_later_changes_a_byte(recorded, name: str) -> None:
    connection, body = recorded(WORLDS[name]), examples.EXAMPLES[name]
    statements = [body["formula"], *([body["trace_hook"]] if body["trace_hook"] else [])]
    statements += [one["rows"] for one in body["supported_counterfactuals"]]
    points = [0, 150, 200, 400, 600]
    before = [[answer(connection, one, at, SCOPES[name]) for one in statements] for at in points]
    assert len({str(found) for found in before}) > 1  # they do differ from moment to moment
    for table in WORLDS[name]:
        columns = [column for column in WORLDS[name][table][0] if column != "recorded_at"]
        connection.execute(
            f"insert into {table}_rows ({', '.join([*columns, 'recorded_at'])}) "
            f"select {', '.join(columns)}, %s from {table}_rows cross join generate_series(1, 50)",
            [_moment(LATE)],
        )
    assert [[answer(connection, one, at, SCOPES[name]) for one in statements] for at in points] == before
    for at, expected in reversed(list(zip(points, before, strict=True))):
        for table in WORLDS[name]:
            connection.execute(f"delete from {table}_rows where recorded_at > %s", [_moment(at)])
        assert [answer(connection, one, at, SCOPES[name]) for one in statements] == expected
