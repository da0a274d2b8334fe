"""What the gate costs: a preview and a run of 1, 1,000 and 10,000 rows beside the bare statement, and an approval."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import transaction

from audit import notes, seal, twohands
from gate.config import embedded
from gate.people.models import Person
from gate.writes import (
    actions,
    admitting,
    approval,
    deciding,
    execution,
    grouping,
    opened,
    policy,
    preview,
    quorum,
    viewing,
)
from gate.writes.models import WriteRequest

SIZES = (1, 1_000, 10_000)
ROUNDS = 3
KEY = notes.SigningKey("bench.example/log", bytes(32))
PASSWORD = "correct horse battery"  # of people that live as long as the benchmark
TABLES = """
create schema shop;
create table shop.prices (id int primary key, price numeric(12,2) not null, note text not null);
insert into shop.prices select g, g, repeat('x', 80) from generate_series(1, 20000) g;
create table shop.gate_ledger (
  approval_id uuid primary key, write_ref text not null, proposal_digest text not null, effect jsonb not null,
  executed_at timestamptz not null default now()
);
grant usage on schema shop to bench_writer;
grant select, insert, update, delete on shop.prices to bench_writer;
grant select, insert on shop.gate_ledger to bench_writer;
"""
STATEMENT = "update shop.prices set price = price + 1 where id <= $1"
BARE = "update shop.prices set price = price + 1 where id <= %s"


@dataclass(frozen=True)
class Times:
    """Milliseconds of each part of one write."""

    bare: float
    preview: float
    verify: float
    decide: float
    run: float


def run(sockets: Path) -> None:
    """Print the medians with their ratio to the bare statement, which is timed in between."""
    shop = _shop(sockets)
    ada, mia = _people()
    for size in SIZES:
        found = [_once(shop, ada, mia, size) for _ in range(ROUNDS)]
        _say(size, *(statistics.median(getattr(one, part) for one in found) for part in Times.__annotations__))
    shop.close()


def _say(size: int, bare: float, seen: float, verify: float, decide: float, ran: float) -> None:
    print(  # noqa: T201
        f"{size:,} rows: bare {bare:.1f} ms, preview (two runs) {seen:.0f} ms, ratio {seen / bare:.1f}; execution"
        f" {ran:.0f} ms, ratio {ran / bare:.1f}; verifying the approval {verify:.0f} ms; approval to commit, without"
        f" the wait for the seal, {decide + ran:.0f} ms"
    )


def _once(shop: psycopg.Connection[Any], ada: Person, mia: Person, size: int) -> Times:
    bare = _taken(lambda: shop.execute(BARE, [size]))
    write = _proposed(ada, size)
    request = actions.ask_preview(write, mia)
    seen = _taken(lambda: preview.make(request.pk))
    decide = _taken(lambda: _approve(write, mia))
    _seal()
    write.refresh_from_db()
    verify = _taken(lambda: approval.verified(write))
    ran = _taken(lambda: execution.execute(write.pk))
    write.refresh_from_db()
    if write.status != WriteRequest.Status.EXECUTED:
        raise RuntimeError(f"{write.ref} is {write.status}, so its time says nothing.")
    return Times(bare, seen, verify, decide, ran)


def _taken(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _proposed(ada: Person, size: int) -> WriteRequest:
    write = actions.propose(
        target="bench-shop", statement=STATEMENT, parameters=[{"t": "integer", "v": str(size)}],
        title=f"Raise {size} prices", reason="to time it", by_person=ada,
    )  # fmt: skip
    admitting.admit(write.pk)
    write.refresh_from_db()
    return write


def _approve(write: WriteRequest, mia: Person) -> None:
    write.refresh_from_db()
    seen = quorum.latest_preview(write)
    if seen is None or seen.error:
        raise RuntimeError(f"{write.ref} has no effect to approve, so its time says nothing.")
    viewing.note(mia, seen)
    for group in grouping.groups(write.table, seen):
        opened.look(mia, write, group.key)
    deciding.decide(
        write, by=mia, act="approve", reason="to time it", seen_version=write.version, password=PASSWORD,
        proposal_digest=write.proposal_digest, preview_digest=seen.digest,
    )  # fmt: skip


def _seal() -> None:
    sealer = seal.Sealer([KEY])
    sealer.start()
    while sealer.round():
        pass


def _shop(sockets: Path) -> psycopg.Connection[Any]:
    with psycopg.connect(host=str(sockets), user="postgres", dbname="postgres", autocommit=True) as superuser:
        embedded.ensure_role(superuser, "bench_writer", "bench")
        superuser.execute("create database bench_shop")
    shop = psycopg.connect(host=str(sockets), user="postgres", dbname="bench_shop", autocommit=True)
    shop.execute(TABLES)
    os.environ["BENCH_WRITER_DSN"] = f"host={sockets} user=bench_writer password=bench dbname=bench_shop"
    return shop


@transaction.atomic
def _people() -> tuple[Person, Person]:
    """Who proposes and who approves, and the target that both put in force, with a larger cap than a policy takes."""
    settings.LOG_PUBLIC_KEYS = [str(KEY.public)]
    settings.VIEWING_SECONDS = {"normal": 0, "high": 0}
    policy.MOST_ROWS = max(SIZES)
    ada, mia = (Person.objects.create_user(name, password=PASSWORD, role="admin") for name in ("ada", "mia"))
    body = {
        "kind": "postgresql", "credential_env": "BENCH_WRITER_DSN", "environment": "bench",
        "ledger": "shop.gate_ledger",
        "policy": {
            "approvers": {"admin": 1}, "method": "password", "expiry_seconds": 3600, "row_cap": max(SIZES),
            "binding": "strict", "proposers": ["admin"], "risk": "normal", "break_glass": False,
        },
    }  # fmt: skip
    drafted = twohands.draft("target", "bench-shop", body, by=ada, reason="to time it")
    twohands.activate(drafted.pk, by=mia)
    return ada, mia
