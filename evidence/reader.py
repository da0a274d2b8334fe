"""The guarded read: one SELECT, in a read-only transaction, through a cursor that caps rows, bytes and time.

It stands behind the credential, which cannot write anyway (see evidence.proof), and asks for no certificate itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import conninfo, errors
from psycopg_pool import ConnectionPool, PoolTimeout

from audit import pooling
from evidence import allowing, grammar, values
from evidence.errors import Refused

__all__ = ["DEFAULT", "Limits", "ReadResult", "Refused", "close", "read"]

POOL_SIZE = 10
POOL_WAIT = 5.0  # seconds until a source that gives no connection counts as unreachable
STEP = 16  # rows per FETCH: what one answer of the server may weigh is bounded, too
Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Limits:
    """What one read may bring back at most, and how long it may take."""

    rows: int = 1_000
    bytes: int = 1_000_000  # of the rows' JSON text
    seconds: float = 5.0
    lock_seconds: float = 0.5


DEFAULT = Limits()


@dataclass(frozen=True)
class ReadResult:
    """Rows of JSON types (numbers with a point or exponent are Decimals), and whether a limit cut them."""

    rows: list[dict[str, Any]]
    columns: list[str]
    truncated: bool


def read(
    dsn: str, sql: str, params: Sequence[Any] | None = None, *, limits: Limits = DEFAULT, schema: str = ""
) -> ReadResult:
    """Run one SELECT with `$1`, `$2`, … bound to `params`. Safe from several threads; never tried a second time.

    With a `schema`, every relation that it reads lies there.

    Raises Refused for what is not a plain read, for every error of the database, and when the time is over.
    """
    checked = grammar.check(sql, limits.bytes + 1)
    given = list(params or ())
    if len(given) < checked.placeholders:
        raise Refused("parameters", f"The statement needs {checked.placeholders} values and got {len(given)}.")
    with _refusals(limits), _pool(dsn).connection() as connection:
        allowing.check(checked.named, allowing.of(dsn, connection), schema)
        return _read_on(connection, checked, values.parameters(given), limits, schema)


@contextmanager
def _refusals(limits: Limits) -> Iterator[None]:
    """Everything that the driver or the database raises, as Refused."""
    try:
        yield
    except PoolTimeout as error:
        raise _unreachable() from error
    except psycopg.Error as error:
        raise _refusal(error, limits) from error
    except (UnicodeError, RecursionError, OverflowError, TypeError, ValueError) as error:
        raise Refused("parameters", "A value cannot be handed to PostgreSQL.") from error


def _unreachable() -> Refused:
    return Refused("unreachable", "The source did not answer; look whether its database is up.")


def _refusal(error: psycopg.Error, limits: Limits) -> Refused:
    said = (error.diag.message_primary or str(error)).splitlines()[0] if str(error) else type(error).__name__
    if isinstance(error, errors.QueryCanceled | errors.TransactionTimeout):
        return Refused("timeout", f"The read took longer than {limits.seconds:g} s and was stopped; narrow it.")
    if isinstance(error, errors.LockNotAvailable):
        return Refused("locked", "Another session holds a lock on what the read needs; it was not waited for.")
    if isinstance(error, errors.InsufficientPrivilege):
        return Refused("denied", f"The reader's role may not do this: {said}.")
    if isinstance(error, errors.NumericValueOutOfRange):
        return Refused("parameters", f"A number is too large for where the read uses it: {said}.")
    if isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate[:2] in ("57", "08")):
        return _unreachable()
    return Refused("database", f"The database refused the read: {said}.")


def _read_on(
    connection: Connection, checked: grammar.Checked, given: list[Any], limits: Limits, schema: str
) -> ReadResult:
    deadline = time.monotonic() + limits.seconds
    cursor = psycopg.RawCursor(connection)
    try:
        _begin(connection, cursor, limits, schema)
        columns = _columns(cursor, checked, given)
        _run(cursor, checked.cursor, given)
        rows, truncated = _fetch(cursor, limits, deadline)
        _check_nothing_written(cursor)
    finally:
        _clean(connection)
    return ReadResult(rows, columns, truncated)


def _run(cursor: psycopg.RawCursor[Any], statement: str, given: Sequence[Any] = ()) -> None:
    # Binary results force the extended protocol, in which a second statement is a syntax error.
    cursor.execute(statement.encode(), given, binary=True)


def _begin(connection: Connection, cursor: psycopg.RawCursor[Any], limits: Limits, schema: str) -> None:
    """Open a read-only transaction and pin its snapshot: from there on SET TRANSACTION READ WRITE is an error."""
    milliseconds = max(int(limits.seconds * 1000), 1)
    settings = {
        "statement_timeout": milliseconds,
        "lock_timeout": max(int(limits.lock_seconds * 1000), 1),
        "standard_conforming_strings": "on",  # as the parser that checked the statement takes it
        "timezone": "'UTC'",
    }
    if connection.info.server_version >= 170000:
        settings["transaction_timeout"] = milliseconds + 1000  # ends the session; the other one comes first
    if schema:
        settings["search_path"] = f"'{schema}'"  # an identifier in lower case: see sources.check
    with connection.pipeline():
        for statement in ("BEGIN TRANSACTION READ ONLY", "SELECT 1"):
            _run(cursor, statement)
        for name, value in settings.items():
            _run(cursor, f"SET LOCAL {name} = {value}")


def _columns(cursor: psycopg.RawCursor[Any], checked: grammar.Checked, given: list[Any]) -> list[str]:
    """The names of the columns. Raises Refused when two are the same: JSON would keep only one of them."""
    _run(cursor, checked.shape, given)
    names = [column.name for column in cursor.description or ()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused("duplicate_columns", f"Two columns are called {twice[0]}; name them apart with AS.")
    return names


def _fetch(cursor: psycopg.RawCursor[Any], limits: Limits, deadline: float) -> tuple[list[dict[str, Any]], bool]:
    """The rows within the limits, and whether there were more."""
    rows: list[dict[str, Any]] = []
    size = 0
    while True:
        texts = _step(cursor, min(STEP, limits.rows + 1 - len(rows)))
        if not texts:
            return rows, False
        for text in texts:
            size += len(text.encode())
            if len(rows) == limits.rows or size > limits.bytes:
                return rows, True
            rows.append(values.row(text))
        _leave_time(cursor, deadline)


def _step(cursor: psycopg.RawCursor[Any], count: int) -> list[str]:
    _run(cursor, f"FETCH FORWARD {count:d} FROM {grammar.CURSOR}")
    return [text for (text,) in cursor.fetchall()]


def _check_nothing_written(cursor: psycopg.RawCursor[Any]) -> None:
    """Raises Refused when the transaction got a number: PostgreSQL gives one only to what writes.

    It is rolled back with all that it did, but a read that wrote is no evidence, and no read.
    """
    _run(cursor, "SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL")
    if cursor.fetchone() == (True,):
        raise Refused("wrote", "The read was given a transaction number, so it wrote something; it is kept out.")


def _leave_time(cursor: psycopg.RawCursor[Any], deadline: float) -> None:
    """Let the next step take only what is left of the read's time. Raises QueryCanceled when nothing is."""
    left = int((deadline - time.monotonic()) * 1000)
    if left <= 0:
        raise errors.QueryCanceled("the time is over")
    _run(cursor, f"SET LOCAL statement_timeout = {left:d}")


