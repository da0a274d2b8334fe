"""One child process of `manage.py up`: started, started again when it dies, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from gate.config import embedded

LONGEST_WAIT = 30.0  # seconds between two tries
STEADY_AFTER = 30.0  # a child that has lived so long starts counting its failures anew
LARGEST_LOG = 10_000_000  # bytes; then the file is put aside as NAME.log.1


class Stage(IntEnum):
    """The order of stopping: who asks for work first, who keeps it last."""

    ASKING = 0
    WORKING = 1
    BROKER = 2
    DATABASE = 3


@dataclass
class Child:
    """A program that is meant to run as long as we do."""

    name: str
    command: Sequence[str]
    stage: Stage
    log: Path
    options: dict[str, Any] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    death_signal: int = signal.SIGTERM  # what the kernel sends when we are killed
    grace: float = 10.0
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    not_before: float = 0.0

    def start(self) -> None:
        """Start it, with its output at the end of its log."""
        _put_aside(self.log)
        self.started_at, self.not_before = time.monotonic(), 0.0
        self.process = embedded.spawn(self.command, log=self.log, death=self.death_signal, **self.options)

    def is_running(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.poll() is None

    def tend(self) -> str | None:
        """Start it again when it has died, after a wait that doubles. A sentence when it was found dead just now."""
        now = time.monotonic()
        if self.is_running():
            if self.failures and now - self.started_at > STEADY_AFTER:
                self.failures = 0
            return None
        if self.not_before:
            return self._try_again() if now >= self.not_before else None
        return f"{self.name} ended ({_how(self.process)}); {self._wait_longer()}. See {self.log}."

    def _try_again(self) -> str | None:
        try:
            self.start()
        except OSError as error:  # a full disk, or no more processes: it may pass
            return f"{self.name} cannot be started ({error.strerror}); {self._wait_longer()}."
        return None

    def _wait_longer(self) -> str:
        wait = min(0.5 * 2**self.failures, LONGEST_WAIT)
        self.failures += 1
        self.not_before = time.monotonic() + wait
        return f"it starts again in {wait:.1f} s"

    def ask_to_stop(self) -> None:
        """Send the signal that it stops on."""
        if self.process is not None and self.is_running():
            self.process.send_signal(self.stop_signal)

    def wait_stopped(self) -> bool:
        """Wait for its end. False when it had to be killed, with all that it started."""
        if self.process is None:
            return True
        try:
            self.process.wait(self.grace)
        except subprocess.TimeoutExpired:
            self._kill()
            return False
        return True

    def _kill(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _how(process: subprocess.Popen[bytes] | None) -> str:
    code = process.returncode if process else None
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def _put_aside(log: Path) -> None:
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))


def tail(log: Path, lines: int = 12) -> str:
    """The last lines of a log, for an error that would otherwise only name the file."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
