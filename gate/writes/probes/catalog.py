"""What the target's own catalogs say of a statement's table, read by a source's doctor: it sees, and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from audit.models import Definition
from evidence import examining
from gate.writes import shapes, tables
from gate.writes.probes.fact import Unknown
from gate.writes.statement import Statement

# Each unique index whose columns are all plain and all there, so that a value for each names one row.
KEYS = """
select array_agg(a.attname::text) from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid
    and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])
 where n.nspname = %s and c.relname = %s and i.indisunique and i.indisvalid and i.indpred is null
   and i.indexprs is null group by i.indexrelid
"""
# Those that act, by the verb that lets them: a bit of their type.
FIRING = """
select t.tgname from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = t.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where not t.tgisinternal and t.tgenabled <> 'D' and (t.tgtype & %s) <> 0 and n.nspname || '.' || c.relname = any (%s)
 order by 1
"""
BITS = {"insert": 4, "delete": 8, "update": 16}
# The tables whose rows go, or change, with the rows that they refer to.
CASCADES = """
select distinct n.nspname || '.' || r.relname from pg_catalog.pg_constraint k
  join pg_catalog.pg_class r on r.oid = k.conrelid join pg_catalog.pg_namespace n on n.oid = r.relnamespace
  join pg_catalog.pg_class c on c.oid = k.confrelid join pg_catalog.pg_namespace m on m.oid = c.relnamespace
 where k.contype = 'f' and m.nspname || '.' || c.relname = any (%(names)s)
   and (('delete' = any (%(verbs)s) and k.confdeltype in ('c', 'n', 'd'))
     or ('update' = any (%(verbs)s) and k.confupdtype in ('c', 'n', 'd') and exists (
       select from pg_catalog.pg_attribute a where a.attrelid = k.confrelid and a.attnum = any (k.confkey)
         and a.attname = any (%(sets)s))))
 order by 1
"""
# Whether a statement that sets these columns may move rows to another partition.
MOVES = """
select exists (select from pg_catalog.pg_partitioned_table p
  join pg_catalog.pg_class c on c.oid = p.partrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where n.nspname || '.' || c.relname = any (%(names)s) and (0 = any (p.partattrs::int2[]) or exists (
   select from pg_catalog.pg_attribute a where a.attrelid = p.partrelid and a.attnum = any (p.partattrs::int2[])
     and a.attname = any (%(sets)s))))
"""
# The columns that an INSERT leaves to the database, and whose value is another each time: a call, or a sequence.
DRAWN = """
select a.attname from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 where n.nspname = %s and c.relname = %s and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   and (a.attidentity <> '' or pg_catalog.pg_get_expr(d.adbin, d.adrelid) like '%%(%%') order by 1
"""


@dataclass(frozen=True)
class Table:
    """The table of a statement, as far as admission asks about it."""

    columns: tuple[str, ...]
    generated: tuple[str, ...]  # those of them that the database works out anew from others
    primary_key: frozenset[str]
    keys: tuple[frozenset[str], ...]  # the primary one and each other unique one
    triggers: tuple[str, ...]  # all that act
    firing: tuple[str, ...]  # those that this statement lets act
    cascades: tuple[str, ...]  # tables that change with it
    drawn: tuple[str, ...]  # columns that an INSERT of it leaves to a sequence or a call


def of(source: Definition, statement: Statement) -> Table:
    """What the catalogs say. Raises Unknown for no such table, Problem or psycopg.Error."""
    with examining.session(source, "doctor_env") as doctor:
        doctor.execute("set default_transaction_read_only = on")
        return _of(doctor, statement)


def _of(doctor: psycopg.Connection[Any], statement: Statement) -> Table:
    place = [statement.schema, statement.name]
    names = [name for name, _ in tables.parts(doctor, statement)]
    if not names:
        raise Unknown(f"The source does not show a table {statement.table}.")
    if why := tables.why_not_shown(doctor, statement):
        raise Unknown(why)  # a view, rules or heirs: what would change is something else than stands there
    verbs = _verbs(doctor, statement, names)
    sets = {"names": names, "verbs": verbs, "sets": sorted(statement.sets)}
    columns = doctor.execute(shapes.COLUMNS, place).fetchall()
    keys = [frozenset(columns) for (columns,) in doctor.execute(KEYS, place).fetchall()]
    return Table(
        columns=tuple(name for name, *_ in columns),
        generated=tuple(name for name, _, is_generated, _ in columns if is_generated),
        primary_key=frozenset(tables.key_columns(doctor, statement)),
        keys=tuple(sorted(keys, key=sorted)),
        triggers=_names(doctor, shapes.TRIGGERS, [names]),
        firing=_names(doctor, FIRING, [sum(BITS[verb] for verb in verbs), names]),
        cascades=_names(doctor, CASCADES, sets),
        drawn=tuple(one for one in _names(doctor, DRAWN, place) if one not in statement.sets),
    )


def _verbs(doctor: psycopg.Connection[Any], statement: Statement, names: list[str]) -> list[str]:
    """What the statement does to its parts: a row that moves to another is deleted here and inserted there."""
    (moves,) = doctor.execute(MOVES, {"names": names, "sets": sorted(statement.sets)}).fetchone() or (False,)
    return list(BITS) if statement.verb == "update" and moves else [statement.verb]


def _names(doctor: psycopg.Connection[Any], query: str, given: Sequence[Any] | dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for (name,) in doctor.execute(query, given).fetchall())
