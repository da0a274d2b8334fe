"""What an undo must know of a table, by the target's own catalogs: only the writer may ask there."""

from __future__ import annotations

from typing import Any

import psycopg

from gate.writes import tables
from gate.writes.statement import Statement

# A cast to text gives the text that is shown, except of these three, which have a cast of their own.
COLUMNS = """
select a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attgenerated <> '',
       coalesce(nullif(t.typbasetype, 0), t.oid)
         <> all (array['boolean', 'bpchar', 'inet']::pg_catalog.regtype[]::oid[])
  from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace join pg_catalog.pg_type t on t.oid = a.atttypid
 where n.nspname = %s and c.relname = %s and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
OID = """
select c.oid::text from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where n.nspname = %s and c.relname = %s
"""
TRIGGERS = """
select distinct t.tgname from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where not t.tgisinternal and t.tgenabled <> 'D' and n.nspname || '.' || c.relname = any (%s) order by 1
"""


def of(connection: psycopg.Connection[Any], statement: Statement) -> dict[str, Any]:
    """The table's number, columns, key and triggers, with the server's version. Raises psycopg.Error."""
    place = [statement.schema, statement.name]
    names = [name for name, _ in tables.parts(connection, statement)]
    columns = connection.execute(COLUMNS, place).fetchall()
    oid = connection.execute(OID, place).fetchone()
    return {
        "oid": oid[0] if oid else "",
        "columns": [
            {"name": name, "type": kind, "generated": generated, "as_text": as_text}
            for name, kind, generated, as_text in columns
        ],
        "key": tables.key_columns(connection, statement),
        "triggers": [name for (name,) in connection.execute(TRIGGERS, [names]).fetchall()],
        "server": connection.info.server_version // 10_000,
    }
