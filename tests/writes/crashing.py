"""A target's server that can be crashed and started again, with a shop in it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from gate.config import embedded
from tests.writes.conftest import TABLES, WRITER

# A log that is written late: what was not flushed on purpose is lost with the server.
SETTINGS = {"fsync": "off", "wal_writer_delay": "10s", "shared_buffers": "32MB", "max_connections": "40"}


class Server:
    """A server of its own; `crash` is an immediate shutdown, as when its machine is lost, and a new start."""

    def __init__(self, base: Path) -> None:
        self._base = base
        embedded.init_postgres(base / "postgres")
        self._process = self._start()

    @property
    def dsn(self) -> str:
        return f"host={self._base / 'run'} user={WRITER} password=w dbname=postgres"

    def superuser(self) -> psycopg.Connection[Any]:
        """A superuser's autocommit connection."""
        return embedded.superuser_connection(self._base / "run")

    def go_down(self) -> None:
        """Lose whatever was not flushed."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(20)

    def come_back(self) -> None:
        """Start again and recover."""
        embedded.clear_pid_files(self._base / "postgres", self._base / "run")
        self._process = self._start()

    def crash(self) -> None:
        """Go down and come back."""
        self.go_down()
        self.come_back()

    def _start(self) -> subprocess.Popen[bytes]:
        command, options = embedded.postgres_command(self._base / "postgres", self._base / "run", **SETTINGS)
        process = embedded.spawn(command, log=self._base / "log", death=signal.SIGQUIT, **options)
        embedded.wait_for_postgres(self._base / "run", process).close()
        return process


@contextmanager
def server(jobs: int = 20) -> Iterator[Server]:
    """A running server with the shop and that many jobs; it ends with the block."""
    base = Path(tempfile.mkdtemp(prefix="counterseal-crashing-"))
    base.chmod(0o755)
    made = Server(base)
    try:
        with made.superuser() as connection:
            embedded.ensure_role(connection, WRITER, "w")
            connection.execute(TABLES)
            connection.execute(
                "insert into shop.jobs (job_id, kind, state) select g, 'payout', 'running'"
                " from generate_series(21, %s) g",
                [jobs],
            )
        yield made
    finally:
        made.go_down()
        shutil.rmtree(base, ignore_errors=True)
