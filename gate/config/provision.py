"""Making the database equal to the roles table: roles, grants, row policies, and who writes which kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from audit.kinds import Kind
from audit.tasks import MONTHS_AHEAD
from gate.config.roles import FOR_ALL, FUNCTIONS, GRANTS, PROCESSES, ROW_POLICIES, WRITES_KINDS, role_name

PRIVILEGE = re.compile(r"(SELECT|INSERT|UPDATE|DELETE)(?:\(([a-z0-9_,]+)\))?")


def privileges(text: str) -> Iterator[tuple[str, list[str] | None]]:
    """The privileges of one cell of the table: ("SELECT", ["id", "seq"]), or ("INSERT", None) for all columns."""
    for word in text.split():
        matched = PRIVILEGE.fullmatch(word)
        if not matched:
            raise ValueError(f"{word!r} is not a privilege of the roles table.")
        yield matched[1], matched[2].split(",") if matched[2] else None


@transaction.atomic
def apply() -> None:
    """Bring roles, grants, policies and kinds to what the table says. Runs as the owner, in one transaction."""
    with connection.cursor() as cursor:
        # Two upgrades at once would update the same catalog rows.
        cursor.execute("select pg_advisory_xact_lock(hashtext('counterseal.roles'))")
        ensure_roles(cursor)
        _revoke_everything(cursor)
        for process, tables in GRANTS.items():
            _grant(cursor, process, {**FOR_ALL, **tables})
            _grant_functions(cursor, process)
        _drop_policies(cursor)
        for table, policies in ROW_POLICIES.items():
            _apply_policies(cursor, table, policies)
        _grant_kinds(cursor)
        cursor.execute("select audit_ensure_partitions(%s)", [MONTHS_AHEAD])


def _grant_functions(cursor: Any, process: str) -> None:
    role = sql.Identifier(role_name(process))
    for function in (name for names in FUNCTIONS.values() for name in names):
        verb, preposition = ("grant", "to") if function in FUNCTIONS.get(process, ()) else ("revoke", "from")
        _run(cursor, f"{verb} execute on function {function} {preposition} {{role}}", role=role)


def _run(cursor: Any, statement: str, **names: sql.Composable) -> None:
    cursor.execute(sql.SQL(statement).format(**names))


def ensure_roles(cursor: Any) -> None:
    """A role for each process, where there is none yet; without a password nobody can be one."""
    for process in PROCESSES:
        _ensure_role(cursor, process)


def _ensure_role(cursor: Any, process: str) -> None:
    name = role_name(process)
    cursor.execute("select 1 from pg_roles where rolname = %s", [name])
    if cursor.fetchone() is None:
        _run(cursor, "create role {role} login noinherit", role=sql.Identifier(name))


def _revoke_everything(cursor: Any) -> None:
    cursor.execute("select current_database()")
    database = sql.Identifier(cursor.fetchone()[0])
    _run(cursor, "revoke all on database {database} from public", database=database)
    _run(cursor, "revoke all on schema public from public")
    _run(cursor, "revoke all on all tables in schema public from public")
    for process in PROCESSES[1:]:
        role = sql.Identifier(role_name(process))
        _run(cursor, "revoke all on all tables in schema public from {role}", role=role)
        _run(cursor, "revoke all on all sequences in schema public from {role}", role=role)
        _run(cursor, "revoke all on schema public from {role}", role=role)
        _run(cursor, "revoke all on database {database} from {role}", database=database, role=role)
        _run(cursor, "grant connect on database {database} to {role}", database=database, role=role)
        _run(cursor, "grant usage on schema public to {role}", role=role)


def _grant(cursor: Any, process: str, tables: dict[str, str]) -> None:
    for table, cell in tables.items():
        for privilege, columns in privileges(cell):
            listed = (
                sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Identifier, columns))) if columns else sql.SQL("")
            )
            _run(
                cursor,
                f"grant {privilege} {{columns}} on {{table}} to {{role}}",
                columns=listed,
                table=sql.Identifier(table),
                role=sql.Identifier(role_name(process)),
            )


def _drop_policies(cursor: Any) -> None:
    # All of them, so that one which left the table leaves the database too.
    cursor.execute("select tablename, policyname from pg_policies where schemaname = 'public'")
    for table, policy in cursor.fetchall():
        _run(cursor, "drop policy {p} on {t}", p=sql.Identifier(policy), t=sql.Identifier(table))


def _apply_policies(cursor: Any, table: str, policies: dict[str, str]) -> None:
    _run(cursor, "alter table {table} enable row level security", table=sql.Identifier(table))
    for process, condition in policies.items():
        names = {"policy": sql.Identifier(f"for_{process}"), "table": sql.Identifier(table)}
        _run(
            cursor,
            "create policy {policy} on {table} to {role} using ({condition})",
            role=sql.Identifier(role_name(process)),
            condition=sql.SQL(condition),
            **names,
        )


def _grant_kinds(cursor: Any) -> None:
    """Say who may write which kind: see audit/migrations/_log_sql.py. A kind that is new gets its column."""
    cursor.execute("select attname from pg_attribute where attrelid = 'audit_kind'::regclass")
    there = {name for (name,) in cursor.fetchall()}
    for kind in (kind for kind in Kind if kind.value not in there):
        _run(cursor, "alter table audit_kind add {kind} boolean", kind=sql.Identifier(kind.value))
    _run(cursor, "revoke insert on audit_kind from {owner}", owner=sql.Identifier(role_name("owner")))
    for process, kinds in ((process, kinds) for process, kinds in WRITES_KINDS.items() if kinds):
        columns = sql.SQL(", ").join(sql.Identifier(kind.value) for kind in kinds)
        role = sql.Identifier(role_name(process))
        _run(cursor, "grant insert ({columns}) on audit_kind to {role}", columns=columns, role=role)
