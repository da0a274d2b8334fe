"""This machine's processes and ports, as tests look at them."""

from __future__ import annotations

import socket
from pathlib import Path


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pids() -> list[int]:
    """Every process that runs now."""
    return [int(found.name) for found in Path("/proc").iterdir() if found.name.isdigit()]


def children_of(parent: int) -> list[int]:
    """The child processes of a process, by number."""
    return sorted(pid for pid in pids() if parent_of(pid) == parent)


def descendants(pid: int) -> list[int]:
    """All processes below a process, its own children first."""
    below = children_of(pid)
    return below + [deeper for child in below for deeper in descendants(child)]


def parent_of(pid: int) -> int:
    """The process that started it; 0 when it is gone."""
    fields = _read(pid, "stat").rpartition(") ")[2].split()
    return int(fields[1]) if fields else 0


def command_line(pid: int) -> list[str]:
    """The words that it was started with."""
    return _read(pid, "cmdline").split("\0")


def environment_of(pid: int) -> dict[str, str]:
    """What it was told in its environment."""
    pairs = (one.partition("=") for one in _read(pid, "environ").split("\0") if one)
    return {name: value for name, _, value in pairs}


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:  # it ended just now, or it is not ours to look at
        return ""
