"""What explaining a metric adds to the read of its rows: `explain_metric` over 1,001 rows beside the bare query."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from audit.models import Definition
from evidence import reader
from evidence.metrics import formula, registry, serving
from evidence.metrics.definition import MetricVersion
from evidence.metrics.valuation import Valuation

ROWS = 1001
TIMES = 60
ASKED = 2.0  # ms that explaining may add to its query
NOW = datetime(2026, 11, 30, tzinfo=UTC)
SCOPE = {"job_kind": "export_orders"}
VARIABLE = "BENCH_READER_DSN"
SOURCE = {"kind": "postgresql", "reader_env": VARIABLE, "schema": "bench_read"}
PRICES = {
    "title": "What a second costs", "owner": "bench", "review_by": "2027-06-01",
    "prices": {"wasted": {"price": "0.002", "unit": "EUR", "per": "slot_s", "source": "a contract"},
               "waited": {"price": "0.01", "unit": "EUR", "per": "s", "source": "a contract"}},
}  # fmt: skip
COMMON = {
    "title": "What attempts cost", "source": "bench", "parameters": {}, "trace_hook": None,
    "supported_counterfactuals": [], "visibility_scope": "current_decision", "limitations": ["for a benchmark"],
    "owner": "bench", "review_by": "2027-06-01", "scope": {"job_kind": "text"},
    "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
    "golden": [{"fixture": "b", "decision_point": NOW.isoformat(), "scope": SCOPE, "value": None,
                "status": "unresolved"}],
    "source_fields": {
        "attempt.job_id": "key", "attempt.kind": "text", "attempt.used": "s", "attempt.unit": "text",
        "attempt.job_kind": "text", "attempt.recorded_at": "instant",
    },
}  # fmt: skip
WHERE = "from vis_attempt a where a.recorded_at <= :decision_point and a.job_kind = :scope ->> 'job_kind'"
SUM = {
    **COMMON, "unit": "EUR", "grain": "job", "valuation": "prices@1", "measure": "sum",
    "formula": f"select a.job_id as entity, a.kind as kind, a.used as quantity, a.unit as unit {WHERE}",
    "decomposers": [{"name": "by_kind", "type": "additive", "kinds": ["wasted", "waited"]},
                    {"name": "by_job", "type": "partition", "key": "entity"}],
}  # fmt: skip
RATIO = {
    **COMMON, "unit": "ratio", "grain": "job", "valuation": None, "measure": "ratio",
    "formula": f"select a.kind as kind, a.used as numerator, a.used + 1 as denominator {WHERE}",
    "decomposers": [{"name": "by_kind", "type": "partition", "key": "kind"}],
}  # fmt: skip
BUCKETS = {
    **COMMON, "unit": "s", "grain": "job", "valuation": None, "measure": "precedence",
    "formula": f"select a.job_id as entity, a.kind as kind, a.used as quantity, 's' as unit {WHERE}",
    "decomposers": [{"name": "by_bucket", "type": "precedence", "kinds": ["wasted", "waited"]}],
}  # fmt: skip
TABLE = f"""
create schema bench_read;
create view bench_read.vis_attempt as
select 'j' || n as job_id, case n % 2 when 0 then 'wasted' else 'waited' end as kind,
  (n * 0.137)::numeric(12, 3) as used, case n % 2 when 0 then 'slot_s' else 's' end as unit,
  'export_orders' as job_kind, timestamptz '2026-05-01' as recorded_at from generate_series(1, {ROWS}) as n
"""


def run(sockets: Path) -> None:
    """Print, for each way of forming a value, the milliseconds that explaining adds and the ratio to the bare query."""
    dsn = make_conninfo("", host=str(sockets), dbname="counterseal", user="counterseal_owner", password="bench")
    prices = Valuation.of("prices", 1, "", PRICES)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {VARIABLE: dsn}))
        stack.enter_context(mock.patch.object(registry, "valuation_of", return_value=prices))
        plain = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        plain.execute(TABLE)
        plain.execute("set search_path = bench_read")
        for name, body, how in (("sum", SUM, "by_kind"), ("sum by its 1,001 jobs", SUM, "by_job"),
                                ("ratio", RATIO, "by_kind"), ("precedence", BUCKETS, "by_bucket")):  # fmt: skip
            _report(name, plain, MetricVersion.of("bench", 1, "0" * 64, body), how)
        plain.execute("drop schema bench_read cascade")
    reader.close()


def _report(name: str, plain: psycopg.Connection[Any], version: MetricVersion, how: str) -> None:
    source = Definition(kind="source", name="bench", version=1, body=SOURCE)
    statement = formula.parse(version.formula).sql
    dsn, question = os.environ[VARIABLE], {"scope": SCOPE, "decomposition": how}

    def bare() -> object:
        return psycopg.RawCursor(plain).execute(statement, [NOW, Jsonb(SCOPE)]).fetchall()

    def guarded() -> object:
        return reader.read(dsn, statement, [NOW, SCOPE], limits=serving.LIMITS, schema="bench_read")

    def explained() -> object:
        return serving.answer("explain", version, question, NOW, source=source, certificate="bench", run="bench")

    (bare_ms, _), (guarded_ms, guarded_cpu), (explained_ms, explained_cpu) = _side_by_side(bare, guarded, explained)
    print(  # noqa: T201
        f"{name}: explaining {ROWS:,} rows takes {explained_ms:.2f} ms, its guarded read alone {guarded_ms:.2f} ms and "
        f"the bare query {bare_ms:.2f} ms; explaining adds {explained_ms - guarded_ms:.2f} ms to its read, "
        f"{explained_cpu - guarded_cpu:.2f} ms of them on the processor (asked: at most {ASKED:g}), "
        f"ratio {explained_ms / guarded_ms:.2f} to the read and {explained_ms / bare_ms:.2f} to the bare query"
    )


def _side_by_side(*works: Callable[[], object]) -> list[tuple[float, float]]:
    """The median milliseconds of each, by the clock and on the processor, in turns: a busy machine slows all alike."""
    taken: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(TIMES):
        for work, times in zip(works, taken, strict=True):
            clock, processor = time.perf_counter(), time.thread_time()
            work()
            times.append((time.perf_counter() - clock, time.thread_time() - processor))
    return [(_median([clock for clock, _ in each]), _median([spent for _, spent in each])) for each in taken]


def _median(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000
