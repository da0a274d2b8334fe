"""The cursor that entries are committed through on a session of our own. It can do one thing.

psycopg's cursor weighs each value's type anew each time, which for the thirty-odd values of an entry takes as long as
making them. Here the statement is prepared once and the server tells the types.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
from psycopg import pq

from audit.prepared import check

NAME = b"audit_entry"
BINARY = 1
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # of PostgreSQL's time


class EntryCursor:
    """As much of a cursor as a statement needs that returns an entry's key, number and time."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._statement = ""
        self._result: pq.abc.PGresult

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        """Run it with texts, numbers, bytes and nulls. Raises psycopg.Error."""
        if statement != self._statement:
            self._prepare(statement)
        # A text ends at its first NUL for libpq. None comes here: the log writes it out.
        encoded: list[Any] = [
            value if value is None or isinstance(value, bytes) else str(value).encode() for value in values
        ]
        formats = [BINARY if isinstance(value, bytes) else 0 for value in values]
        self._result = self.connection.pgconn.exec_prepared(NAME, encoded, formats, BINARY)
        check(self._result)

    def fetchone(self) -> tuple[UUID, int, datetime]:
        """Key, number and time of the entry that was inserted."""
        key, number, moment = (self._result.get_value(0, column) or b"" for column in range(3))
        passed = timedelta(microseconds=int.from_bytes(moment, signed=True))
        return UUID(bytes=key), int.from_bytes(number, signed=True), BEGINNING + passed

    def _prepare(self, statement: str) -> None:
        numbers = count(1)
        numbered = "".join(part + f"${next(numbers)}" for part in statement.split("%s")[:-1])
        numbered += statement.rpartition("%s")[2]
        check(self.connection.pgconn.prepare(NAME, numbered.encode()))
        self._statement = statement
