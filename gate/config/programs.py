"""Our own processes, as one table: `up` starts them, `units` prints them, the README lists them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from gate.config.environment import BASE_DIR


@dataclass(frozen=True)
class Program:
    """One process: its name, the row of the roles table that it runs as, and its words after manage.py or Celery's."""

    name: str
    title: str
    process: str
    words: tuple[str, ...]
    is_celery: bool = False
    needs: str = ""  # a variable without which `up` does not start it: it would have nothing to do

    @property
    def is_worker(self) -> bool:
        """Whether it takes jobs from a queue, and so may be in the midst of one when it is told to stop."""
        return self.words[0] == "worker"

    def command(self, python: str = sys.executable, root: Path = BASE_DIR) -> list[str]:
        """Its command line under a Python, for the project in `root`."""
        if self.is_celery:
            return [python, "-m", "celery", "-A", "gate.config.celery", *self.words]
        return [python, str(root / "manage.py"), *self.words]


def _worker(queue: str, title: str, process: str, *, needs: str = "") -> Program:
    words = (
        "worker", "--queues", queue, "--hostname", f"{queue}@%h", "--concurrency", "1", "--loglevel", "INFO",
        "--heartbeat-interval", "5", "--without-gossip", "--without-mingle",
    )  # fmt: skip
    return Program(queue, title, process, words, is_celery=True, needs=needs)


# In the order of starting.
PROGRAMS = (
    Program("relay", "relay", "worker", ("relay",)),
    Program("people", "people's plane", "people", ("serve", "people")),
    Program("agents", "agents' plane", "agents", ("serve", "agents")),
    _worker("verdicts", "verdict worker", "worker"),
    # What nobody waits for with a draft before them: rules tried on everything on record, and drafts examined.
    _worker("trials", "trial worker", "worker"),
    _worker("reads", "reads worker", "reads"),
    # It talks to a model: a process of its own, with a key and no credential.
    _worker("answers", "answering worker", "answers", needs="COUNTERSEAL_ANSWERING_MODEL"),
    _worker("writes", "writer", "writer"),
    Program("seal", "sealer", "sealer", ("seal",)),
    # A process of its own: who verifies has no broker to be asked through, and no key and no credential to lose.
    Program("verify", "verifier", "auditor", ("verify_log", "--every", "24")),
    Program("witness", "witness", "witness", ("witness",)),
    Program("publish", "publisher", "publisher", ("publish",)),
    Program("beat", "beat", "worker", ("beat", "--loglevel", "INFO", "--pidfile", ""), is_celery=True),
)
# Started by a timer. One that fails is a failed unit, which whoever watches the machine sees; a line in a log is not.
DRILL = Program("drill", "tamper drill", "drill", ("tamper_drill",))
UPGRADE = Program("upgrade", "upgrade of the database", "owner", ("upgrade",))
