"""Rows of a target as text, and no more of them than people could look at."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import psycopg
from psycopg import capabilities
from psycopg.abc import Buffer, Query
from psycopg.adapt import Loader

MOST_CHARACTERS = 4_000_000
ROWS_AT_ONCE = 16  # of one answer, where the client library can: values may be large
INVALID_OID = 0  # psycopg falls back to its loader for any type that it does not know

Image = list[tuple[str, str | None]]  # one row: (column, text) in the order that the server gave


class TooLarge(Exception):
    """There is more than people could look at; the sentence says how much is taken."""


class _AsText(Loader):
    """The server's own text, without a detour over Python's types."""

    def load(self, data: Buffer) -> str:
        try:
            return bytes(data).decode()
        except UnicodeDecodeError as error:
            raise psycopg.DataError("not UTF-8") from error


def images(connection: psycopg.Connection[Any], query: Query, parameters: Sequence[Any], most_rows: int) -> list[Image]:
    """Each row that the query returns. Raises TooLarge before it has read more than is taken, or psycopg.Error."""
    found: list[Image] = []
    left = MOST_CHARACTERS
    # Row by row: what a statement changes has no bound, and must not fill the writer's memory before it is refused.
    with closing(_stream(connection, query, parameters)) as rows:
        for image in rows:
            left -= sum(len(value or "") for _, value in image)
            if left < 0:
                raise TooLarge(
                    f"Its rows, before and after, hold more than the {MOST_CHARACTERS:,} characters that are shown."
                )
            if len(found) == most_rows:
                raise TooLarge(f"It would change more than {most_rows:,} rows, the most that one write may.")
            found.append(image)
    return found


def _stream(
    connection: psycopg.Connection[Any], query: Query, parameters: Sequence[Any]
) -> Generator[Image, None, None]:
    cursor = psycopg.RawCursor(connection)
    for kind in psycopg.adapters.types:
        for oid in {kind.oid, kind.array_oid, INVALID_OID}:
            cursor.adapters.register_loader(oid, _AsText)
    names: list[str] = []
    for row in cursor.stream(query, parameters, size=ROWS_AT_ONCE if capabilities.has_stream_chunked() else 1):
        names = names or [column.name for column in cursor.description or ()]
        yield list(zip(names, row, strict=True))
