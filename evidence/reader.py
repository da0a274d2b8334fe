"""The guarded read: one SELECT, in a read-only transaction, through a cursor that caps rows, bytes and time.

It stands behind the credential, which cannot write anyway (see evidence.proof), and asks for no certificate itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import conninfo, errors, sql
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from audit import pooling
from evidence import allowing, grammar, values
from evidence.bounds import DEFAULT, Limits
from evidence.errors import Refused

__all__ = ["DEFAULT", "Limits", "ReadResult", "Refused", "close", "read"]

POOL_SIZE = 16  # as many as evidence.turns lets call at once
POOL_WAIT = 5.0  # seconds until a source that gives no connection counts as unreachable
NUMBER = "SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL"
STEP = 16  # rows per FETCH: what one answer of the server may weigh is bounded, too
LONGER_STEP, SMALL = 64, 1024  # rows per FETCH where the rows so far were smaller than so many bytes
Connection = psycopg.Connection[Any]


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
    try:
        # All of it is text of ours, so it goes in one message. What follows goes by the extended protocol.
        connection.execute(_opening(connection.info.server_version, limits, schema))
        return _fetch_all(connection, checked, given, limits, deadline)
    except psycopg.Error as error:
        _check_nothing_written_before(connection, error)
        raise
    finally:
        _clean(connection)


@lru_cache(maxsize=64)
def _opening(server_version: int, limits: Limits, schema: str) -> bytes:
    """Opens a read-only transaction and pins its snapshot: from there on SET TRANSACTION READ WRITE is an error."""
    milliseconds = max(int(limits.seconds * 1000), 1)
    settings = {
        "statement_timeout": str(milliseconds),
        "lock_timeout": str(max(int(limits.lock_seconds * 1000), 1)),
        "standard_conforming_strings": "on",  # as the parser that checked the statement takes it
        "timezone": "'UTC'",
    }
    if server_version >= 170000:
        settings["transaction_timeout"] = str(milliseconds + 1000)  # ends the session; the other one comes first
    if schema:
        settings["search_path"] = sql.quote(schema)
    texts = [f"SET LOCAL {name} = {value}" for name, value in settings.items()]
    return "; ".join(["BEGIN TRANSACTION READ ONLY", "SELECT 1", *texts, f"SAVEPOINT {grammar.CURSOR}"]).encode()


def _fetch_all(
    connection: Connection, checked: grammar.Checked, given: list[Any], limits: Limits, deadline: float
) -> ReadResult:
    """The columns, and the rows within the limits. What can go at once does: each answer waited for costs time."""
    rows = _Rows(limits)
    with connection.pipeline():
        shape = _run(connection, checked.shape, given)
        _run(connection, checked.cursor, given)
        step = _run_step(connection, rows.wanted)
    texts = step.texts()
    columns = _columns(shape)
    while rows.take(texts):
        texts = _next_step(connection, rows.wanted, deadline).texts()
    return ReadResult(rows.found, columns, rows.are_cut)


def _run(connection: Connection, statement: str, given: Sequence[Any] = ()) -> psycopg.RawCursor[Any]:
    # Binary results force the extended protocol, in which a second statement is a syntax error.
    return psycopg.RawCursor(connection).execute(statement.encode(), given, binary=True)


@dataclass(frozen=True)
class _Step:
    """Some more rows, and whether anything was written until they were there."""

    fetched: psycopg.RawCursor[Any]
    number: psycopg.RawCursor[Any]

    def texts(self) -> list[str]:
        """The rows. Raises Refused when the transaction got a number: PostgreSQL gives one only to what writes."""
        _check_number(self.number)
        return [text for (text,) in self.fetched.fetchall()]


def _run_step(connection: Connection, count: int) -> _Step:
    fetched = _run(connection, f"FETCH FORWARD {count:d} FROM {grammar.CURSOR}")
    return _Step(fetched, _run(connection, NUMBER))


def _next_step(connection: Connection, count: int, deadline: float) -> _Step:
    """The next rows, within what is left of the read's time. Raises QueryCanceled when nothing is."""
    left = int((deadline - time.monotonic()) * 1000)
    if left <= 0:
        raise errors.QueryCanceled("the time is over")
    with connection.pipeline():
        _run(connection, f"SET LOCAL statement_timeout = {left:d}")
        return _run_step(connection, count)


def _check_number(answer: psycopg.RawCursor[Any]) -> None:
    """It is rolled back with all that it did, but a read that wrote is no evidence, and no read."""
    if answer.fetchone() != (False,):
        raise Refused("wrote", "The read was given a transaction number, so it wrote something; it is kept out.")


def _check_nothing_written_before(connection: Connection, error: psycopg.Error) -> None:
    """The same of a read that failed: whoever writes may fail on purpose. A number outlives the savepoint.

    A connection that broke tells nothing any more.
    """
    if connection.closed or connection.info.transaction_status != TransactionStatus.INERROR:
        return
    try:
        connection.execute(f"ROLLBACK TO SAVEPOINT {grammar.CURSOR}")
        answer = _run(connection, NUMBER)
    except psycopg.Error:
        return
    _check_number(answer)


def _columns(shape: psycopg.RawCursor[Any]) -> list[str]:
    """The names of the columns. Raises Refused when two are the same: JSON would keep only one of them."""
    names = [column.name for column in shape.description or ()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused("duplicate_columns", f"Two columns are called {twice[0]}; name them apart with AS.")
    return names


class _Rows:
    """Rows within the limits, as they come in steps."""

    def __init__(self, limits: Limits) -> None:
        self.found: list[dict[str, Any]] = []
        self.are_cut = False
        self._limits = limits
        self._size = 0

    @property
    def wanted(self) -> int:
        """How many the next step brings at most."""
        are_small = 0 < self._size < SMALL * len(self.found)
        return min(LONGER_STEP if are_small else STEP, self._limits.rows + 1 - len(self.found))

    def take(self, texts: list[str]) -> bool:
        """Take what a step brought, and say whether there may be more."""
        wanted = self.wanted
        for text in texts:
            self._size += len(text.encode())
            if len(self.found) == self._limits.rows or self._size > self._limits.bytes:
                self.are_cut = True
                return False
            self.found.append(values.row(text))
        # A cursor that gives fewer than it was asked for is at its end.
        return len(texts) == wanted


def _clean(connection: Connection) -> None:
    """Leave nothing behind for the next read: no transaction, no setting, no lock, no prepared statement."""
    if connection.closed:
        return
    try:
        for statement in (b"ROLLBACK", b"DISCARD ALL"):
            connection.execute(statement)
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
