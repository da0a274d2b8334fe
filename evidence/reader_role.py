"""The strongest reader for one server: the statements that make it, tier by tier.

What is taken away is what the certificate's own queries find, so a role that got all of it is certified. What everyone
had is given back to the roles that are there: the application goes on as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from evidence import facts, facts_code, facts_rights, facts_role, third_tier
from evidence.stating import Fact, Weight

Connection = psycopg.Connection[Any]
ATTRIBUTES = (
    "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 20"
)  # fmt: skip
# Beyond what the certificate asks for. The first two cost a reader little; the last two are a superuser's to set, so
# the reader cannot switch off the server's own log of what it asked.
MORE_SETTINGS = (
    ("row_security", "on"), ("max_parallel_workers_per_gather", "0"), ("log_statement", "all"),
    ("log_min_duration_statement", "0"),
)  # fmt: skip
# What the doctor reads when the third tier has closed it for everyone.
DOCTORS_VIEWS = ("pg_roles", "pg_auth_members", "pg_db_role_setting", "pg_largeobject_metadata")
# Whom what everyone had is given back to. Not to readers of other agents, and not to the doctor, who needs little.
OTHERS = """
select quote_ident(rolname) from pg_roles r where not rolsuper and oid >= 16384 and rolname <> $1
  and rolname <> session_user and has_database_privilege(r.oid, current_database(), 'CONNECT')
  and not exists (select from pg_db_role_setting s
  where s.setrole = r.oid and 'default_transaction_read_only=on' = any(s.setconfig)) order by rolname
"""
# Views that call what changes something are left out: see the fact "views".
EXPOSED = """
select c.oid::regclass::text from pg_class c where c.relnamespace = (select oid from pg_namespace where nspname = $1)
  and c.relkind in ('r', 'v', 'm', 'p') and not exists (select from pg_rewrite w
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_proc'::regclass
  join pg_proc p on p.oid = d.refobjid where w.ev_class = c.oid and p.oid >= 16384
  and (p.prosecdef or p.provolatile = 'v')) order by 1
"""
HARMLESS_ROUTINES = """
select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1 and not p.prosecdef and p.provolatile <> 'v' and p.prokind <> 'p' order by 1
"""
# These are the role's own and stated whole by the first tier; roles that the reader is a member of are asked for.
STATED = ("role_exists", "superuser", "attributes", "stored_settings", "connection_limit")
_THIRD = frozenset((*(family.name for family in third_tier.FUNCTIONS), "catalog_views", "restricted_functions",
                    "restricted_catalogs"))  # fmt: skip


@dataclass(frozen=True)
class Tier:
    """Statements that go together, and what whoever runs them needs to know."""

    title: str
    needs: str
    statements: list[str]


def tiers(doctor: Connection, role: str, schema: str) -> list[Tier]:
    """The tiers for this role on the doctor's server and database. Raises psycopg.Error for what it may not see."""
    taken = dict(_taken(doctor, role, schema))
    first = [text for name, texts in taken.items() if name in _names(facts_role.FACTS) for text in texts]
    third = [text for name, texts in taken.items() if name in _THIRD for text in texts]
    second = [text for name, texts in taken.items() if name in _names(facts_rights.FACTS + facts_code.FACTS) - _THIRD
              for text in texts]  # fmt: skip
    return [
        Tier(
            "Tier 1: the role itself",
            "CREATEROLE, and a superuser for temp_file_limit and the log settings. Nobody else is affected.",
            [*_role(doctor, role), *first, *_granted(doctor, role, schema)],
        ),
        Tier(
            "Tier 2: what everyone has in this database",
            "The owner of the database and of the objects. Roles made later get it by name, no longer as everyone.",
            [*second, *_harmless(doctor, role, schema)],
        ),
        Tier(
            "Tier 3: what everyone has in PostgreSQL's own catalog",
            "A superuser, in each database anew; lost when the database moves to a new cluster.",
            third,
        ),
        Tier("The doctor", "A superuser. The doctor reads what proves the reader.", list(_doctor(doctor))),
    ]


