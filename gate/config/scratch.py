"""A database to spoil: on a server of its own that is gone afterwards, or a new one on a server that was named.

It should not stand beside the log: what is open in any database of a server keeps the sealer of that server waiting.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dj_database_url
import psycopg
from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend
from psycopg import sql

from audit import streams
from gate.config import embedded

ENGINE = "django.db.backends.postgresql"
# Nothing of it has to outlive the machine.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "20"}


@contextmanager
def database(url: str) -> Iterator[BaseDatabaseWrapper]:
    """Let Django stand in a new database with the log's tables, and give the one where it stood before.

    Without a URL the embedded server is started for it. Raises EmbeddedError, and django.db.Error.
    """
    with _on_server(url) if url else _on_own_server() as settings, standing_in(settings) as before:
        call_command("migrate", "audit", interactive=False, verbosity=0)
        yield before


@contextmanager
def standing_in(settings: dict[str, Any]) -> Iterator[BaseDatabaseWrapper]:
    """Let the default connection be another one; gives the one that it was."""
    before = connections["default"]
    backend = load_backend(settings["ENGINE"])
    connections["default"] = backend.DatabaseWrapper({**before.settings_dict, **settings}, "default")
    try:
        yield before
    finally:
        connections["default"].close()
        streams.close()
        connections["default"] = before


@contextmanager
def _on_server(url: str) -> Iterator[dict[str, Any]]:
    settings = dict(dj_database_url.parse(url))
    name = f"counterseal_drill_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            yield {**settings, "ENGINE": ENGINE, "NAME": name}
        finally:
            session.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@contextmanager
def _on_own_server() -> Iterator[dict[str, Any]]:
    base = Path(tempfile.mkdtemp(prefix="counterseal-drill-"))
    base.chmod(0o755)  # the server's account has to get in; its own directories are closed
    try:
        embedded.init_postgres(base / "postgres")
        command, options = embedded.postgres_command(base / "postgres", base / "run", **CARELESS)
        server = embedded.spawn(command, log=base / "log", death=signal.SIGQUIT, **options)
        try:
            embedded.wait_for_postgres(base / "run", server).close()
            yield {"ENGINE": ENGINE, "HOST": str(base / "run"), "PORT": "", "NAME": "postgres",
                   "USER": embedded.SUPERUSER, "PASSWORD": ""}  # fmt: skip
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(10)
    finally:
        shutil.rmtree(base, ignore_errors=True)
