"""What a statement does to a target: every row before and after, and what else it touched."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from gate.writes import digests, session
from gate.writes.parameters import Parameter
from gate.writes.statement import Statement

Row = dict[str, Any]  # {"key", "before", "after"}; images are column → text
Footprint = dict[str, list[int]]  # "shop.jobs" → rows inserted, updated, deleted

KEY = """
select a.attname from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])
 where n.nspname = %s and c.relname = %s and i.indisprimary order by a.attnum
"""
FOOTPRINT = """
select schemaname || '.' || relname, n_tup_ins, n_tup_upd, n_tup_del from pg_catalog.pg_stat_xact_all_tables
 where n_tup_ins + n_tup_upd + n_tup_del > 0 and schemaname !~ '^pg_'
"""
# The table with its partitions and inheritance children.
TREE = """
with recursive tree(oid) as (
  select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = %s and c.relname = %s
  union select i.inhrelid from pg_catalog.pg_inherits i join tree t on t.oid = i.inhparent
)
select n.nspname || '.' || c.relname from tree join pg_catalog.pg_class c using (oid)
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
"""
KIND = """
select c.relkind::text from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where n.nspname = %s and c.relname = %s
"""


@dataclass(frozen=True)
class Effect:
    """One run's rows, in a stable order, and its footprint."""

    rows: list[Row]
    footprint: Footprint
    own: list[int]  # the footprint of the written table alone, with its partitions

    def digest(self, volatile: Sequence[str]) -> str:
        """What binds an approval to this effect."""
        return digests.of_effect(self.rows, volatile)


def footprint(connection: psycopg.Connection[Any]) -> Footprint:
    """Rows written per table so far, by triggers and cascades too; a session's earlier transactions count as well."""
    return {table: list(counts) for table, *counts in connection.execute(FOOTPRINT).fetchall()}


def run(connection: psycopg.Connection[Any], statement: Statement, parameters: Sequence[Parameter]) -> Effect:
    """Run the statement in the open transaction and read its effect. Raises psycopg.Error."""
    earlier = footprint(connection)
    rows = _changed_rows(connection, statement, parameters)
    # Deferred constraints and triggers act now, or their effect would be missing from what is shown.
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    touched = _since(earlier, footprint(connection))
    return Effect(rows, touched, _own(connection, statement, touched))


def _own(connection: psycopg.Connection[Any], statement: Statement, touched: Footprint) -> list[int]:
    names = [name for (name,) in connection.execute(TREE, [statement.schema, statement.name]).fetchall()]
    return [sum(touched.get(name, [0, 0, 0])[place] for name in names) for place in range(3)]


def _since(earlier: Footprint, now: Footprint) -> Footprint:
    grown = {table: _minus(counts, earlier.get(table, [0, 0, 0])) for table, counts in now.items()}
    return {table: counts for table, counts in sorted(grown.items()) if any(counts)}


def _minus(now: Sequence[int], earlier: Sequence[int]) -> list[int]:
    return [n - e for n, e in zip(now, earlier, strict=True)]


def _changed_rows(
    connection: psycopg.Connection[Any], statement: Statement, parameters: Sequence[Parameter]
) -> list[Row]:
    cursor = psycopg.RawCursor(connection)
    cursor.execute(statement.text + _returning(statement.verb), session.bound(parameters))
    images = _images(cursor)
    key = key_columns(connection, statement)
    split = (_split(statement.verb, image) for image in images)
    rows = [{"key": _key(key, before, after), "before": before, "after": after} for before, after in split]
    return sorted(rows, key=lambda row: digests.row_line(row["before"], None, ()))


def _returning(verb: str) -> str:
    # Names that a statement cannot know: an alias "old" of its own would make another table pass for the row before.
    old, new = f"gate_{secrets.token_hex(8)}", f"gate_{secrets.token_hex(8)}"
    shown = {"insert": f"{new}.*", "delete": f"{old}.*", "update": f"{old}.*, {new}.*"}[verb]
    return f" RETURNING WITH (OLD AS {old}, NEW AS {new}) {shown}"


def _images(cursor: psycopg.RawCursor[Any]) -> list[list[tuple[str, str | None]]]:
    """Each returned row as (column, text) pairs: the server's own text, without a detour over Python's types."""
    result = cursor.pgresult
    assert result is not None  # a statement with RETURNING always has one
    names = [(result.fname(column) or b"").decode() for column in range(result.nfields)]
    return [
        [(name, _text(result.get_value(row, column))) for column, name in enumerate(names)]
        for row in range(result.ntuples)
    ]


def _text(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError as error:
        raise psycopg.DataError("not UTF-8") from error


def _split(verb: str, image: list[tuple[str, str | None]]) -> tuple[digests.Image, digests.Image]:
    if verb == "insert":
        return None, dict(image)
    if verb == "delete":
        return dict(image), None
    half = len(image) // 2
    return dict(image[:half]), dict(image[half:])


def key_columns(connection: psycopg.Connection[Any], statement: Statement) -> list[str]:
    """The columns of the table's primary key; none for a view or a table without one."""
    return [name for (name,) in connection.execute(KEY, [statement.schema, statement.name]).fetchall()]


def _key(columns: Sequence[str], before: digests.Image, after: digests.Image) -> dict[str, str | None]:
    image = before if before is not None else after
    assert image is not None  # one side of a change is always there
    return {column: image[column] for column in columns if column in image}


def kind_of(connection: psycopg.Connection[Any], statement: Statement) -> str:
    """What kind of relation the statement writes, in PostgreSQL's letters; empty when there is none."""
    row = connection.execute(KIND, [statement.schema, statement.name]).fetchone()
    return str(row[0]) if row else ""


def as_it_is(connection: psycopg.Connection[Any], statement: Statement, key: Mapping[str, str | None]) -> digests.Image:
    """The row with this key as it is now, or None. Raises psycopg.Error."""
    equals = (sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in key.items())
    condition = sql.SQL(" AND ").join(equals)
    query = sql.SQL("SELECT * FROM {} WHERE {}").format(sql.Identifier(statement.schema, statement.name), condition)
    cursor = psycopg.RawCursor(connection)
    cursor.execute(query)
    found = _images(cursor)
    return dict(found[0]) if len(found) == 1 else None
