"""Row versions by the transaction that made or ended them: what an open transaction did to any table, on any server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from gate.writes import session
from gate.writes.images import Image, images
from gate.writes.targets import WriteTarget

XID = "select pg_catalog.pg_current_xact_id()::xid::text"


def xid(connection: psycopg.Connection[Any]) -> str:
    """The open transaction's number as rows carry it."""
    row = connection.execute(XID).fetchone()
    assert row is not None  # a select without a table has one row
    return str(row[0])


@contextmanager
def observer(target: WriteTarget) -> Iterator[psycopg.Connection[Any]]:
    """A second session, read-only, that sees what the writer's open transaction replaced. Raises Unreachable."""
    with session.opened(target) as connection:
        session.begin(connection)
        connection.execute("SET TRANSACTION READ ONLY")
        yield connection


def before(second: psycopg.Connection[Any], number: str, schema: str, table: str, most: int) -> list[Image]:
    """The rows that the transaction changed, deleted or locked, as they are for others. Raises TooLarge, Error."""
    return _marked(second, "xmax", number, schema, table, most)


def after(writer: psycopg.Connection[Any], number: str, schema: str, table: str, most: int) -> list[Image]:
    """The rows that the transaction made, as it sees them itself. Raises TooLarge, psycopg.Error."""
    return _marked(writer, "xmin", number, schema, table, most)


def _marked(
    connection: psycopg.Connection[Any], mark: str, number: str, schema: str, table: str, most: int
) -> list[Image]:  # fmt: skip
    query = sql.SQL("SELECT * FROM {} WHERE {}::text = {}").format(
        sql.Identifier(schema, table), sql.Identifier(mark), sql.Literal(number)
    )
    return images(connection, query, (), most)
