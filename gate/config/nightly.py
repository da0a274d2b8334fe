"""The tamper drill under `manage.py up`: once a night, as the timer of systemd runs it elsewhere."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gate.config import embedded

HOUR = 3  # UTC, as the timer's
SETTLED_AFTER = 600.0  # seconds after the start: a machine that was off at night drills then
GRACE = 10.0


@dataclass
class Nightly:
    """A command that runs once a night. When it ran last is when its mark was touched: restarts do not count."""

    name: str
    command: Sequence[str]
    mark: Path
    log: Path
    options: Mapping[str, Any]
    began: float = field(default_factory=time.monotonic)
    process: subprocess.Popen[bytes] | None = None

    def tend(self, now: datetime) -> str | None:
        """Start it when it is due. A sentence when it has ended with a failure just now."""
        if self.process is not None:
            return self._look()
        if time.monotonic() - self.began >= SETTLED_AFTER and self.is_due(now):
            return self._start()
        return None

    def _start(self) -> str | None:
        try:
            self.mark.touch()
            self.process = embedded.spawn(self.command, log=self.log, death=signal.SIGTERM, **self.options)
        except OSError as error:  # a full disk, or no more processes: tried again in a while
            self.began = time.monotonic()
            return f"The {self.name} cannot be started ({error.strerror})."
        return None

    def is_due(self, now: datetime) -> bool:
        """Whether a night has come since it ran last."""
        night = now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
        night -= timedelta(days=1) if night > now else timedelta(0)
        try:
            return datetime.fromtimestamp(self.mark.stat().st_mtime, UTC) < night
        except FileNotFoundError:
            return True

    def stop(self) -> None:
        """End it when it runs: it was asked to with Ctrl-C, so that it takes its scratch server with it."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _look(self) -> str | None:
        assert self.process is not None
        code = self.process.poll()
        if code is None:
            return None
        self.process = None
        return f"The {self.name} ended with exit code {code}. See {self.log}." if code else None
