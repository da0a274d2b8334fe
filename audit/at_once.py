"""What is asked at every call: prepared once in a session, and several statements in one message.

Each answer that is waited for by itself costs a round trip, and each statement that is planned anew costs the server
more than running it. Django's cursor does both every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection, transaction

from audit import prepared, streams
from audit.prepared import Prepared, Row, Statement

__all__ = ["Asked", "Row", "Taking", "ask", "rows_of", "take"]

T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")
# What commits next in the same log of the server's brings these along: when that is on the disk, so are they.
BEGIN: list[Statement] = [("begin", []), ("set local synchronous_commit = off", [])]


@dataclass(frozen=True)
class Asked(Generic[T_co]):
    """A statement with `$1`, `$2`, …, and what is made of the rows that answer it; that may raise."""

    statement: str
    values: Sequence[Any]
    told: Callable[[list[Row]], T_co]

    def then(self, more: Callable[[T_co], S]) -> Asked[S]:
        """The same statement, with more made of what it tells."""
        return Asked(self.statement, self.values, lambda rows: more(self.told(rows)))


@dataclass(frozen=True)
class Taking(Asked[T_co]):
    """One that takes something that may be used up; then it takes nothing, and what it tells is a refusal."""

    is_taken: Callable[[list[Row]], bool] = bool


def ask(asked: Asked[S]) -> S:
    """What one statement tells. Raises django.db.Error, and what `told` raises."""
    return asked.told(rows_of(asked)[0])


def rows_of(*asked: Asked[Any]) -> list[list[Row]]:
    """The rows of each, in the same order, asked at once: in the caller's transaction, else on a session of our own.

    What they tell is the caller's to read, in the order in which one of them may refuse. Raises django.db.Error.
    """
    statements: list[Statement] = [(one.statement, one.values) for one in asked]
    with connection.wrap_database_errors:
        if connection.in_atomic_block:
            return _in_transaction(statements)
        with streams.own_session() as (cursor, _):
            return _rows(prepared.of(cursor.connection), statements)


def take(*asked: Taking[Any]) -> list[Any]:
    """What each tells, in one transaction: all take, or none does. One of our own waits for no disk as it commits.

    Raises django.db.Error, and the refusal of the first that took nothing.
    """
    with connection.wrap_database_errors:
        rows = _taken_along(asked) if connection.in_atomic_block else _taken(asked)
    return [one.told(found) for one, found in zip(asked, rows, strict=True)]


def _taken(asked: Sequence[Taking[Any]]) -> list[list[Row]]:
    with streams.own_session() as (cursor, _):
        session = prepared.of(cursor.connection)
        _, _, *rows = session.all_rows([*BEGIN, *((one.statement, one.values) for one in asked)])
        session.rows(("commit" if _are_taken(asked, rows) else "rollback", []))
    return rows


def _taken_along(asked: Sequence[Taking[Any]]) -> list[list[Row]]:
    with transaction.atomic():
        rows = rows_of(*asked)
        transaction.set_rollback(not _are_taken(asked, rows))
    return rows


def _are_taken(asked: Sequence[Taking[Any]], rows: Sequence[list[Row]]) -> bool:
    return all(one.is_taken(found) for one, found in zip(asked, rows, strict=True))


def _in_transaction(statements: list[Statement]) -> list[list[Row]]:
    connection.ensure_connection()
    session = connection.connection
    # Django only notes that a transaction begins: psycopg would open it with the first statement of its own.
    opening: list[Statement] = [] if prepared.is_in_transaction(session) else [("begin", [])]
    return _rows(prepared.of(session), [*opening, *statements])[len(opening) :]


def _rows(session: Prepared, statements: list[Statement]) -> list[list[Row]]:
    return [session.rows(statements[0])] if len(statements) == 1 else session.all_rows(statements)
