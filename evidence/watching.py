"""What a copy of a database looks like to its doctor, so that a change of it is seen, whoever made it.

A transaction number is given to whatever writes. As long as the server has given none, nothing was written; only when
it has, everything is looked at, for others on the same server may write, too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]
# Beside the rows of each table that the doctor may read. What it may not see is said, not passed over.
STATES = {
    "structure": "select count(*), max(oid), (select count(*) from pg_proc), (select max(oid) from pg_proc),"
    " (select count(*) from pg_namespace), (select count(*) from pg_extension), (select count(*) from pg_trigger),"
    " (select count(*) from pg_publication), (select count(*) from pg_event_trigger) from pg_class"
    # What a session keeps for itself comes and goes with it.
    " where relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_(toast_)?temp_')",
    "rights": "select md5(string_agg(coalesce(relacl::text, ''), '|' order by oid)),"
    " (select md5(string_agg(coalesce(proacl::text, ''), '|' order by oid)) from pg_proc),"
    " (select md5(string_agg(defaclacl::text, '|' order by oid)) from pg_default_acl) from pg_class",
    "roles": "select md5(string_agg(r::text, '|' order by oid)) from pg_roles r",
    "passwords": "select md5(string_agg(coalesce(rolpassword, ''), '|' order by oid)) from pg_authid",
    "memberships": "select md5(string_agg(m::text, '|' order by m::text)) from pg_auth_members m",
    "stored settings": "select md5(string_agg(s::text, '|' order by s::text)) from pg_db_role_setting s",
    "large objects": "select md5(string_agg(m::text, '|' order by oid)) from pg_largeobject_metadata m",
    "sequences": "select md5(string_agg(s::text, '|' order by s::text)) from pg_sequences s",
}
# These need no transaction number, so they are asked each time.
ALWAYS = {
    "prepared transactions": "select count(*) from pg_prepared_xacts",
    "replication slots": "select count(*) from pg_replication_slots",
    "advisory locks": "select count(*) from pg_locks where locktype = 'advisory'"
    " and database = (select oid from pg_database where datname = current_database())",
}
NUMBER = "select pg_snapshot_xmax(pg_current_snapshot())::text"
TABLES = """
select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
"""
UNSEEN = "unseen"


@dataclass(frozen=True)
class Look:
    """One look: the next transaction number, what is asked each time, and everything else."""

    number: str
    always: dict[str, str]
    whole: dict[str, str]

    @property
    def unseen(self) -> list[str]:
        return sorted(name for name, state in (self.always | self.whole).items() if state == UNSEEN)


def look(doctor: Connection, before: Look | None = None) -> Look:
    """What there is now. `before` spares the look at everything when no transaction has had a number since."""
    number, always = str(doctor.execute(NUMBER).fetchone()), {n: _state(doctor, q) for n, q in ALWAYS.items()}
    if before is not None and before.number == number:
        return Look(number, always, before.whole)
    return Look(number, always, {**{n: _state(doctor, q) for n, q in STATES.items()}, **_rows(doctor)})


def changes(before: Look, after: Look) -> list[str]:
    """The names of what differs."""
    one, other = before.always | before.whole, after.always | after.whole
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _rows(doctor: Connection) -> dict[str, str]:
    text = sql.SQL("select md5(string_agg(h, '' order by h)) from (select md5(t::text) h from {} t) hashed")
    names = [sql.Identifier(schema, name) for schema, name in doctor.execute(TABLES).fetchall()]
    return {f"rows of {name.as_string(doctor)}": _state(doctor, text.format(name)) for name in names}


def _state(doctor: Connection, query: Any) -> str:
    try:
        return hashlib.sha256(str(doctor.execute(query).fetchall()).encode()).hexdigest()
    except psycopg.errors.InsufficientPrivilege:
        return UNSEEN
