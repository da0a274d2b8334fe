"""The running product: `manage.py up` with its demo in a state directory of its own, and a look into its databases."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gate.config import embedded
from tests.machine import free_port

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 180.0  # seconds, on a busy machine


@dataclass(frozen=True)
class Product:
    """A running product: its planes, who may sign in, the tokens of its agent and its monitor, and its directory."""

    up: subprocess.Popen[bytes]
    var: Path
    people: str
    agents: str
    passwords: dict[str, str]
    agent_token: str
    intake_token: str

    def health(self) -> list[int]:
        """What /healthz of both planes answers; 0 where nobody does."""
        return [_health(url) for url in (self.people, self.agents)]

    def rows(self, statement: str, values: Sequence[Any] = (), database: str = "counterseal") -> list[tuple[Any, ...]]:
        """What a query finds, as the server's superuser. Raises psycopg.Error."""
        with closing(embedded.superuser_connection(self.var / "run", database)) as connection:
            return connection.execute(statement, values).fetchall()

    def stop(self) -> str:
        """Stop it as Ctrl-C does. What is wrong with how it ended, as a sentence; empty when nothing is."""
        self.up.send_signal(signal.SIGINT)
        try:
            code = self.up.wait(90)
        except subprocess.TimeoutExpired:
            self.up.kill()
            return "`up` did not stop within 90 s of Ctrl-C."
        return f"`up` ended with exit code {code} after Ctrl-C." if code else ""

    def forget(self) -> None:
        """Delete its directory."""
        shutil.rmtree(self.var.parent, ignore_errors=True)


def start() -> Product:
    """Start it and wait for its demo. Raises RuntimeError with the ends of its logs."""
    var = _directory() / "var"
    var.mkdir(mode=0o755)
    with (var / "up.out").open("wb") as output:
        up = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(free_port()), "--agents-port", str(free_port())],
            cwd=ROOT, env=_environment(var), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + START_TIMEOUT
    while b"Ctrl-C stops everything" not in (var / "up.out").read_bytes():
        if up.poll() is not None or time.monotonic() > deadline:
            up.kill()
            raise RuntimeError(f"It did not start:\n{(var / 'up.out').read_text()}\nIts logs are in {var / 'log'}.")
        time.sleep(0.2)
    return _described(up, var)


def _described(up: subprocess.Popen[bytes], var: Path) -> Product:
    demo = json.loads((var / "demo.json").read_text())
    urls = demo["urls"]
    return Product(up, var, urls["people"], urls["agents"], demo["people"], demo["agent_token"], _intake_token(var))


def _intake_token(var: Path) -> str:
    command = [sys.executable, "manage.py", "intake_token", "kills-monitor"]
    done = subprocess.run(command, cwd=ROOT, env=_environment(var), capture_output=True, text=True, check=True)
    return next(word for word in done.stdout.split() if word.startswith("csi_"))


def _environment(var: Path) -> dict[str, str]:
    ours = ("COUNTERSEAL_", "DATABASE_URL", "DJANGO_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
        "COUNTERSEAL_VAR": str(var),
        # One agent and one person do here what many do elsewhere, and at once.
        "COUNTERSEAL_VIEWING_SECONDS": "0",
        "COUNTERSEAL_PROPOSALS_PER_HOUR": "1000000",
        "COUNTERSEAL_APPROVALS_PER_HOUR": "1000000",
    }


def _directory() -> Path:
    made = Path(tempfile.mkdtemp(prefix="counterseal-kills-"))
    made.chmod(0o755)  # PostgreSQL runs as another account where we are root
    return made


def _health(url: str) -> int:
    where = urlsplit(url)
    with closing(http.client.HTTPConnection("127.0.0.1", where.port, timeout=5)) as connection:
        try:
            connection.request("GET", "/healthz", headers={"Host": where.netloc})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
