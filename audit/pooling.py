"""What every pool of database sessions needs after the database was restarted."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

# After that many seconds of failing a pool gives a session up and asks anew when someone needs one. Left to itself it
# would wait longer after each try, up to five minutes after the database is back.
RECONNECT_SECONDS = 5.0


def check_or_drain(session: psycopg.Connection[Any]) -> None:
    """For a pool's `check`: when one pooled session is dead, all that are idle are replaced at once.

    The pool itself would try them one by one and sleep between them, longer each time. Raises psycopg.Error.
    """
    if is_quiet(session):
        return
    try:
        ConnectionPool.check_connection(session)
    except psycopg.Error:
        pool = session._pool
        if isinstance(pool, ConnectionPool):
            pool.drain()
        raise


def is_quiet(session: psycopg.Connection[Any]) -> bool:
    """Whether the server has sent nothing to this idle session: one that ended says so, or hangs up.

    Asking it would cost as much as the entry that it is wanted for.
    """
    if session.closed:
        return False
    waiting = select.poll()
    waiting.register(session.fileno(), select.POLLIN)
    return not waiting.poll(0)
