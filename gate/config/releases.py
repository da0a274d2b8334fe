"""The database's release and ours. A release only adds, so that processes of the one before work on beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader

# An upgrade that waits for a table makes everyone behind it wait, too.
PATIENCE = "3s"
BUSY = ("55P03", "40P01")  # a lock that did not come in time, and two that wait for each other
HOLDERS = """
select distinct pid, usename from pg_locks join pg_stat_activity using (pid)
where locktype = 'relation' and granted and pid <> pg_backend_pid() and relation >= 16384
  and database = (select oid from pg_database where datname = current_database())
order by pid
"""


class NotUpgraded(Exception):
    """The sentence for a process whose database lacks what its code needs."""


class Busy(Exception):
    """The sentence for an upgrade that would have to wait, and did not."""


def missing() -> list[str]:
    """Migrations of this code that the database lacks, like "triage.0002_ticket"."""
    needed = MigrationLoader(None, ignore_no_migrations=True).disk_migrations or {}
    return [f"{app}.{name}" for app, name in sorted(set(needed) - _applied())]


def _applied() -> set[tuple[str, str]]:
    with connection.cursor() as cursor:
        # A database that no upgrade has seen has no such table, and one that it did not finish has no grant on it.
        cursor.execute("select coalesce(has_table_privilege(to_regclass('django_migrations'), 'select'), false)")
        if not cursor.fetchone()[0]:
            return set()
        cursor.execute("select app, name from django_migrations")
        return set(cursor.fetchall())


def check_is_upgraded() -> None:
    """Raises NotUpgraded when the database lacks a migration. One that is newer is taken: releases only add."""
    lacking = missing()
    if lacking:
        raise NotUpgraded(
            f"The database lacks {len(lacking)} of this release's migrations, {lacking[-1]} among them; "
            "run manage.py upgrade of this release first."
        )


@contextmanager
def upgrading() -> Iterator[None]:
    """One upgrade at a time, which gives up rather than wait for a table.

    Raises Busy; the migrations before the one that had to wait stay, and the next upgrade goes on from there.
    """
    _run("select set_config('lock_timeout', %s, false)", PATIENCE)
    if not _run("select pg_try_advisory_lock(hashtext('counterseal.upgrade'))")[0][0]:
        raise Busy("Another upgrade of this database is running; wait for its end.")
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) not in BUSY:
            raise
        raise Busy(_busy()) from error
    finally:
        if connection.is_usable():
            _run("select pg_advisory_unlock(hashtext('counterseal.upgrade'))")
            _run("select set_config('lock_timeout', '0', false)")


def _busy() -> str:
    holders = ", ".join(f"{role} (pid {pid})" for pid, role in _run(HOLDERS))
    return (
        f"A table was in use for longer than {PATIENCE}, so the upgrade stopped rather than make everyone wait"
        f"{f'; tables are held by {holders}' if holders else ''}. Run it again, when the long transaction is over."
    )


def _run(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return list(cursor.fetchall())
