"""The attack corpus against the guarded read: nothing durable, nothing in other sessions, nothing leaked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from evidence import reader
from evidence.reader import Limits, Refused
from tests.evidence import scratch

QUICK = Limits(rows=100, bytes=100_000, seconds=0.4)
MARKS = ("S3CR3T", "PANMARK", "TENANTMARK", "LOMARK")


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (scratch.DATA / name).read_text().splitlines()]


def texts(case: dict[str, Any]) -> list[str]:
    """The SQL of a case: one text, or several in a row. Cases of other doors carry neither."""
    if "sql" in case:
        return [case["sql"]]
    return list(case.get("request", {}).get("sequence", ()))


ATTACKS = [pytest.param(case, id=case["id"]) for case in cases("sql.jsonl") if texts(case)]
READS = [pytest.param(case, id=case["id"]) for case in cases("ordinary_reads.jsonl")]


@pytest.fixture(scope="module", params=["three tiers", "two tiers"])
def target(request: pytest.FixtureRequest, cluster_socket: Path) -> Iterator[tuple[str, psycopg.Connection[Any]]]:
    """The reader's connection string, once with all that can be revoked and once with the catalogs left as they are."""
    database = f"attacked_{request.param_index}"
    scratch.create(cluster_socket, database)
    with psycopg.connect(scratch.dsn(cluster_socket, "postgres", database), autocommit=True) as own:
        scratch.second_tier(own, database)
        if request.param == "three tiers":
            scratch.third_tier(own)
        yield scratch.dsn(cluster_socket, "strong_reader", database), own
    reader.close()


@pytest.mark.parametrize("case", ATTACKS)
def test_an_attack_changes_nothing_and_leaks_nothing(target: tuple[str, Any], case: dict[str, Any]) -> None:
    dsn, own = target
    before = scratch.fingerprint(own)
    with psycopg.connect(dsn, autocommit=True) as neighbour:  # another agent of the same role
        outcomes = [attempt(dsn, text) for text in texts(case)]
        assert neighbour.execute("select 1", binary=True).fetchone() == (1,)
    assert scratch.fingerprint(own) == before
    shown = json.dumps(outcomes, default=str)
    # An attack's own text may be quoted back in a sentence; the marks stand in data alone.
    assert not any(mark in shown and mark not in "".join(texts(case)) for mark in MARKS)
    if case["must"] == "refused":
        assert any(isinstance(outcome, str) for outcome in outcomes), outcomes


def attempt(dsn: str, text: str) -> Any:
    started = time.monotonic()
    try:
        return reader.read(dsn, text, limits=QUICK).rows
    except Refused as refused:
        return refused.sentence if refused.code else None
    finally:
        assert time.monotonic() - started < 30  # an attack may not hold the reader


@pytest.mark.parametrize("case", READS)
def test_an_ordinary_read_is_allowed(target: tuple[str, Any], case: dict[str, Any]) -> None:
    dsn, _ = target
    assert reader.read(dsn, case["sql"]).columns


def test_a_session_is_clean_again_after_each_read(target: tuple[str, Any]) -> None:
    dsn, _ = target
    reader.read(dsn, "select 1 as a", limits=Limits(seconds=0.5))
    found = reader.read(dsn, "select current_setting('statement_timeout') as t, current_setting('timezone') as z")
    assert found.rows == [{"t": "5s", "z": "UTC"}]
