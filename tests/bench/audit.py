"""What an entry costs when eight processes write and the sealer seals, against a bare INSERT and a hash chain."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from audit import log, notes, streams
from audit.kinds import Kind
from audit.sealing import Sealing
from tests.bench.log_writes import AGENT, RESULT

SECONDS = 2.0
ROUNDS = 3
# What the log's table would be without being one: the same content, a key, and an index for each of three filters.
TABLE = """
create table {0} (id bigint generated always as identity primary key, at timestamptz not null default now(), kind text,
  actor text, principal text, tool text, args jsonb, result jsonb);
create index on {0} (actor, id);
create index on {0} (tool, id);
create index on {0} (at);
"""
COLUMNS, VALUES = "(kind, actor, principal, tool, args, result)", "(%s, %s, %s, %s, %s, %s)"
ROW = ["call.finished", AGENT.name, AGENT.principal, "find_job", '{"job_id": 1}', json.dumps(RESULT)]
FORKED = multiprocessing.get_context("fork")
Work = Callable[[], object]


@dataclass(frozen=True)
class Rate:
    """What all writers did in a second, and what one row took of processors: of theirs and of the server's."""

    rows: float
    cost: float  # microseconds


def run(sockets: Path, writers: int) -> None:
    """Print the rates side by side, each with its own commit per row, and the cost, which depends less on the load."""
    _prepare()
    dsn = f"host={sockets} dbname=counterseal user=counterseal_owner password=bench"
    pid = int((sockets.parent / "postgres" / "postmaster.pid").read_text().partition("\n")[0])
    found = [
        (_rate(bare, dsn, writers, pid), _rate(chained, dsn, writers, pid), _sealed_rate(dsn, writers, pid))
        for _ in range(ROUNDS)
    ]
    plain, chain, entry = zip(*found, strict=True)
    for title, other, wanted in (("one bare INSERT each", plain, 0.45), ("a hash chain under a lock", chain, 2.0)):
        ratio = statistics.median(ours.rows / theirs.rows for ours, theirs in zip(entry, other, strict=True))
        print(f"{writers} writers with the sealer, against {title}: {_median(entry, 'rows')}/s against "  # noqa: T201
              f"{_median(other, 'rows')}/s, ratio {ratio:.2f} (wanted {wanted}); processors' time of a row "
              f"{_median(entry, 'cost')} µs against {_median(other, 'cost')} µs")  # fmt: skip


def _median(found: Sequence[Rate], name: str) -> str:
    return f"{statistics.median(getattr(one, name) for one in found):,.0f}"


def _prepare() -> None:
    with connection.cursor() as cursor:
        for name in ("bench_bare", "bench_chain"):
            cursor.execute(TABLE.format(name))
        cursor.execute("alter table bench_chain add hash bytea")
        cursor.execute("insert into bench_chain (hash) values ('')")


def bare(dsn: str) -> Work:
    """One row of the same content."""
    session = psycopg.connect(dsn, autocommit=True)
    return lambda: session.execute(f"insert into bench_bare {COLUMNS} values {VALUES}", ROW)


def chained(dsn: str) -> Work:
    """One row that carries the hash of the one before it, which only one writer at a time can know."""
    session = psycopg.connect(dsn, autocommit=True)
    statement = f"insert into bench_chain {COLUMNS[:-1]}, hash) values {VALUES[:-1]}, %s)"

    def write() -> None:
        with session.transaction():
            session.execute("select pg_advisory_xact_lock(1)")
            last = session.execute("select hash from bench_chain order by id desc limit 1").fetchone()
            assert last is not None
            session.execute(statement, [*ROW, hashlib.sha256(last[0] + ROW[-1].encode()).digest()])

    return write


def entries(dsn: str) -> Work:
    """One entry of the log."""
    return lambda: log.record(Kind.CALL_FINISHED, AGENT, tool="find_job", args={"job_id": 1}, result=RESULT)


def _sealed_rate(dsn: str, writers: int, pid: int) -> Rate:
    connection.close()
    streams.close()
    sealer = FORKED.Process(target=_seal)
    sealer.start()
    try:
        return _rate(entries, dsn, writers, pid)
    finally:
        sealer.terminate()
        sealer.join()


def _seal() -> None:
    Sealing([notes.SigningKey("bench.example/log", bytes(32))], threading.Event()).run()


def _rate(make: Callable[[str], Work], dsn: str, writers: int, pid: int) -> Rate:
    """How often so many processes do the work in a second, together."""
    ready, counts = FORKED.Barrier(writers + 1), FORKED.SimpleQueue()
    processes = [FORKED.Process(target=_write, args=(make, dsn, ready, counts)) for _ in range(writers)]
    for process in processes:
        process.start()
    ready.wait()
    before = _server_seconds(pid)
    done = [counts.get() for _ in processes]
    for process in processes:
        process.join()
    spent = sum(own for _, _, own in done) + _server_seconds(pid) - before
    return Rate(sum(count / seconds for count, seconds, _ in done), spent / sum(count for count, *_ in done) * 1e6)


def _write(make: Callable[[str], Work], dsn: str, ready: Any, counts: Any) -> None:
    work = make(dsn)
    for _ in range(20):  # the session is open, and its statements are prepared
        work()
    ready.wait()
    count, start, own = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < SECONDS:
        work()
        count += 1
    counts.put((count, time.perf_counter() - start, time.process_time() - own))
    streams.close()


def _server_seconds(pid: int) -> float:
    """What the server's processes have had of the processors, those that have ended included."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found, _, rest = stat.read_text().rpartition(") ")
            fields = rest.split()
            if int(found.split()[0]) == pid or int(fields[1]) == pid:
                ticks += sum(map(int, fields[11:15] if int(found.split()[0]) == pid else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")
