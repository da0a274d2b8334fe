"""Whether a database role can do more than its row of the roles table. A process that could refuses to start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from gate.config import releases
from gate.config.database import KNOW_THE_BROKER
from gate.config.provision import privileges
from gate.config.roles import FOR_ALL, FUNCTIONS, GRANTS, ROW_POLICIES, WRITES_KINDS, role_name


class TooPowerful(Exception):
    """The sentence that names what a role can do beyond its row, and how to mend it."""


@dataclass(frozen=True, order=True)
class Right:
    """One privilege on one column, or on a whole table where the privilege knows no columns."""

    table: str
    column: str
    privilege: str

    def __str__(self) -> str:
        if self.table == KINDS:
            return f"entries of kind {self.column}"
        return f"{self.privilege} on {self.table}{'.' + self.column if self.column else ''}"


KINDS = "audit_kind"  # see audit/migrations/_log_sql.py
SYSTEM = "('pg_catalog', 'information_schema', 'pg_toast')"
ON_COLUMNS = ("SELECT", "INSERT", "UPDATE", "REFERENCES")
ON_TABLES = ("DELETE", "TRUNCATE", "TRIGGER", "MAINTAIN")
COLUMNS = f"""
select case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end, a.attname, c.oid, a.attnum
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in {SYSTEM} and a.attnum > 0 and not a.attisdropped
"""
HELD = f"""
with columns (name, attname, oid, attnum) as ({COLUMNS})
select name, attname, privilege from columns, unnest(%(on_columns)s::text[]) privilege
where has_column_privilege(%(role)s, oid, attnum, privilege)
union
select name, '', privilege from columns, unnest(%(on_tables)s::text[]) privilege
where has_table_privilege(%(role)s, oid, privilege)
"""
# Each row is one thing that no process's role is allowed, in words.
NEVER = f"""
select 'the attribute ' || word from pg_roles,
  lateral (values ('SUPERUSER', rolsuper), ('CREATEDB', rolcreatedb), ('CREATEROLE', rolcreaterole),
                  ('REPLICATION', rolreplication), ('BYPASSRLS', rolbypassrls)) as held (word, yes)
  where rolname = %(role)s and yes
union all select 'membership in ' || roleid::regrole::text from pg_auth_members where member = %(role)s::regrole
union all select 'ownership of ' || relname from pg_class
  where relowner = %(role)s::regrole and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
union all select 'ownership of the function ' || proname from pg_proc where proowner = %(role)s::regrole
union all select 'CREATE in the schema ' || nspname from pg_namespace
  where nspname not in {SYSTEM} and nspname not like 'pg\\_t%%' and has_schema_privilege(%(role)s, oid, 'CREATE')
union all select privilege || ' in the database' from unnest(array['CREATE', 'TEMPORARY']) privilege
  where has_database_privilege(%(role)s, current_database(), privilege)
union all select 'use of the sequence ' || relname from pg_class c, unnest(array['USAGE', 'SELECT', 'UPDATE']) privilege
  where relkind = 'S' and has_sequence_privilege(%(role)s, c.oid, privilege)
union all select 'EXECUTE on ' || p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where prosecdef and prorettype <> 'trigger'::regtype and nspname not in {SYSTEM}
    and has_function_privilege(%(role)s, p.oid, 'EXECUTE') and p.oid::regprocedure::text <> all(%(functions)s)
union all select 'rows of ' || relname || ' without a policy' from pg_class
  where relname = any(%(policed)s) and relnamespace = 'public'::regnamespace and not relrowsecurity
union all select 'the policy ' || polname || ' on ' || polrelid::regclass::text from pg_policy
  where polname <> %(policy)s and (0 = any(polroles) or %(role)s::regrole = any(polroles))
"""


def allowed(process: str) -> set[Right]:
    """The row of the roles table, spelled out to single columns."""
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        columns: dict[str, list[str]] = {}
        for table, column, *_ in cursor.fetchall():
            columns.setdefault(table, []).append(column)
    rights = {Right(KINDS, kind.value, "INSERT") for kind in WRITES_KINDS[process]}
    for table, cell in {**FOR_ALL, **GRANTS[process]}.items():
        for privilege, named in privileges(cell):
            over = [""] if privilege in ON_TABLES else named or columns.get(table, [])
            rights |= {Right(table, column, privilege) for column in over}
    return rights


def held(role: str) -> set[Right]:
    """What the catalogs let a role do with tables and columns: its own grants, those of PUBLIC and of its groups."""
    parameters = {"role": role, "on_columns": list(ON_COLUMNS), "on_tables": list(ON_TABLES)}
    return {Right(*row) for row in _rows(HELD, parameters)}


def beyond(process: str, role: str) -> list[str]:
    """In words, everything that `role` can do and the row of `process` does not say."""
    parameters = {
        "role": role,
        "policed": list(ROW_POLICIES),
        "policy": f"for_{process}",
        "functions": list(FUNCTIONS.get(process, ())),
    }
    never = [row[0] for row in _rows(NEVER, parameters)]
    return list(dict.fromkeys(never)) + [str(right) for right in sorted(held(role) - allowed(process))]


def check(process: str) -> None:
    """Raises TooPowerful when the role that this process is connected as can do more than its row.

    Raises releases.NotUpgraded when the database is older than this code.
    """
    if process not in GRANTS:
        raise TooPowerful(f"{process} is no process with a database role; choose from {', '.join(GRANTS)}.")
    releases.check_is_upgraded()
    role = str(_rows("select current_user", {})[0][0])
    found = beyond(process, role)
    if found:
        raise TooPowerful(
            f"The database role {role} can do more than {process} may: {_listed(found)}. "
            f"Connect it as {role_name(process)} and run manage.py upgrade, which makes the grants right; "
            "attributes and memberships are yours to take away."
        )


def check_consumer() -> None:
    """Raises TooPowerful unless this process is one that takes jobs, with no more rights than its row.

    Raises releases.NotUpgraded when the database is older than this code.
    """
    if settings.PROCESS not in KNOW_THE_BROKER:
        known = ", ".join(KNOW_THE_BROKER)
        raise TooPowerful(
            f"{settings.PROCESS} takes no jobs from the broker; set COUNTERSEAL_PROCESS to one of {known}."
        )
    check(settings.PROCESS)


def _listed(found: list[str], most: int = 5) -> str:
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def _rows(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return list(cursor.fetchall())
