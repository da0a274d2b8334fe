"""How a process that runs all day is told to stop: by systemd, by `up`, or with Ctrl-C."""

from __future__ import annotations

import signal
import threading


def told_to_stop() -> threading.Event:
    """An event that SIGTERM and SIGINT set from now on."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop
