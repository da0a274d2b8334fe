"""A database like production's and the roles that read it, made by the cluster's superuser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from evidence import reader_role

DATA = Path(__file__).parents[1] / "data" / "attacks"
DATABASE = "scratch"
SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "'5s'",
    "lock_timeout": "'500ms'",
    "idle_in_transaction_session_timeout": "'10s'",
    "transaction_timeout": "'15s'",
    "search_path": "app_ro",
    "temp_file_limit": "'64MB'",
}


def connect(socket: Path, user: str = "postgres", **more: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(dsn(socket, user), autocommit=True, **more)


def dsn(socket: Path, user: str, database: str = DATABASE) -> str:
    password = "" if user == "postgres" else f" password=test-{user}"
    return f"host={socket} dbname={database} user={user}{password}"


def create(socket: Path, database: str = DATABASE) -> None:
    """The database and its roles: two readers, of which only `strong_reader` is walled in later, and a doctor."""
    with psycopg.connect(dsn(socket, "postgres", "postgres"), autocommit=True) as server:
        for role in ("app_owner", "app_worker", "strong_reader", "plain_reader", "scratch_doctor"):
            if not server.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone():
                server.execute(f"create role {role} login noinherit password 'test-{role}'")
        server.execute(f"drop database if exists {database} (force)")
        server.execute(f"create database {database} owner app_owner")
    with psycopg.connect(dsn(socket, "postgres", database), autocommit=True) as own:
        own.execute((DATA / "sample_db.sql").read_text())
        for role in ("strong_reader", "plain_reader"):
            _first_tier(own, role)
        doctor(own)


def _first_tier(own: psycopg.Connection[Any], role: str) -> None:
    for name, value in SETTINGS.items():
        own.execute(f"alter role {role} set {name} = {value}")
    own.execute(f"alter role {role} connection limit 30")
    own.execute(f"grant usage on schema app_ro, app to {role}")
    own.execute(f"grant select on app_ro.jobs, app_ro.payments, app_ro.tickets to {role}")
    own.execute(f"grant select (id, tenant, body) on app.tickets to {role}")
    own.execute(f"grant execute on function app_ro.find_job(bigint) to {role}")


def second_tier(own: psycopg.Connection[Any], database: str = DATABASE) -> None:
    """Take from PUBLIC what it has in this database."""
    own.execute(f"revoke all on database {database} from public")
    own.execute(f"grant connect on database {database} to strong_reader, plain_reader, scratch_doctor, app_worker")
    own.execute("revoke all on schema public from public")
    own.execute("revoke execute on all routines in schema public, app, app_ro from public")
    own.execute("revoke usage on language plpgsql from public")


def third_tier(own: psycopg.Connection[Any]) -> None:
    """Take from PUBLIC what the catalogs give it: the rest of what `manage.py reader_role` prints."""
    with own.transaction():
        own.execute("set local search_path = pg_catalog")
        for tier in reader_role.tiers(own, "strong_reader", "app_ro"):
            for statement in tier.statements:
                own.execute(statement.encode())


def doctor(own: psycopg.Connection[Any]) -> None:
    own.execute("grant select on pg_catalog.pg_roles, pg_catalog.pg_auth_members to scratch_doctor")
    own.execute("grant select on pg_catalog.pg_db_role_setting, pg_catalog.pg_largeobject_metadata to scratch_doctor")
    own.execute("grant execute on function pg_catalog.pg_control_system() to scratch_doctor")


def fingerprint(own: psycopg.Connection[Any]) -> list[Any]:
    """Everything durable that an attack could change: rows, sequences, catalogs, large objects, roles."""
    tables = ("app.jobs", "app.payments", "app.secrets", "app.tickets", "app.read_log", "public.legacy_notes")
    found: list[Any] = [own.execute(f"select md5(coalesce(string_agg(t::text, '|'), '')) from {t} t").fetchone()
                        for t in tables]  # fmt: skip
    for query in (
        "select count(*), max(oid) from pg_class",
        "select count(*), max(oid) from pg_proc",
        "select md5(string_agg(rolname || rolsuper || coalesce(rolpassword, ''), '|' order by oid)) from pg_authid",
        "select count(*) from pg_auth_members",
        "select md5(string_agg(setconfig::text, '|' order by setrole)) from pg_db_role_setting",
        "select last_value, is_called from app.ticket_seq",
        "select count(*) from pg_largeobject_metadata",
        "select count(*) from pg_prepared_xacts",
        "select count(*) from pg_replication_slots",
        "select count(*) from pg_publication",
        "select count(*) from pg_extension",
        "select count(*) from pg_locks where locktype = 'advisory'",
    ):
        found.append(own.execute(query).fetchone())
    return found