def _names(stated: tuple[Fact, ...]) -> set[str]:
    return {fact.name for fact in stated}


def _exists(doctor: Connection, role: str) -> bool:
    return doctor.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone() is not None


def _rows(doctor: Connection, query: str, *given: str) -> list[Any]:
    return psycopg.RawCursor(doctor).execute(query, given).fetchall()


def _named(doctor: Connection, query: str, *given: str) -> str:
    return ", ".join(name for (name,) in _rows(doctor, query, *given))


def _quoted(doctor: Connection, name: str) -> str:
    return sql.Identifier(name).as_string(doctor)


def _role(doctor: Connection, role: str) -> Iterator[str]:
    name = _quoted(doctor, role)
    if not _exists(doctor, role):
        yield f"CREATE ROLE {name};"
    yield f"ALTER ROLE {name} {ATTRIBUTES};"
    newest = doctor.info.server_version >= 170000
    for setting, value in facts_role.proposed(newest) + MORE_SETTINGS:
        yield f"ALTER ROLE {name} SET {setting} = '{value}';"


def _granted(doctor: Connection, role: str, schema: str) -> Iterator[str]:
    name, place = _quoted(doctor, role), _quoted(doctor, schema)
    yield f"ALTER ROLE {name} SET search_path = {place};"
    yield f"GRANT CONNECT ON DATABASE {_quoted(doctor, doctor.info.dbname)} TO {name};"
    yield f"GRANT USAGE ON SCHEMA {place} TO {name};"
    relations = _named(doctor, EXPOSED, schema)
    if relations:
        yield f"GRANT SELECT ON {relations} TO {name};"


def _harmless(doctor: Connection, role: str, schema: str) -> Iterator[str]:
    routines = _named(doctor, HARMLESS_ROUTINES, schema)
    if routines:
        yield f"GRANT EXECUTE ON ROUTINE {routines} TO {_quoted(doctor, role)};"


def _taken(doctor: Connection, role: str, schema: str) -> Iterator[tuple[str, list[str]]]:
    """For each fact that does not hold, the statements that take it away and give it back to who had it as everyone."""
    # A role that is not there yet will have what everyone has.
    asked = role if _exists(doctor, role) else "public"
    others = _named(doctor, OTHERS, role)
    for fact in facts.of_server(doctor.info.server_version):
        if fact.weight is Weight.NOTE or fact.name in STATED or (asked == "public" and fact in facts_role.FACTS):
            continue
        rows = _rows(doctor, fact.contrary, *fact.given(asked, schema))
        yield fact.name, [text for row in _together(rows) for text in _both_ways(*row, others)]


def _together(rows: list[Any]) -> list[tuple[str, str, str]]:
    objects: dict[tuple[str, str], dict[str, None]] = {}
    for _, before, named, behind in rows:
        if before is not None:
            objects.setdefault((before, behind), {})[named] = None
    return [(before, ", ".join(listed), behind) for (before, behind), listed in objects.items()]


def _both_ways(before: str, objects: str, behind: str, others: str) -> Iterator[str]:
    yield f"{before} {objects} {behind};"
    verb, _, rest = before.partition(" ")
    # What everyone may do to a large object is too little known to be given back; whoever needs it is granted it.
    if verb == "REVOKE" and behind.startswith("FROM PUBLIC") and not rest.startswith("ALL ") and others:
        yield f"GRANT {rest} {objects} TO {others};"


def _doctor(doctor: Connection) -> Iterator[str]:
    ((name, is_superuser),) = _rows(
        doctor, "select quote_ident(rolname), rolsuper from pg_roles where rolname = session_user"
    )
    if is_superuser:
        return
    views = ", ".join(f"pg_catalog.{view}" for view in DOCTORS_VIEWS)
    yield f"GRANT CONNECT ON DATABASE {_quoted(doctor, doctor.info.dbname)} TO {name};"
    yield f"GRANT SELECT ON {views} TO {name};"
    yield f"GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO {name};"
