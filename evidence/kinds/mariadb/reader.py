"""The guarded read: one SELECT in a read-only transaction that is rolled back, with caps on time, rows and bytes.

It stands behind the credential, which cannot write anyway. The order matters here more than elsewhere: in MariaDB and
MySQL a statement of structure commits by itself, so no rollback undoes one; the account alone stops it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pymysql
import simplejson

from evidence import exact_json
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.mariadb import completeness, grammar, session, values
from evidence.kinds.mariadb.address import Address
from evidence.kinds.mariadb.literals import literal
from evidence.kinds.mariadb.session import Bounded, Stream

GRACE = 2.0  # seconds beyond the limit, until a server that does not stop at once is left
OVERHEAD = 65_536  # bytes that the server says besides rows
WORDINESS = 4  # how many bytes on the wire a byte of JSON may have been
PROGRAM = "counterseal reader"


@dataclass(frozen=True)
class Rows:
    """Rows of JSON types, their columns, whether a limit cut them, and what the server warned of."""

    columns: list[str]
    rows: list[dict[str, Any]]
    truncated: bool
    incomplete: tuple[str, ...] = ()


@dataclass(frozen=True)
class Given:
    """A value for a placeholder, and the format that the contract's schema gives it."""

    value: Any
    format: str = ""


def read(address: Address, text: str, given: Sequence[Given] = (), *, limits: Limits, is_utc: bool = False) -> Rows:
    """Run one SELECT whose `?` stand for what is given. Safe from several threads; never tried a second time.

    Raises Refused for what is not a plain read, for every error of the database, and when the time is over.
    """
    checked = grammar.check(text, address.schema)
    if len(given) != checked.placeholders:
        raise Refused("parameters", f"The statement needs {checked.placeholders} values and got {len(given)}.")
    statement = _filled(checked.pieces, [literal(one.value, one.format) for one in given])
    with _refusals(limits), session.opened(address, limits.seconds + GRACE, PROGRAM) as connection:
        _begin(connection, limits)
        return _read_on(connection, statement, limits, is_utc)


def _filled(pieces: Sequence[str], literals: Sequence[str]) -> str:
    # A literal stands alone: with what is before or behind it it must not become another word.
    return pieces[0] + "".join(f" {value} {piece}" for value, piece in zip(literals, pieces[1:], strict=True))


@contextmanager
def _refusals(limits: Limits) -> Iterator[None]:
    """Everything that the driver or the server raises, as Refused."""
    try:
        yield
    except pymysql.MySQLError as error:
        raise _refusal(error, limits) from error
    except TimeoutError as error:
        raise _too_long(limits) from error
    except (OSError, ValueError) as error:
        raise session.unreachable() from error


def _too_long(limits: Limits) -> Refused:
    return Refused("timeout", f"The read took longer than {limits.seconds:g} s and was stopped; narrow it.")


def _refusal(error: pymysql.MySQLError, limits: Limits) -> Refused:
    code, said = session.code_of(error), session.said(error)
    if code in session.TIME_IS_OVER or "timed out" in str(error):
        return _too_long(limits)
    if code in session.LOCKED:
        return Refused("locked", "Another session holds a lock on what the read needs; it was not waited for.")
    if code in session.DENIED:
        return Refused("denied", f"The reader's account may not do this: {said}.")
    if code == session.READ_ONLY_TRANSACTION:
        return Refused("write_refused", "The read came to something that writes, and its transaction refused that.")
    if code in session.BUSY:
        return Refused("busy", f"The server takes no more sessions of the reader: {said}.")
    if code in session.GONE or not code:
        return session.unreachable()
    return Refused("database", f"The database refused the read: {said}.")


def _begin(connection: Bounded, limits: Limits) -> None:
    """Settle what the session does, and open a transaction in which a write is an error."""
    is_mariadb = "mariadb" in connection.version.lower()
    wait = max(round(limits.lock_seconds), 1)
    settings: dict[str, Any] = {
        "lock_wait_timeout": wait,
        "innodb_lock_wait_timeout": wait,
        "max_statement_time" if is_mariadb else "max_execution_time": (
            f"{limits.seconds:f}" if is_mariadb else max(int(limits.seconds * 1000), 1)
        ),
    }
    said = ", ".join(f"SESSION {name} = {value}" for name, value in settings.items())
    for statement in (f"SET {said}", "START TRANSACTION READ ONLY"):
        session.rows(connection, statement)


def _read_on(connection: Bounded, statement: str, limits: Limits, is_utc: bool) -> Rows:
    deadline = time.monotonic() + limits.seconds
    connection.allowance = limits.bytes * WORDINESS + OVERHEAD
    stream = session.Stream(connection, statement)
    try:
        columns = _columns(stream)
        rows, truncated = _fetch(stream, columns, limits, deadline, is_utc)
    finally:
        stream.leave()
    if truncated:
        # It is left by ending the session, which rolls back as well.
        return Rows(columns, rows, truncated)
    connection.allowance = None
    warned = _warned(connection, stream)
    _check_nothing_committed(connection)
    session.rows(connection, "ROLLBACK")
    return Rows(columns, rows, truncated, warned)


def _check_nothing_committed(connection: Bounded) -> None:
    """Raises Refused when the read-only transaction is over: whatever ended it committed, and may have written."""
    if not connection.is_in_read_only_transaction():
        raise Refused("wrote", "The read ended its own read-only transaction, so it may have written; it is kept out.")


def _warned(connection: Bounded, stream: Stream) -> tuple[str, ...]:
    if not stream.warnings:
        return ()
    shown = [(str(level), int(code or 0)) for level, code, _ in session.rows(connection, "SHOW WARNINGS")]
    return completeness.incomplete(stream.warnings, shown)


def _columns(stream: Stream) -> list[str]:
    """The names of the columns. Raises Refused when two are the same: JSON would keep only one of them."""
    names = [str(field.name) for field in stream.fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused("duplicate_columns", f"Two columns are called {twice[0]}; name them apart with AS.")
    return names


def _fetch(
    stream: Stream, columns: list[str], limits: Limits, deadline: float, is_utc: bool
) -> tuple[list[dict[str, Any]], bool]:
    """The rows within the limits, and whether there were more."""
    types = [(field.type_code, field.charsetnr) for field in stream.fields]
    found: list[dict[str, Any]] = []
    size = 0
    try:
        while (raw := stream.next()) is not None:
            given = zip(columns, raw, types, strict=True)
            row = {name: values.decoded(value, *kind, is_utc) for name, value, kind in given}
            size += len(exact_json.dumps(row))
            if len(found) == limits.rows or size > limits.bytes:
                return found, True
            found.append(row)
            if time.monotonic() > deadline:
                raise _too_long(limits)
    except session.TooMuch:
        return found, True
    return found, False


def document(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a contract that promises one object: MariaDB keeps JSON as text, so that is read here."""
    text = row.get("result")
    if not isinstance(text, str):
        return dict(row)
    try:
        return {**row, "result": simplejson.loads(text, use_decimal=True)}
    except (ValueError, RecursionError) as error:
        raise Refused("wrong_shape", "The tool promises one object, and what its read found is no JSON.") from error
