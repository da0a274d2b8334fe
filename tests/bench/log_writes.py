"""What an entry costs against one bare INSERT of the same bytes."""

from __future__ import annotations

from pathlib import Path

import psycopg
from django.db import connection

from audit import log
from audit.kinds import Kind
from tests.bench.timing import compare

RESULT = {"rows": [{"job_id": number, "state": "succeeded", "note": "x" * 60} for number in range(20)]}
AGENT = log.Actor("agent", "bench-agent", "bench-owner")


def run(sockets: Path) -> None:
    """Compare `log.record` with an INSERT into a table of two columns, each with its own commit."""
    with connection.cursor() as cursor:
        cursor.execute("create table bench_row (id bigint generated always as identity primary key, body text)")
    plain = psycopg.connect(
        host=str(sockets), dbname="counterseal", user="counterseal_owner", password="bench", autocommit=True
    )
    body = str(RESULT)
    compare(
        "one entry with a 2 KB result, against one bare INSERT",
        lambda: plain.execute("insert into bench_row (body) values (%s)", [body]),
        lambda: log.record(Kind.CALL_FINISHED, AGENT, tool="find_job", args={"job_id": 1}, result=RESULT),
    )
    plain.close()
