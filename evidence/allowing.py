"""What a statement may name: relations, functions, operators and types that the reader's role may use.

The credential is asked, not a list of ours, and then less is allowed than it could: nothing of the server's own catalog
but functions that compute. A name without a schema may be any that is allowed: the role's search path chooses, and what
it must not run it cannot.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import Any

import psycopg

from evidence.errors import Refused
from evidence.forbidden import is_forbidden_function
from evidence.naming import Name, Named

FRESH_FOR = 30.0  # seconds; what is granted or taken shows after that long
CATALOG = "pg_catalog"
RELATIONS = """
select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'v', 'm', 'p', 'f', 'S') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and has_schema_privilege(n.oid, 'USAGE') and case c.relkind when 'S' then has_sequence_privilege(c.oid, 'SELECT')
  else has_any_column_privilege(c.oid, 'SELECT') end
"""
# What takes or gives the text form of any type, or is there for the server alone, computes nothing of its own: with it
# a name would be read in the catalog that no cast in the statement shows.
FUNCTIONS = """
select distinct n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname <> 'information_schema' and p.prokind <> 'p' and has_function_privilege(p.oid, 'EXECUTE')
  and has_schema_privilege(n.oid, 'USAGE') and not exists (select from pg_type t
  where t.oid = any (p.proargtypes::oid[] || p.prorettype) and t.typtype = 'p'
  and (t.typname in ('cstring', 'internal', 'trigger', 'event_trigger') or t.typname like '%\\_handler'))
"""
OPERATORS = """
select distinct n.nspname, o.oprname from pg_operator o join pg_namespace n on n.oid = o.oprnamespace
where o.oprcode <> 0 and has_function_privilege(o.oprcode, 'EXECUTE') and has_schema_privilege(n.oid, 'USAGE')
"""
# The type of a relation's rows tells its columns, so it takes the right to read one; an array's is its element's.
TYPES = """
select n.nspname, t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace
  join pg_type e on e.oid = case when t.typelem <> 0 and t.typlen = -1 then t.typelem else t.oid end
  left join pg_class c on c.oid = e.typrelid and c.relkind <> 'c'
where has_schema_privilege(n.oid, 'USAGE') and n.nspname <> 'information_schema'
  and (c.oid is null or has_any_column_privilege(c.oid, 'SELECT'))
"""
# Catalog functions that tell of the catalog, of rights or of the server, whoever may call them.
TELLING = re.compile(
    "pg_.*|reg(class|proc|oper|type|role|namespace|config|dictionary|collation|database).*|to_reg.*|has_.*_privilege"
    "|.*_description|format_type|acl.*|makeaclitem|row_security_active|currtid.*|inet_(server|client)_.*|txid_.*"
)
# Of those with pg_ in front, what only computes, waits within the limits, or says how old a standby's answer is.
COMPUTING = frozenset((
    "pg_typeof", "pg_column_size", "pg_size_pretty", "pg_size_bytes", "pg_backend_pid", "pg_client_encoding",
    "pg_sleep", "pg_sleep_for", "pg_sleep_until", "pg_is_in_recovery", "pg_last_xact_replay_timestamp",
    "pg_postmaster_start_time",
))  # fmt: skip
# In a contract two people have read which setting is asked for. A setting may hold a command with a password in it.
ONLY_IN_CONTRACTS = "current_setting"
SAMPLING = frozenset(("system", "bernoulli"))
# A value of these reads a name in the catalog; pg_lsn is a plain number.
TELLING_TYPES = re.compile("_*(reg[a-z]+|pg_(?!lsn$).*|aclitem)")


@dataclass(frozen=True)
class Allowed:
    """What one role may name, and when that was asked."""

    relations: frozenset[Name]
    functions: frozenset[Name]
    operators: frozenset[Name]
    types: frozenset[Name]
    asked_at: float


_known: dict[str, Allowed] = {}
_lock = threading.Lock()


def of(dsn: str, connection: psycopg.Connection[Any]) -> Allowed:
    """What the role of this connection may name, asked anew after a while. Raises psycopg.Error."""
    with _lock:
        found = _known.get(dsn)
    if found is not None and time.monotonic() - found.asked_at < FRESH_FOR:
        return found
    asked = _ask(connection)
    with _lock:
        _known[dsn] = asked
    return asked


def forget() -> None:
    """Ask every role anew."""
    with _lock:
        _known.clear()


def _ask(connection: psycopg.Connection[Any]) -> Allowed:
    rows = [connection.execute(query).fetchall() for query in (RELATIONS, FUNCTIONS, OPERATORS, TYPES)]
    relations, functions, operators, types = ([(schema, name) for schema, name in found] for found in rows)
    return Allowed(
        _without(relations, []),
        _without(functions, [name for name in functions if _is_telling(*name)]) | {("", name) for name in SAMPLING},
        _without(operators, []),
        _without(types, [name for name in types if name[0] == CATALOG and TELLING_TYPES.fullmatch(name[1])]),
        time.monotonic(),
    )


def _without(names: list[Name], taken: list[Name]) -> frozenset[Name]:
    """The names, and each without its schema. What is taken may not be meant by a name without one, either."""
    bare = {("", name) for _, name in names} - {("", name) for _, name in taken}
    return frozenset(names) - frozenset(taken) | bare


def _is_telling(schema: str, name: str) -> bool:
    if is_forbidden_function(name):
        return True
    return schema == CATALOG and name not in COMPUTING and TELLING.fullmatch(name) is not None


def check(named: Named, allowed: Allowed, schema: str = "") -> None:
    """Raises Refused with the first name that the role may not use, or whose relation lies outside of `schema`."""
    own = {("", name) for name in named.queries}
    # PostgreSQL looks into its own catalog first, so a name like its relations' is never one of the application's.
    catalog = sorted(name for schema, name in named.relations if not schema and name.startswith("pg_"))
    if catalog:
        raise _refused("relation", "", catalog[0])
    if schema:
        # The read's search path is this schema alone, so a name without one is meant to be in it.
        inside = {(place or schema, name) for place, name in named.relations - own}
        for place, name in sorted(inside):
            if place != schema or (place, name) not in allowed.relations:
                raise _refused("relation", place, name)
        _check_query(named, allowed, schema)
    for kind, asked, may in (
        ("relation", named.relations - own, allowed.relations),
        ("function", named.functions, allowed.functions),
        ("operator", named.operators, allowed.operators),
        ("type", named.types, allowed.types),
    ):
        for schema, name in sorted(asked - may):
            raise _refused(kind, schema, name)


def _check_query(named: Named, allowed: Allowed, schema: str) -> None:
    """What is refused besides where an agent wrote the statement: see `schema` of `check`."""
    for place, name in sorted(named.functions):
        if name == ONLY_IN_CONTRACTS:
            raise _refused("function", place, name)
    for place, name in sorted(named.types):
        # The type of a relation's rows tells its columns, also those that the role may not read.
        if place not in ("", schema) and (place, name.removeprefix("_")) in allowed.relations:
            raise _refused("type", place, name)


def _refused(kind: str, schema: str, name: str) -> Refused:
    whole = f"{schema}.{name}" if schema else name
    return Refused("denied", f"The reader's role may not use the {kind} {whole[:120]} here.")
