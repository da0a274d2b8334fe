"""A PostgreSQL that keeps what it has committed, and can be made to crash."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from django.core.management import call_command
from django.db import connection

from gate.config import embedded, fingerprint, provision
from gate.config.roles import PROCESSES, role_name

NAME = "counterseal"


class Server:
    """One server with the log's tables and roles, for as long as the context lasts."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.sockets = base / "run"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        embedded.init_postgres(self.base / "postgres")
        self.start()
        with embedded.superuser_connection(self.sockets) as session:
            for process in PROCESSES:
                embedded.ensure_role(session, role_name(process), "soak")
            embedded.ensure_database(session, NAME, role_name("owner"))
        self.become("owner")
        call_command("migrate", verbosity=0)
        provision.apply()
        fingerprint.record_when_changed()
        return self

    def __exit__(self, *_: object) -> None:
        connection.close()
        self.stop()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command, options = embedded.postgres_command(self.base / "postgres", self.sockets)
        embedded.clear_pid_files(self.base / "postgres", self.sockets)
        self.process = embedded.spawn(command, log=self.base / "log", death=signal.SIGQUIT, **options)
        embedded.wait_for_postgres(self.sockets, self.process).close()

    def stop(self) -> None:
        """Let it end at once, as when the machine fails: it recovers when it is started again."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(20)

    def become(self, process: str) -> None:
        """Let Django connect as a process's role from now on."""
        connection.close()
        place = {"HOST": str(self.sockets), "PORT": "", "NAME": NAME, "PASSWORD": "soak", "OPTIONS": {}}
        connection.settings_dict.update(USER=role_name(process), **place)
