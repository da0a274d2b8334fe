"""Exactly once on a target that keeps no ledger: by the number of the transaction, noted before its commit.

The number is noted in our database before COMMIT; after a crash the target is asked what became of that transaction.
A number whose write-ahead log was never flushed is given out again after the server's own crash, and would then tell
of a stranger's transaction. So a message that names the key is flushed under it first, which servers can from 17 on.
"""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import psycopg
from psycopg import errors

OLDEST_VERSION = 170_000
PREFIX = "gate"
SECONDS_TO_END = 5.0  # that a session which was told to end is waited for

Noted = dict[str, str]

MAY_USE = """
select bool_and(pg_catalog.has_function_privilege(f, 'EXECUTE')) from unnest(array[
  'pg_catalog.pg_logical_emit_message(boolean,text,text,boolean)', 'pg_catalog.pg_control_system()',
  'pg_catalog.pg_xact_status(xid8)', 'pg_catalog.pg_walfile_name(pg_lsn)', 'pg_catalog.pg_terminate_backend(int,bigint)'
]) f
"""
# The session's start is how its process's number is told from a later one's.
MINE = """
select pg_catalog.pg_current_xact_id()::text, pg_catalog.pg_backend_pid()::text,
  (select backend_start::text from pg_catalog.pg_stat_activity where pid = pg_catalog.pg_backend_pid())
"""
# The timeline that is written now, not that of the last checkpoint: it changes as soon as a standby takes over.
SERVER = """
select (select system_identifier::text from pg_catalog.pg_control_system()),
  pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8)
"""
REACHES = "select pg_catalog.pg_current_wal_lsn() >= %s::pg_lsn"
STATUS = "select pg_catalog.pg_xact_status(%s::xid8)"
END = """
select pg_catalog.pg_terminate_backend(pid, %s) from pg_catalog.pg_stat_activity
 where pid = %s and backend_start = %s::timestamptz
"""


class Unusable(Exception):
    """The target cannot prove without a ledger that a write ran once; the sentence says what it lacks."""


class Unanswerable(Exception):
    """The target cannot say what became of a transaction; the sentence says why. A person looks."""


def check(connection: psycopg.Connection[Any], name: str) -> None:
    """Raises Unusable when the target's version or the writer's rights are too little."""
    if connection.info.server_version < OLDEST_VERSION:
        version = connection.info.server_version // 10_000
        raise Unusable(
            f"{name} runs PostgreSQL {version} and has no ledger: a crash there could pass for a write that ran. Give"
            f" it a ledger table, or PostgreSQL {OLDEST_VERSION // 10_000}."
        )
    if connection.execute(MAY_USE).fetchone() != (True,):
        raise Unusable(f"The writer may not ask {name} what became of a transaction; give it a ledger table.")


def identity(connection: psycopg.Connection[Any]) -> Noted:
    """The open transaction's number and its session. Raises psycopg.Error."""
    xid, pid, started = _row(connection, MINE)
    return {"xid": xid, "pid": pid, "started": started}


def flushed(connection: psycopg.Connection[Any], key: UUID) -> Noted:
    """The same, with the server it is of, once the target's log names it on disk. Raises psycopg.Error."""
    mine = identity(connection)
    (lsn,) = _row(connection, f"select pg_catalog.pg_logical_emit_message(false, '{PREFIX}', %s, true)::text", str(key))
    system, timeline = _row(connection, SERVER)
    return {**mine, "lsn": lsn, "system": system, "timeline": timeline}


def has_committed(connection: psycopg.Connection[Any], noted: Noted) -> bool:
    """What became of a noted transaction; its session is ended when it is still open. Raises Unanswerable."""
    try:
        _check_same_server(connection, noted)
        status = _status(connection, noted)
        if status == "in progress":
            status = _ended(connection, noted)
    except psycopg.Error as error:  # a standby, a number of the future, a connection that broke
        raise Unanswerable(f"The target does not say what became of transaction {noted['xid']}.") from error
    if status not in ("committed", "aborted"):
        raise Unanswerable(f"The target has forgotten what became of transaction {noted['xid']}.")
    return status == "committed"


def _check_same_server(connection: psycopg.Connection[Any], noted: Noted) -> None:
    is_same = _row(connection, SERVER) == (noted["system"], noted["timeline"])
    if not is_same or _row(connection, REACHES, noted["lsn"]) != (True,):
        raise Unanswerable(
            f"The target was restored, or another server took over, since transaction {noted['xid']} was noted;"
            " its numbers mean other transactions now."
        )


def _status(connection: psycopg.Connection[Any], noted: Noted) -> str | None:
    (status,) = _row(connection, STATUS, noted["xid"])
    return None if status is None else str(status)


def _ended(connection: psycopg.Connection[Any], noted: Noted) -> str | None:
    """The answer once the session is gone. "In progress" is none: the writer may only stand still."""
    connection.execute(END, [int(SECONDS_TO_END * 1000), int(noted["pid"]), noted["started"]])
    deadline = time.monotonic() + SECONDS_TO_END
    while (status := _status(connection, noted)) == "in progress" and time.monotonic() < deadline:
        time.sleep(0.05)
    if status == "in progress":
        raise Unanswerable(f"Transaction {noted['xid']} is still open in the target and cannot be ended.")
    return status


def _row(connection: psycopg.Connection[Any], query: Any, *values: Any) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query, list(values) or None).fetchone()
    if row is None:
        raise errors.NoData("no row")
    return row
