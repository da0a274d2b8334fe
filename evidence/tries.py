"""The reader tries to write, in a transaction that is read-write on purpose and rolled back each time.

"Read-only transaction" (25006) says nothing about a credential: a superuser in a read-only transaction hears it, too.
Only "permission denied" (42501) counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]
READABLE = """
select n.nspname, c.relname, c.relkind::text,
  (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and a.attidentity <> 'a' order by a.attnum limit 1)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
  and n.nspname !~ '^pg_toast' and has_any_column_privilege(c.oid, 'SELECT') order by 1, 2
"""

DENIED = ("42501",)
# A view that no one can write through is refused before privileges are looked at.
DENIED_OR_NO_DOOR = ("42501", "55000")


def attempt(reader: Connection) -> tuple[int, list[str]]:
    """How many statements were tried, and those that were not denied for want of the right."""
    statements = list(_statements(reader.execute(READABLE).fetchall()))
    came_through = [text.as_string(reader) for text, wanted in statements if not _is_denied(reader, text, wanted)]
    return len(statements), came_through


def _statements(relations: list[Any]) -> Iterator[tuple[sql.SQL | sql.Composed, tuple[str, ...]]]:
    """Statements that would change nothing even if they ran, and the SQLSTATEs that prove that they cannot."""
    for schema, name, kind, column in relations:
        relation = sql.Identifier(schema, name)
        yield sql.SQL("DELETE FROM {} WHERE false").format(relation), DENIED_OR_NO_DOOR if kind == "v" else DENIED
        if kind in "rp" and column is not None:
            target = sql.Identifier(column)
            yield sql.SQL("UPDATE {} SET {} = {} WHERE false").format(relation, target, target), DENIED
    yield sql.SQL("CREATE TEMPORARY TABLE counterseal_probe (a int)"), DENIED
    for schema in sorted({schema for schema, *_ in relations} | {"public"}):
        place = sql.Identifier(schema, "counterseal_probe")
        yield sql.SQL("CREATE TABLE {} (a int)").format(place), (*DENIED, "3F000")  # 3F000: there is no such schema
    yield sql.SQL("CREATE SCHEMA counterseal_probe"), DENIED


def _is_denied(reader: Connection, statement: sql.SQL | sql.Composed, wanted: tuple[str, ...]) -> bool:
    reader.execute("BEGIN READ WRITE")
    try:
        reader.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate in wanted
    finally:
        reader.execute("ROLLBACK")
    return False
