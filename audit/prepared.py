"""Prepared statements of a session, one or several in a message, by libpq itself.

psycopg's cursors weigh each value and each answer anew, which for what is asked at every call takes longer than the
server takes to answer. Here the server tells the types, and psycopg reads the rows.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors, pq
from psycopg.adapt import Transformer

Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Any]]  # with $1, $2, … and the values for them: texts, numbers, times and nulls
_known: WeakKeyDictionary[psycopg.Connection[Any], Prepared] = WeakKeyDictionary()
_IN_TRANSACTION = (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)


class Prepared:
    """The statements that one session has prepared. A session MUST be used by one thread at a time."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._pgconn = session.pgconn
        self._reading = Transformer(session)
        self._names: dict[str, bytes] = {}

    def rows(self, statement: Statement) -> list[Row]:
        """The rows that answer it. Raises psycopg.Error."""
        text, values = statement
        return self._read(self._pgconn.exec_prepared(self._name(text), _encoded(values)))

    def all_rows(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """The rows that answer each, all asked in one message. Raises psycopg.Error for the first that fails."""
        named = [(self._name(text), _encoded(values)) for text, values in statements]
        self._pgconn.enter_pipeline_mode()
        for name, values in named:
            self._pgconn.send_query_prepared(name, values)
        self._pgconn.pipeline_sync()
        results = [self._next() for _ in named]
        self._await()
        self._pgconn.get_result()  # of the synchronization: what was sent is answered
        self._pgconn.exit_pipeline_mode()
        return [self._read(result) for result in results]

    def _name(self, text: str) -> bytes:
        if text not in self._names:
            name = f"asked_{len(self._names)}".encode()
            _check(self._pgconn.prepare(name, text.encode()))
            self._names[text] = name
        return self._names[text]

    def _next(self) -> pq.abc.PGresult:
        """The next statement's answer. Raises psycopg.OperationalError when there will be none."""
        self._await()
        result = self._pgconn.get_result()
        if result is None:
            raise psycopg.OperationalError("The session ended before it answered.")
        if self._pgconn.get_result() is not None:
            raise psycopg.OperationalError("A statement was answered twice.")
        return result

    def _await(self) -> None:
        """Wait without holding other threads up: libpq would wait for an answer with Python's lock in hand."""
        while self._pgconn.flush() or self._pgconn.is_busy():
            waiting = select.poll()
            waiting.register(self._pgconn.socket, select.POLLIN)
            waiting.poll()
            self._pgconn.consume_input()

    def _read(self, result: pq.abc.PGresult) -> list[Row]:
        _check(result)
        self._reading.set_pgresult(result)
        return self._reading.load_rows(0, result.ntuples, tuple)


def of(session: psycopg.Connection[Any]) -> Prepared:
    """The prepared statements of a session."""
    known = _known.get(session)
    if known is None:
        known = _known[session] = Prepared(session)
    return known


def is_in_transaction(session: psycopg.Connection[Any]) -> bool:
    """Whether a transaction is open there for the server, too: psycopg opens one with the first statement it runs."""
    return session.pgconn.transaction_status in _IN_TRANSACTION


def _encoded(values: Sequence[Any]) -> list[Any]:
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> bytes:
    encoded = str(value).encode()
    if b"\0" in encoded:  # libpq would take the text to end there
        raise psycopg.DataError("A text of PostgreSQL holds no NUL.")
    return encoded


def _check(result: pq.abc.PGresult) -> None:
    if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
        return
    if result.error_field(pq.DiagnosticField.SQLSTATE) is None:  # not the server says so: it is gone
        raise psycopg.OperationalError(result.error_message.decode("utf-8", "replace"))
    raise errors.error_from_result(result)
