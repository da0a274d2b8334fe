"""Prepared statements of a session, one or several in a message, by libpq itself.

psycopg's cursors weigh each value and each answer anew, which for what is asked at every call takes longer than the
server takes to answer. Here the server tells the types, and psycopg reads the rows.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from itertools import count
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
        # Of the session's own types and not of the session: what is known of one would keep it for ever.
        self._reading = Transformer(session.adapters)
        self._names: dict[str, bytes] = {}
        self._numbers = count()

    def rows(self, statement: Statement) -> list[Row]:
        """The rows that answer it. Raises psycopg.Error."""
        text, values = statement
        return self._read(text, self._pgconn.exec_prepared(self._name(text), _encoded(values)))

    def all_rows(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """The rows that answer each, all asked in one message. Raises psycopg.Error for the first that fails."""
        named = [(self._name(text), _encoded(values)) for text, values in statements]
        try:
            results = self._all_results(named)
        except BaseException:
            # Also for an interrupt: what is still under way would answer whoever asks next.
            self._pgconn.finish()
            raise
        return [self._read(text, result) for (text, _), result in zip(statements, results, strict=True)]

    def _all_results(self, named: Sequence[tuple[bytes, list[Any]]]) -> list[pq.abc.PGresult]:
        self._pgconn.enter_pipeline_mode()
        for name, values in named:
            self._pgconn.send_query_prepared(name, values)
        self._pgconn.pipeline_sync()
        results = [self._next() for _ in named]
        self._await()
        self._pgconn.get_result()  # of the synchronization: what was sent is answered
        self._pgconn.exit_pipeline_mode()
        return results

    def _name(self, text: str) -> bytes:
        if text not in self._names:
            name = f"asked_{next(self._numbers)}".encode()
            check(self._pgconn.prepare(name, text.encode()))
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
        while (is_unsent := self._pgconn.flush()) or self._pgconn.is_busy():
            waiting = select.poll()
            # What the server has not all of yet it does not answer.
            waiting.register(self._pgconn.socket, select.POLLIN | select.POLLOUT if is_unsent else select.POLLIN)
            waiting.poll()
            self._pgconn.consume_input()

    def _read(self, text: str, result: pq.abc.PGresult) -> list[Row]:
        try:
            check(result)
        except (errors.FeatureNotSupported, errors.InvalidSqlStatementName):
            # Its tables were changed under it, or somebody gave it up: the next time it is prepared anew.
            self._names.pop(text, None)
            raise
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


def check(result: pq.abc.PGresult) -> None:
    """Raise psycopg.Error unless a statement was run or prepared: the server's own, or that there is no server."""
    if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
        return
    if result.error_field(pq.DiagnosticField.SQLSTATE) is None:  # not the server says so: it is gone
        raise psycopg.OperationalError(result.error_message.decode("utf-8", "replace"))
    raise errors.error_from_result(result)
