"""The table that a statement writes, by the target's own catalogs: its key, its parts, and whether its rows show."""

from __future__ import annotations

from typing import Any

import psycopg

from gate.writes.statement import Statement

KEY = """
select a.attname from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])
 where n.nspname = %s and c.relname = %s and i.indisprimary order by a.attnum
"""
# The table, its partitions and what inherits from it: name and kind.
TREE = """
with recursive tree(oid, depth) as (
  select c.oid, 0 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = %s and c.relname = %s
  union select i.inhrelid, t.depth + 1 from pg_catalog.pg_inherits i join tree t on t.oid = i.inhparent
)
select n.nspname || '.' || c.relname, c.relkind::text from tree join pg_catalog.pg_class c using (oid)
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace order by depth
"""
HAS_RULES = """
select exists (select from pg_catalog.pg_rewrite r join pg_catalog.pg_class c on c.oid = r.ev_class
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = %s and c.relname = %s)
"""
VIEW, MATERIALIZED_VIEW, FOREIGN_TABLE, TABLE = "v", "m", "f", "r"  # PostgreSQL's letters


def key_columns(connection: psycopg.Connection[Any], statement: Statement) -> list[str]:
    """The columns of the table's primary key; none for a table without one."""
    return [name for (name,) in connection.execute(KEY, [statement.schema, statement.name]).fetchall()]


def parts(connection: psycopg.Connection[Any], statement: Statement) -> list[tuple[str, str]]:
    """The table, then its partitions or heirs, each as (name, kind); empty when there is no such table."""
    return connection.execute(TREE, [statement.schema, statement.name]).fetchall()


def why_not_shown(connection: psycopg.Connection[Any], statement: Statement) -> str:
    """Why RETURNING would not show the rows that change, as a sentence; empty when it would."""
    (_, kind), *below = parts(connection, statement) or [("", "")]
    if kind in {VIEW, MATERIALIZED_VIEW, FOREIGN_TABLE}:
        return f"{statement.table} is no table; propose the change of the table behind it."
    if kind == TABLE and below:
        return f"Other tables inherit from {statement.table}, and what only they have would change unseen."
    if any(kind == FOREIGN_TABLE for _, kind in below):
        return f"A partition of {statement.table} is on another server, where the ledger proves nothing."
    if connection.execute(HAS_RULES, [statement.schema, statement.name]).fetchone() == (True,):
        return f"A rule on {statement.table} puts other statements in this one's place; the writer cannot show them."
    return ""
