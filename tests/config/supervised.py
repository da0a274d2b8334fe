"""A real `manage.py up` on free ports: how it is started, waited for and looked at."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.machine import children_of, command_line, environment_of, free_port, pids

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
READY = "Ctrl-C stops everything"


@dataclass
class Up:
    """A supervisor that is running, and where."""

    process: subprocess.Popen[str]
    var: Path
    ports: tuple[int, int]

    def health(self, port: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def is_healthy(self) -> bool:
        return [self.health(port) for port in self.ports] == [200, 200]

    def child(self, *words: str) -> int:
        """The pid of the one child whose command line has all these words; 0 when there is none."""
        for pid in children_of(self.process.pid):
            line = command_line(pid)
            if all(word in line for word in words):
                return pid
        return 0


def start(var: Path, *words: str, told: Mapping[str, str] | None = None, **options: Any) -> Up:
    """A supervisor with these further words, in an environment that names no other installation."""
    ports = (free_port(), free_port())
    ours = ("COUNTERSEAL_", "DATABASE_URL", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    where = ["--port", str(ports[0]), "--agents-port", str(ports[1])]
    process = subprocess.Popen(
        [sys.executable, ROOT / "manage.py", "up", *where, *words],
        env={**kept, "COUNTERSEAL_VAR": str(var), **(told or {})}, text=True, start_new_session=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options},
    )  # fmt: skip
    return Up(process, var, ports)


def said_until(process: subprocess.Popen[str], words: str = READY) -> str:
    """All that it says until these words, which by default say that it is ready."""
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"It ended with {process.wait()}: {said}")


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Look again and again; what did not come about is named."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} s: {what}"
        time.sleep(0.1)


def left_of(var: Path) -> list[str]:
    """The command lines of whatever still runs for this installation."""
    ours = {pid for pid in pids() if str(var) in " ".join(command_line(pid))}
    ours |= {pid for pid in pids() if environment_of(pid).get("COUNTERSEAL_VAR") == str(var)}
    return [" ".join(command_line(pid))[:120] for pid in ours]
