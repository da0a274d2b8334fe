"""What the guarded read costs against the same SELECT on an open connection."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from evidence import reader
from tests.bench.timing import compare


def run(sockets: Path) -> None:
    """Compare `reader.read` of one row by key with a plain execute."""
    dsn = make_conninfo("", host=str(sockets), dbname="counterseal", user="counterseal_owner", password="bench")
    with psycopg.connect(dsn, autocommit=True) as plain:
        plain.execute(
            "create table bench_job as select n as job_id, 'succeeded' as state from generate_series(1, 1000) n"
        )
        compare(
            "one guarded read by key, against the plain SELECT",
            lambda: plain.execute("select job_id, state from bench_job where job_id = %s", [500]).fetchall(),
            lambda: reader.read(dsn, "select job_id, state from public.bench_job where job_id = $1", [500]),
        )
