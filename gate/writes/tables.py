"""The table that a statement writes, by the target's own catalogs: its key, its parts, and whether its rows show."""

from __future__ import annotations

from typing import Any

import psycopg

from gate.writes.statement import NEW_EACH_TIME, Statement

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
# Each function of a statement with how settled its result is; one that is not there has no row.
FUNCTIONS = """
select p.proname, p.provolatile::text from pg_catalog.pg_proc p
 where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname = any (%s)
"""
VIEW, MATERIALIZED_VIEW, FOREIGN_TABLE, TABLE = "v", "m", "f", "r"  # PostgreSQL's letters


def key_columns(connection: psycopg.Connection[Any], statement: Statement) -> list[str]:
    """The columns of the table's primary key; none for a table without one."""
    return key_of(connection, statement.schema, statement.name)


def key_of(connection: psycopg.Connection[Any], schema: str, table: str) -> list[str]:
    """The columns of any table's primary key."""
    return [name for (name,) in connection.execute(KEY, [schema, table]).fetchall()]


def parts(connection: psycopg.Connection[Any], statement: Statement) -> list[tuple[str, str]]:
    """The table, then its partitions or heirs, each as (name, kind); empty when there is no such table."""
    return connection.execute(TREE, [statement.schema, statement.name]).fetchall()


def why_not_called(connection: psycopg.Connection[Any], statement: Statement) -> str:
    """Why a function of the statement may not be called on this server; empty when each may.

    The list that it was screened with knows names. What a server has under a name, its catalog says.
    """
    found = connection.execute(FUNCTIONS, [sorted(statement.functions)]).fetchall()
    known = {name for name, _ in found}
    if unknown := sorted(statement.functions - known):
        version = connection.info.server_version // 10_000
        return f"PostgreSQL {version} of this target has no function {unknown[0]}."
    if volatile := sorted(name for name, how in found if how == "v" and name not in NEW_EACH_TIME):
        return f"The function {volatile[0]} of this target may act, or give another value each time."
    return ""


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
