"""The reader tries to write, in a transaction that is read-write on purpose and rolled back each time.

"Read-only transaction" (25006) says nothing about a credential: a superuser in a read-only transaction hears it, too.
Only "permission denied" (42501) counts. No statement would change anything even if it ran: it is about no row, its
functions are never called, or the rollback takes it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import psycopg
from psycopg import sql

from evidence import third_tier

Connection = psycopg.Connection[Any]
Statement = sql.SQL | sql.Composed
READABLE = """
select n.nspname, c.relname, c.relkind::text,
  (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and a.attidentity <> 'a' order by a.attnum limit 1)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
  and n.nspname !~ '^pg_toast' and has_any_column_privilege(c.oid, 'SELECT') order by 1, 2
"""
# The function of a family that is tried, with the types of its arguments.
CALLABLE = """
select p.proname, array(select format_type(given, null) from unnest(p.proargtypes) with ordinality as t (given, at)
  order by at) from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = %s
order by p.oid limit 1
"""
DENIED = ("42501",)
# A view that no one can write through, or a column of it, is refused before privileges are looked at.
DENIED_OR_NO_DOOR = ("42501", "55000")
DENIED_OR_NO_COLUMN = (*DENIED_OR_NO_DOOR, "0A000", "428C9")
# What a standby says to every role; it counts there because the server itself said that it is one.
IN_RECOVERY = ("25006", "0A000", "55000")
# What makes, or reaches out of the database. The fact that shows the same in the catalogs stands beside each.
MAKING = (
    ("database", "CREATE TEMPORARY TABLE counterseal_probe (a int)"),
    ("database", "CREATE SCHEMA counterseal_probe"),
    ("database", "CREATE PUBLICATION counterseal_probe"),
    ("attributes", "CREATE ROLE counterseal_probe"),
    ("attributes", "CREATE FOREIGN DATA WRAPPER counterseal_probe"),
    ("attributes", "CREATE SUBSCRIPTION counterseal_probe CONNECTION 'dbname=none' PUBLICATION p WITH (connect=false)"),
    ("restricted_functions", "COPY (SELECT 1 WHERE false) TO PROGRAM 'true'"),
    ("languages", "DO LANGUAGE plpgsql 'begin end'"),
)


def attempt(reader: Connection, is_standby: bool = False, left_out: Collection[str] = ()) -> tuple[int, list[str]]:
    """How many statements were tried, and those that were not denied for want of the right.

    `left_out` names facts whose statements are not tried, because it is known that they come through.
    """
    statements = list(_statements(reader, left_out))
    more = IN_RECOVERY if is_standby else ()
    came_through = [
        text.as_string(reader) for text, wanted in statements if not _is_denied(reader, text, (*wanted, *more))
    ]
    return len(statements), came_through


def _statements(reader: Connection, left_out: Collection[str]) -> Iterator[tuple[Statement, tuple[str, ...]]]:
    """Statements, and the SQLSTATEs that prove that the reader cannot."""
    relations = reader.execute(READABLE).fetchall()
    yield from _on_relations(relations)
    for schema in sorted({schema for schema, *_ in relations} | {"public"}):
        place = sql.Identifier(schema, "counterseal_probe")
        yield sql.SQL("CREATE TABLE {} (a int)").format(place), (*DENIED, "3F000")  # 3F000: there is no such schema
    for fact, text in MAKING:
        if fact not in left_out:
            yield sql.SQL(text), (*DENIED, "42704")  # 42704: there is no such language
    for family in third_tier.FUNCTIONS:
        if family.name not in left_out:
            yield from _calls(reader, family)


def _on_relations(relations: list[Any]) -> Iterator[tuple[Statement, tuple[str, ...]]]:
    for schema, name, kind, column in relations:
        relation, denied = sql.Identifier(schema, name), DENIED_OR_NO_DOOR if kind == "v" else DENIED
        yield sql.SQL("DELETE FROM {} WHERE false").format(relation), denied
        if kind in "rpv" and column is not None:
            target, wanted = sql.Identifier(column), DENIED_OR_NO_COLUMN if kind == "v" else DENIED
            yield sql.SQL("UPDATE {} SET {} = {} WHERE false").format(relation, target, target), wanted
            insert = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE false")
            yield insert.format(relation, target, target, relation), wanted


def _calls(reader: Connection, family: third_tier.Family) -> Iterator[tuple[Statement, tuple[str, ...]]]:
    """A function of the family, asked for about no row: whether it may be called is looked at before any row is."""
    for name, types in reader.execute(CALLABLE, [family.tried]).fetchall():
        given = sql.SQL(", ").join(sql.SQL("d.datname::text::{}").format(sql.SQL(kind)) for kind in types)
        call = sql.SQL("SELECT pg_catalog.{}({}) FROM pg_catalog.pg_database d WHERE d.oid = 0")
        yield call.format(sql.Identifier(name), given), DENIED


def _is_denied(reader: Connection, statement: Statement, wanted: tuple[str, ...]) -> bool:
    begin = "BEGIN" if "25006" in wanted else "BEGIN READ WRITE"
    try:
        # One message: a proof of hundreds of tries is asked of a server that others wait for.
        reader.execute(sql.SQL("{}; {}").format(sql.SQL(begin), statement))
    except psycopg.Error as error:
        return error.sqlstate in wanted
    finally:
        reader.execute("ROLLBACK")
    return False
