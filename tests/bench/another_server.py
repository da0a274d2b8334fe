"""postgres-mcp in restricted mode, for comparison: installed into a directory of the benchmark's own, asked over stdio.

It is MIT-licensed and none of our dependencies. It needs Python 3.12 or newer, and pins a pglast that the index does
not have any more, so its parts are installed one by one (https://github.com/crystaldba/postgres-mcp).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OLDEST = (3, 12)
ITSELF = ("--no-deps", "postgres-mcp==0.3.0")
NEEDS = ("mcp[cli]==1.30.0", "pglast==7.20", "psycopg[binary]", "psycopg-pool", "attrs", "humanize", "instructor")
PATIENCE = 300  # seconds for an installation


def install(base: Path) -> Path | None:
    """Its program, in an environment below `base`; None, with the reason printed, where it cannot be installed."""
    python = _interpreter()
    if python is None:
        _say_why(f"there is no Python {OLDEST[0]}.{OLDEST[1]} or newer; name one in COUNTERSEAL_BENCH_PYTHON")
        return None
    try:
        _run(python, "-m", "venv", str(base / "venv"))
        for words in (ITSELF, NEEDS):
            _run(str(base / "venv" / "bin" / "pip"), "install", "-q", *words)
    except (OSError, subprocess.SubprocessError) as error:
        _say_why(str(error)[:200])
        return None
    return base / "venv" / "bin" / "postgres-mcp"


def _say_why(it_is_left_out: str) -> None:
    print(f"postgres-mcp is left out: {it_is_left_out}")  # noqa: T201


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)


def _interpreter() -> str | None:
    named = os.environ.get("COUNTERSEAL_BENCH_PYTHON", "")
    on_path = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 20)]
    of_pyenv = sorted(str(one) for one in (Path.home() / ".pyenv" / "versions").glob("3.*/bin/python"))
    for python in (named, sys.executable, *on_path, *of_pyenv):
        if python and _is_new_enough(python):
            return python
    return None


def _is_new_enough(python: str) -> bool:
    command = [python, "-c", f"import sys, venv; sys.exit(sys.version_info < {OLDEST})"]
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        return False


class Server:
    """A running one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request. Raises RuntimeError when it is refused or fails."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            told = json.loads(self._read())
            if told.get("id") == self._number:
                break
        if "error" in told or told["result"].get("isError"):
            raise RuntimeError(f"postgres-mcp: {json.dumps(told)[:300]}")
        result: dict[str, Any] = told["result"]
        return result

    def greet(self) -> None:
        """The handshake that comes before all else."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(message)}\n")
        self.process.stdin.flush()

    def _read(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("postgres-mcp hung up.")
        return line


@contextmanager
def running(program: Path, dsn: str) -> Iterator[Server]:
    """One that has said hello, in restricted mode, until the block ends."""
    process = subprocess.Popen(
        [str(program), "--access-mode", "restricted", dsn],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        server = Server(process)
        server.greet()
        yield server
    finally:
        process.kill()
        process.wait(10)
