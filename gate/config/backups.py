"""The database in one file and back, by PostgreSQL's own programs. They run as the owner, like an upgrade."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from audit import log
from audit.kinds import Kind
from audit.models import Entry
from gate.config import database, embedded, environment, place, provision, secrets_file, services
from gate.config.roles import PROCESSES, role_name
from gate.config.services import Installation
from gate.config.single import lock

# Grants are in it: some of what guards the log is a right that a migration took away, and no upgrade would again.
FORM = ("--no-owner", "--no-password")
# What a superuser makes beside it for `manage.py own_metrics` is not ours to bring back, and names roles that another
# server does not have.
LEFT_OUT = ("--exclude-schema=own_read", "--exclude-schema=pg_catalog")


class CannotKeep(Exception):
    """A sentence that says why there is no backup, or why nothing was restored."""


def back_up(target: Path) -> None:
    """Write everything, grants too but no role, to a file that only our account reads.

    Raises CannotKeep. An interrupted backup leaves no file of that name.
    """
    if target.exists():
        raise CannotKeep(f"{target} is there already; name another file.")
    draft = target.with_name(f"{target.name}.new")
    # Made anew with its mode before anything is written, so that nobody has it open.
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        _run("pg_dump", *FORM, *LEFT_OUT, "--format=custom", f"--file={draft}", f"--dbname={_conninfo()}")
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


def restore(source: Path) -> log.Recorded:
    """Fill an empty database from a backup, bring it to this version, and record where it came from.

    Raises CannotKeep, and then the database is as empty as before, unless the upgrade to this version failed.
    """
    check_is_backup(source)
    check_is_empty()
    with connection.cursor() as cursor:
        provision.ensure_roles(cursor)  # the dump's grants and policies name them
    _run("pg_restore", *FORM, "--single-transaction", "--exit-on-error", f"--dbname={_conninfo()}", str(source))
    call_command("upgrade", verbosity=0)
    return _record(source)


def check_is_backup(source: Path) -> None:
    """Raises CannotKeep for anything but a file that PostgreSQL can restore."""
    if not source.is_file():
        raise CannotKeep(f"There is no file {source}.")
    _run("pg_restore", "--list", str(source))


def check_is_empty() -> None:
    """Raises CannotKeep for a database that has a table: a restore adds to nothing and replaces nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace"
        )
        found = {name for (name,) in cursor.fetchall()}
    if "audit_entry" in found and Entry.objects.exists():
        raise CannotKeep("This database has entries already. Restore into a new one; the log is never replaced.")
    if found:
        raise CannotKeep("This database has tables already. Restore into a new, empty one.")


@contextmanager
def own_server() -> Iterator[None]:
    """The embedded server, for a restore before the first `up`. Raises CannotStart while an `up` runs."""
    var = environment.var_dir()
    place.prepare(var)
    with lock(var / "up.lock", "restoring a backup"):
        secrets = secrets_file.create_missing()
        server = services.postgres(Installation(var, database.run_dir(), secrets, 0, 0, has_demo=False))
        server.start()
        try:
            assert server.process is not None  # just started
            with closing(embedded.wait_for_postgres(database.run_dir(), server.process)) as superuser:
                for process in PROCESSES:
                    embedded.ensure_role(superuser, role_name(process), secrets[f"db_{process}"])
                embedded.ensure_database(superuser, database.NAME, role_name("owner"))
            connection.settings_dict["PASSWORD"] = secrets["db_owner"]  # drawn after the settings were read
            yield
        finally:
            connection.close()
            server.ask_to_stop()
            server.wait_stopped()


def _record(source: Path) -> log.Recorded:
    newest = Entry.objects.values_list("seq", flat=True).order_by("-seq").first()
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return log.record(
        Kind.LOG_RESTORED,
        log.Actor.process(),
        summary=f"Restored from {source.name}; its newest entry is A-{newest}",
        args={"file": source.name, "sha256": digest, "newest": newest},
    )


def _conninfo() -> str:
    connection.ensure_connection()
    return str(connection.connection.info.dsn)


def _run(program: str, *words: str) -> None:
    told: dict[str, Any] = {"PGPASSWORD": str(connection.settings_dict["PASSWORD"])}
    command = [str(embedded.postgres_bin() / program), *words]
    done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True)
    if done.returncode:
        raise CannotKeep(f"{program} failed: {done.stderr.strip()}")