def _clean(connection: Connection) -> None:
    """Leave nothing behind for the next read: no transaction, no setting, no lock, no prepared statement."""
    if connection.closed:
        return
    try:
        for statement in ("ROLLBACK", "DISCARD ALL"):
            connection.execute(statement, binary=True)
    except psycopg.Error:
        connection.close()


_pools: dict[str, ConnectionPool[Connection]] = {}
_lock = threading.Lock()


def _pool(dsn: str) -> ConnectionPool[Connection]:
    with _lock:
        if dsn not in _pools:
            _check_dsn(dsn)
            _pools[dsn] = ConnectionPool(
                dsn,
                kwargs={
                    "autocommit": True,
                    "prepare_threshold": None,
                    "connect_timeout": 5,
                    "tcp_user_timeout": 10_000,  # ms; a server that vanished does not hold a thread for ever
                    "client_encoding": "utf8",
                    "application_name": "counterseal reader",
                },
                min_size=0,
                max_size=POOL_SIZE,
                max_idle=60,
                timeout=POOL_WAIT,
                reconnect_timeout=pooling.RECONNECT_SECONDS,
                check=pooling.check_or_drain,  # before a read starts; a read itself is never tried again
                open=True,
            )
        return _pools[dsn]


def _check_dsn(dsn: str) -> None:
    try:
        conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        # The driver's sentence repeats a part of the string, and that may be the password.
        raise Refused("unreachable", "The source's connection string cannot be read; look at its variable.") from None


def close() -> None:
    """Close all pools: for a process that ends, and for tests that drop a database."""
    with _lock:
        for pool in _pools.values():
            pool.close()
        _pools.clear()
    allowing.forget()
