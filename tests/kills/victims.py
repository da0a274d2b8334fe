"""What can be killed: every process of the running product but its supervisor."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import psycopg

from tests.kills.product import Product
from tests.machine import children_of, command_line, descendants

WORKERS = {
    "verdict worker": "worker verdicts",
    "trial worker": "worker trials",
    "reads worker": "worker reads",
    "writer": "worker writes",
}
# A part of the command line of each, and of no other child of the supervisor.
WORDS = {
    "verdict worker": "--queues verdicts",
    "trial worker": "--queues trials",
    "reads worker": "--queues reads",
    "writer": "--queues writes",
    "relay": "manage.py relay",
    "beat": "gate.config.celery beat",
    "broker": "valkey-server",
    "database": "postgres -D",
    "people's plane": "serve people",
    "agents' plane": "serve agents",
}
# Whose heartbeat shows that a victim is at work again, and not only there.
HEARTBEATS = {**{name: (process,) for name, process in WORKERS.items()}, "relay": ("relay",)}
HEARTBEATS["broker"] = tuple(WORKERS.values())


@dataclass(frozen=True)
class Victim:
    """Processes that a signal goes to, and what is said to be killed."""

    name: str
    part: str  # all of it, its main process, its child, or one session of the database
    pids: tuple[int, ...]

    def __str__(self) -> str:
        return self.name if self.part == "all" else f"{self.name} ({self.part})"


def find(product: Product, name: str, part: str = "all") -> Victim:
    """The processes of a name that run now; none while it is away."""
    main = _main(product, name)
    below = descendants(main) if main else []
    chosen = {"all": [main, *below], "main": [main], "child": below[:1], "session": _sessions(below)[:1]}[part]
    return Victim(name, part, tuple(pid for pid in chosen if pid))


def _main(product: Product, name: str) -> int:
    return next((pid for pid in children_of(product.up.pid) if WORDS[name] in " ".join(command_line(pid))), 0)


def _sessions(pids: list[int]) -> list[int]:
    """Backends that serve somebody, and not the database's own helpers."""
    return [pid for pid in pids if "[local]" in " ".join(command_line(pid))]


def is_back(product: Product, victim: Victim, since: datetime) -> bool:
    """Whether what was killed runs again under other pids and has been seen at work since."""
    main = _main(product, victim.name)
    if not main or (victim.part in ("all", "main") and main in victim.pids):
        return False
    if victim.name in WORKERS and not set(children_of(main)) - set(victim.pids):
        return False
    return product.health() == [200, 200] and _has_beaten(product, victim.name, since)


def is_well(product: Product, victim: Victim, since: datetime) -> bool:
    """Whether what stood still is at work again, or has been replaced."""
    return (
        bool(_main(product, victim.name))
        and product.health() == [200, 200]
        and _has_beaten(product, victim.name, since)
    )


def _has_beaten(product: Product, name: str, since: datetime) -> bool:
    wanted = set(HEARTBEATS.get(name, ()))
    try:
        seen = product.rows("select process from audit_heartbeat where at > %s", [since]) if wanted else []
    except psycopg.Error:
        return False
    return wanted <= {process for (process,) in seen}


def let_go(product: Product) -> None:
    """Wake whatever may still stand still, so that it can be stopped."""
    for pid in descendants(product.up.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def is_all_well(product: Product) -> bool:
    """Whether everything runs and both planes are well."""
    return all(_main(product, name) for name in WORDS) and product.health() == [200, 200]
