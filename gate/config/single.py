"""One installation runs once, and on ports that are free."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from typing import IO


class CannotStart(Exception):
    """A sentence that says why `up` does not start, and what to do."""


def lock(path: Path, url: str) -> IO[str]:
    """Hold the installation's lock as long as the file is open. Raises CannotStart with who holds it."""
    held = path.open("a+")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.seek(0)
        raise CannotStart(
            f"It is running already: {held.read().strip()}. Stop that one with Ctrl-C, or start a second one with "
            "another COUNTERSEAL_VAR, --port and --agents-port."
        ) from None
    held.truncate(0)
    held.write(f"pid {os.getpid()}, {url}")
    held.flush()
    return held


def check_ports(port: int, agents_port: int) -> None:
    """Raises CannotStart when the planes could not listen."""
    if port == agents_port:
        raise CannotStart("The two planes need two ports: choose another --port or --agents-port.")
    _check_port(port, "--port")
    _check_port(agents_port, "--agents-port")


def _check_port(port: int, option: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise CannotStart(f"Port {port} cannot be used ({why}); choose another with {option}.") from None


def free_port(wanted: int) -> int:
    """This port when it is free, else one that is: for what nobody has to know the port of."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise CannotStart("There is no free port.")
