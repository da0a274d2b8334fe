"""The shop's four metrics: their numbers out of its database, and nothing of what was recorded later in any of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
import simplejson

from audit.models import Definition
from evidence import credentials, reader
from evidence.errors import Refused
from evidence.metrics import golden, registry, serving
from evidence.metrics.definition import MetricVersion
from evidence.metrics.valuation import Valuation
from gate.demo import definitions, metrics, shop
from tests.demo.conftest import PASSWORDS

EXPORTS = {"job_kind": "export_orders"}
QUARTER = {"first_minute": 0, "last_minute": 14}
NIGHT = {"since": "2026-05-01T00:00:00Z"}
LATER = 90_000  # seconds: after all that is recorded of the night


@pytest.fixture(scope="session")
def copied(provisioned: Path) -> Iterator[str]:
    """Another database with the same shop, whose history a test may change: the end of a connection string."""
    with psycopg.connect(host=str(provisioned), user="postgres", dbname="postgres", autocommit=True) as connection:
        reader.close()
        connection.execute("create database shop_changed template shop")
        yield f"host={provisioned} dbname=shop_changed"
        reader.close()
        connection.execute("drop database shop_changed with (force)")


@pytest.fixture
def changed(copied: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection[Any]]:
    """The source `shop` reads the copy; a superuser's connection to it."""
    monkeypatch.setenv("SHOP_READER_DSN", f"{copied} user={shop.READER} password={PASSWORDS[shop.READER]}")
    with psycopg.connect(f"{copied} user=postgres", autocommit=True) as own:
        yield own


@pytest.fixture(autouse=True)
def priced(shop_dsn: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The shop's credential, and its prices as if they were in force."""
    monkeypatch.setenv("SHOP_READER_DSN", shop_dsn(shop.READER))
    table = Valuation.of(metrics.PRICES, 1, "", metrics.PRICE_TABLE)
    monkeypatch.setattr(registry, "valuation_of", lambda version: table if version.valuation else None)


def ask(kind: str, metric: str, seconds: int, certificate: str = "test", **question: Any) -> dict[str, Any]:
    """The answer of a metric so many seconds into the night, as the source's credential reads it."""
    version = MetricVersion.of(metric, 1, "", metrics.bodies()[metric])
    source = Definition(kind="source", name="shop", version=1, body=definitions.source().body)
    at = metrics.NIGHT + timedelta(seconds=seconds)
    return serving.answer(kind, version, question, at, source=source, certificate=certificate, run="run").result


def value(found: dict[str, Any]) -> tuple[Any, str]:
    return found["value"], found["mechanism_status"]


def parts(found: dict[str, Any]) -> dict[str, Decimal]:
    return {one["name"]: Decimal(one["value"]) for one in found["components"]}


def codes(found: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in found["reasons"]]


def test_what_failed_jobs_cost() -> None:
    found = ask("explain", "failed_job_cost", 400, scope=EXPORTS)
    assert value(found) == (Decimal("28.330"), "resolved")
    assert parts(found) == {"wasted_compute": Decimal("0.33"), "delay_penalty": 3, "permanent_loss": 25}
    by_job = ask("explain", "failed_job_cost", 400, scope=EXPORTS, decomposition="by_job")
    assert parts(by_job) == {"j1": Decimal("3.18"), "j4": Decimal("25.15")}
    assert value(ask("explain", "failed_job_cost", 200, scope=EXPORTS)) == (Decimal("0.280"), "partial")
    assert found["provenance"]["valuation"] == "prices@1"
    assert found["provenance"]["decision_point"] == "2026-05-01T00:06:40Z"
    assert found["provenance"]["rows"] == 7


def test_what_fewer_attempts_would_have_cost() -> None:
    fewer = ask("compare", "failed_job_cost", 400, scope=EXPORTS, variable="max_attempts", value="2")
    assert (fewer["value"], fewer["delta"], fewer["mechanism_status"]) == (
        Decimal("50.28"), Decimal("21.95"), "resolved",
    )  # fmt: skip
    assert fewer["bounds"] == {"low": Decimal("50.28"), "high": Decimal("50.28")}
    more = ask("compare", "failed_job_cost", 400, scope=EXPORTS, variable="max_attempts", value="5")
    assert (value(more), codes(more)) == ((None, "unresolved"), ["no_data"])
    unlisted = ask("compare", "failed_job_cost", 400, scope=EXPORTS, variable="faster_answers", value="1")
    assert (value(unlisted), codes(unlisted)) == ((None, "unresolved"), ["not_listed"])


def test_a_job_and_an_error_are_traced() -> None:
    of_job = ask("trace_entity", "failed_job_cost", 400, scope=EXPORTS, entity="j1")
    zero = metrics.NIGHT.timestamp()
    assert [(int(one["at"] - int(zero)), one["what"], one["actor"]) for one in of_job["items"]] == [
        (0, "started", "a"), (40, "ReadTimeout", "a"), (100, "started", "a"), (150, "ReadTimeout", "a"),
        (270, "started", "a"), (330, "succeeded", "a"),
    ]  # fmt: skip
    of_error = ask("trace_event", "failed_job_cost", 400, scope=EXPORTS, event="Conflict")
    assert [one["id"] for one in of_error["items"]] == ["j4.1", "j4.2", "j4.3"]
    nothing = ask("trace_entity", "failed_job_cost", 400, scope=EXPORTS, entity="j9")
    assert (nothing["items"], nothing["mechanism_status"], codes(nothing)) == ([], "unresolved", ["no_rows"])


def test_a_trace_is_cut_at_its_end_and_that_of_one_job_only_where_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def items(kind: str, **question: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask(kind, "failed_job_cost", 400, scope=EXPORTS, **question)["items"]
        return found

    whole = {job: items("trace_entity", entity=job) for job in ("j1", "j4")}
    monkeypatch.setattr(serving, "LIMITS", reader.Limits(rows=6))
    assert {job: items("trace_entity", entity=job) for job in whole} == whole
    monkeypatch.setattr(serving, "LIMITS", reader.Limits(rows=4))
    for job, there in whole.items():
        assert items("trace_entity", entity=job) == [*there[:4], {"item": "cut", "rows": 4, "until": there[3]["at"]}]
    among = sorted((*whole["j1"], *whole["j4"]), key=lambda one: one["at"])[:4]
    failed = [one for one in among if one["what"] == "ReadTimeout"]
    assert items("trace_event", event="ReadTimeout") == [*failed, {"item": "cut", "rows": 4, "until": among[3]["at"]}]


def test_why_a_job_waited() -> None:
    waits = {job: ask("explain", "queue_wait", 400, scope={"job_id": job}) for job in ("j3", "j5", "j4")}
    assert {job: value(found) for job, found in waits.items()} == {
        "j3": (25, "resolved"), "j5": (40, "resolved"), "j4": (58, "partial"),
    }  # fmt: skip
    assert parts(waits["j4"]) == {"not_due": 0, "all_slots_busy": 28, "slot_idle": 30}
    assert codes(waits["j4"]) == ["without_reason"]
    third = ask("compare", "queue_wait", 400, scope={"job_id": "j4"}, variable="slots", value="3")
    assert (value(third), third["fidelity"]["off"]) == ((None, "unresolved"), 30)
    assert "fidelity_failed" in codes(third)


def test_how_fast_the_budget_burnt() -> None:
    found = ask("explain", "error_budget_burn", 1000, scope=QUARTER)
    assert (found["value_exact"], found["mechanism_status"]) == ("347/15", "resolved")
    assert {name: round(part, 2) for name, part in parts(found).items()} == {
        "v1": Decimal("0.67"), "v2": Decimal("22.47")
    }  # fmt: skip
    early = ask("explain", "error_budget_burn", 400, scope=QUARTER)
    assert (value(early), early["reasons"]) == (
        (7, "partial"), [{"code": "gap", "parameters": {"since": "6", "until": "14"}}],
    )  # fmt: skip
    later = ask("explain", "error_budget_burn", 2000, scope={"first_minute": 15, "last_minute": 19})
    assert (value(later), codes(later)) == ((None, "unresolved"), ["no_rows"])


@pytest.mark.parametrize(("last", "status"), [(9, "resolved"), (14, "partial")])
def test_the_other_version_in_the_same_minutes(last: int, status: str) -> None:
    scope = {"first_minute": 0, "last_minute": last}
    found = ask("compare", "error_budget_burn", 1000, scope=scope, variable="version", value="v1")
    assert found["mechanism_status"] == status
    alone = {"first_minute": 10, "last_minute": 14}
    none = ask("compare", "error_budget_burn", 1000, scope=alone, variable="version", value="v1")
    assert (value(none), codes(none)) == ((None, "unresolved"), ["no_data"])


def test_what_may_have_to_be_given_back() -> None:
    found = ask("explain", "refund_exposure", 600, scope=NIGHT)
    assert value(found) == (15600, "resolved")
    assert parts(found) == {
        "dispute_open": 9900, "refund_failed": 0, "refund_pending": 1500, "duplicate_charge": 4200,
        "undelivered_paid": 0,
    }  # fmt: skip
    assert value(ask("explain", "refund_exposure", 9500, scope=NIGHT)) == (18100, "resolved")
    keyed = ask("compare", "refund_exposure", 600, scope=NIGHT, variable="idempotency_key", value="on")
    assert (keyed["value"], keyed["delta"], keyed["mechanism_status"]) == (11400, -4200, "resolved")


QUESTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("explain", "failed_job_cost", {"scope": EXPORTS}),
    ("explain", "failed_job_cost", {"scope": EXPORTS, "decomposition": "by_error_class"}),
    ("trace_entity", "failed_job_cost", {"scope": EXPORTS, "entity": "j4"}),
    ("trace_event", "failed_job_cost", {"scope": EXPORTS, "event": "ReadTimeout"}),
    ("compare", "failed_job_cost", {"scope": EXPORTS, "variable": "max_attempts", "value": "2"}),
    ("explain", "queue_wait", {"scope": {"job_id": "j4"}}),
    ("compare", "queue_wait", {"scope": {"job_id": "j4"}, "variable": "slots", "value": "3"}),
    ("explain", "error_budget_burn", {"scope": QUARTER}),
    ("compare", "error_budget_burn", {"scope": QUARTER, "variable": "version", "value": "v1"}),
    ("explain", "refund_exposure", {"scope": NIGHT}),
    ("trace_entity", "refund_exposure", {"scope": NIGHT, "entity": "ch5"}),
    ("compare", "refund_exposure", {"scope": NIGHT, "variable": "idempotency_key", "value": "on"}),
]
POINTS = (30, 200, 400, 600, 9500)


def answers_at(seconds: int) -> list[str]:
    return [
        simplejson.dumps(ask(kind, metric, seconds, **question), use_decimal=True)
        for kind, metric, question in QUESTIONS
    ]


def tables_of(own: psycopg.Connection[Any]) -> list[tuple[str, list[str]]]:
    """The tables of the history, with their columns besides recorded_at."""
    found = own.execute(
        "select table_name, array_agg(column_name::text order by ordinal_position) from information_schema.columns"
        " where table_schema = 'history' and column_name <> 'recorded_at' group by 1 order by 1"
    ).fetchall()
    return [(name, columns) for name, columns in found]


def made_up_later(own: psycopg.Connection[Any]) -> None:
    """Many rows that became known after each decision point, with keys of the night's and values of nobody's."""
    dice = random.Random(8)  # noqa: S311
    for table, columns in tables_of(own):
        there = own.execute(f"select {', '.join(columns)} from history.{table}").fetchall()
        drawn = [[dice.choice(values) for values in zip(*there, strict=True)] for _ in range(50)]
        marks = ", ".join(["%s"] * len(columns))
        own.cursor().executemany(
            f"insert into history.{table} ({', '.join(columns)}, recorded_at) values ({marks}, %s)",
            [[*row, metrics.NIGHT + timedelta(seconds=LATER)] for row in drawn],
        )


def test_nothing_that_became_known_later_changes_a_byte_of_an_answer(
    changed: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {seconds: answers_at(seconds) for seconds in POINTS}
    assert len({str(found) for found in before.values()}) == len(POINTS)  # they do differ from moment to moment
    made_up_later(changed)
    assert {seconds: answers_at(seconds) for seconds in POINTS} == before
    year = timedelta(days=365)
    now = datetime.now(UTC) + year
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    monkeypatch.setattr("time.time", now.timestamp)
    changed.execute("alter role shop_reader in database shop_changed set timezone = 'Pacific/Auckland'")
    reader.close()
    assert {seconds: answers_at(seconds) for seconds in POINTS} == before
    for seconds in reversed(POINTS):
        for table, _ in tables_of(changed):
            changed.execute(
                f"delete from history.{table} where recorded_at > %s", [metrics.NIGHT + timedelta(seconds=seconds)]
            )
        assert answers_at(seconds) == before[seconds], seconds


def test_a_source_that_says_only_the_day_is_not_read(changed: psycopg.Connection[Any]) -> None:
    """The row that comes ten minutes later would be in the answer."""
    days = "select budget, recorded_at::date as recorded_at from history.slo"
    changed.execute(
        "begin; alter view shop_read.vis_slo rename to slo_kept;"
        f"create view shop_read.vis_slo as {days}; grant select on shop_read.vis_slo to shop_reader; commit"
    )
    reader.close()
    with pytest.raises(Refused, match="recorded_at is a date") as caught:
        ask("explain", "error_budget_burn", 400, certificate="of days", scope=QUARTER)
    assert caught.value.code == "no_moment"
    changed.execute("drop view shop_read.vis_slo; alter view shop_read.slo_kept rename to vis_slo")


def test_what_is_held_out_is_neither_read_nor_told_from_what_is_not_there() -> None:
    source = Definition(kind="source", name="shop", version=1, body=definitions.source().body)
    told = set()
    for table in ("held_out.job_outcome", "held_out.nothing", "history.job", "shop_read.nothing"):
        with pytest.raises(Refused) as caught:
            reader.read(credentials.secret(source, "reader_env"), f"select 1 as n from {table}", schema="shop_read")
        told.add((caught.value.code, caught.value.sentence.replace(table, "it")))
    assert told == {("denied", "The reader's role may not use the relation it here.")}


def test_each_metric_gives_its_golden_values() -> None:
    for metric, body in metrics.bodies().items():
        for one in MetricVersion.of(metric, 1, "", body).golden:
            seconds = int((registry.moment(one) - metrics.NIGHT).total_seconds())
            assert golden.held(one, ask("explain", metric, seconds, scope=dict(one.scope)), "A-1").matches, (
                metric,
                one,
            )
