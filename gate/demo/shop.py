"""A small shop's production database, with a reader, a doctor and a writer of its own.

It stands for the systems that Counterseal looks at. Nothing outside gate.demo knows a table of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from evidence import reader_role
from gate.config import embedded

DATABASE = "shop"
VIEWED = "shop_read"  # the schema of the views that investigators see
OWNER, VIEWS, READER, DOCTOR, WRITER = "shop_owner", "shop_views", "shop_reader", "shop_doctor", "shop_writer"
SQL = Path(__file__).parent / "sql"

POWERLESS = "nosuperuser nocreatedb nocreaterole noinherit noreplication nobypassrls"
# Which attributes each login has. The keys are the keys of `passwords` too.
LOGINS = {
    OWNER: f"{POWERLESS} connection limit 10",
    READER: f"{POWERLESS} connection limit 20",
    DOCTOR: f"{POWERLESS} connection limit 5",
    WRITER: f"{POWERLESS} connection limit 10",
}
# The reader's own are those of the strongest reader: see `_wall_in`.
READ_ONLY = {"default_transaction_read_only": "on", "statement_timeout": "5s", "lock_timeout": "500ms"}
SETTINGS: dict[str, dict[str, str]] = {DOCTOR: {**READ_ONLY, "search_path": "pg_catalog"}}


def provision(connection: psycopg.Connection[Any], passwords: Mapping[str, str]) -> None:
    """Make the database `shop` with its roles and its data, and bring roles and grants up to date where it is there.

    `connection` is a superuser's, in autocommit. `passwords` has one for each of the four logins. What a write has
    changed in the data stays changed.
    """
    for name, attributes in LOGINS.items():
        embedded.ensure_role(connection, name, passwords[name], attributes)
        _store_settings(connection, name)
    _ensure_views_role(connection)
    embedded.ensure_database(connection, DATABASE, OWNER)
    with _connect(connection) as shop, shop.transaction():
        if shop.execute("select to_regclass('shop.jobs') is null").fetchone() == (True,):
            _run(shop, OWNER, "tables", "data")
        if shop.execute("select to_regclass('history.job') is null").fetchone() == (True,):
            _run(shop, OWNER, "history_tables", "history_data")
        _run(shop, None, "before_views")
        _run(shop, VIEWS, "views", "history_views")
        _run(shop, None, "grants")
        _wall_in(shop)


def _wall_in(shop: psycopg.Connection[Any]) -> None:
    """Make the shop's reader the strongest that the server knows: what `manage.py reader_role shop` prints."""
    # Names in the statements are then whole.
    shop.execute("set local search_path = pg_catalog")
    for tier in reader_role.tiers(shop, READER, VIEWED):
        for statement in tier.statements:
            shop.execute(statement.encode())


def _store_settings(connection: psycopg.Connection[Any], name: str) -> None:
    for setting, value in SETTINGS.get(name, {}).items():
        connection.execute(
            sql.SQL("alter role {} set {} = {}").format(
                sql.Identifier(name), sql.Identifier(setting), sql.Literal(value)
            )
        )


def _ensure_views_role(connection: psycopg.Connection[Any]) -> None:
    if not connection.execute("select 1 from pg_roles where rolname = %s", [VIEWS]).fetchone():
        connection.execute(sql.SQL("create role {} nologin noinherit").format(sql.Identifier(VIEWS)))


def _connect(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    dsn = make_conninfo(connection.info.dsn, dbname=DATABASE, password=connection.info.password or None)
    return psycopg.connect(dsn, autocommit=True)


def _run(shop: psycopg.Connection[Any], role: str | None, *names: str) -> None:
    # What a role makes is its own; the superuser makes nothing that others later read.
    shop.execute(sql.SQL("set local role {}").format(sql.Identifier(role)) if role else "set local role none")
    for name in names:
        shop.execute((SQL / f"{name}.sql").read_bytes())
    shop.execute("set local role none")
