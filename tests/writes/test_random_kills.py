"""Writers killed and target servers crashed at random: executed is what has its effect exactly once.

`python -m tests.kills.writes --kills 200` is the long run of this.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.models import Outbox
from gate.config.database import socket_url
from gate.config.roles import role_name
from gate.writes.models import Execution, WriteRequest
from tests.writes import crashing
from tests.writes.conftest import BODY
from tests.writes.test_kills import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]
KILLS = int(os.environ.get("COUNTERSEAL_WRITE_KILLS", "20"))
SEED = int(os.environ.get("COUNTERSEAL_WRITE_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
ADD = "update shop.jobs set attempts = attempts + 1 where job_id = $1"
MOST_RUNS = 12  # of one write, until somebody knows what became of it
OVER = {"executed", "failed", "refused_stale"}


@dataclass
class Writers:
    """The process that forks writers."""

    process: subprocess.Popen[str]

    def run(self, job: int, blow: Callable[[int], None] | None = None) -> int:
        """Have a writer take the job, deal it a blow, and wait for its end; its exit code."""
        self._say(str(job))
        pid = int(self._hear())
        if blow is not None:
            blow(pid)
        return int(self._hear().removeprefix("end "))

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def _hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture
def server() -> Iterator[crashing.Server]:
    with crashing.server(jobs=KILLS + 20) as running:
        yield running


@pytest.fixture
def shop(server: crashing.Server, monkeypatch: Any, settings: Any) -> None:
    monkeypatch.setenv("WRITES_TEST_DSN", server.dsn)
    settings.PROPOSALS_PER_HOUR = settings.APPROVALS_PER_HOUR = 10**6


@pytest.fixture(params=["ledger", "xid"])
def target(request: Any, define: Any, shop: None) -> Any:
    """The shop, with its ledger and without."""
    return define("target", "shop", {**BODY, "ledger": BODY["ledger"] if request.param == "ledger" else None})


@pytest.fixture
def writers(shop: None, cluster_socket: Path) -> Iterator[Writers]:
    url = socket_url(cluster_socket, role_name("writer"), "test-writer", connection.settings_dict["NAME"])
    environment = {**os.environ, "DATABASE_URL": url, "COUNTERSEAL_PROCESS": "writer"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.writes.writer_server"], cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    made = Writers(process)
    assert made._hear() == "ready"
    yield made
    assert process.stdin is not None
    process.stdin.close()
    process.wait(30)


def job_of(write: Any) -> int:
    return Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=write.pk).pk


def wait_for_claim(write: Any) -> None:
    """Where it counts begins here; before it there is nothing to lose."""
    until = time.monotonic() + 5
    while time.monotonic() < until and not Execution.objects.filter(write=write).exists():
        time.sleep(0.003)


def until_known(writers: Writers, write: Any) -> str:
    """Run it until it is over, as the relay would, however often a job is given up."""
    for _ in range(MOST_RUNS):
        write.refresh_from_db()
        if write.status in OVER:
            return str(write.status)
        Outbox.objects.filter(pk=job_of(write)).update(attempts=0, gave_up_at=None)
        writers.run(job_of(write))
    return str(write.status)


def effects(server: crashing.Server, number: int) -> tuple[int, int]:
    """How often the change is in the target: by its row, and by its trigger's."""
    with server.superuser() as connection:
        (row,) = connection.execute(
            "select attempts, (select count(*) from shop.job_events e where e.job_id = j.job_id and what = 'UPDATE')"
            " from shop.jobs j where job_id = %s",
            [number],
        ).fetchall()  # fmt: skip
    return row[0], row[1]


def test_executed_is_what_has_its_effect_once(
    writers: Writers, server: crashing.Server, target: Any, approved: Any
) -> None:  # fmt: skip
    dice = random.Random(SEED)  # noqa: S311 - no secret
    first, claimed = approved(ADD, [{"t": "bigint", "v": "20"}], title="Warm up"), 0.0

    def watch(pid: int) -> None:
        nonlocal claimed
        wait_for_claim(first)
        claimed = time.monotonic()

    writers.run(job_of(first), watch)
    lasts = time.monotonic() - claimed
    told: Counter[str] = Counter()
    for number in range(21, 21 + (KILLS + 1) // 2):
        write = approved(ADD, [{"t": "bigint", "v": str(number)}], title=f"Add to {number}")
        is_crash = dice.random() < 0.3
        after = dice.uniform(0, 1.2 * lasts)

        def blow(pid: int, write: Any = write, is_crash: bool = is_crash, after: float = after) -> None:
            wait_for_claim(write)
            time.sleep(after)
            if is_crash:
                server.go_down()
                return
            with suppress(ProcessLookupError):  # it was faster
                os.kill(pid, signal.SIGKILL)

        code = writers.run(job_of(write), blow)
        if is_crash:
            server.come_back()
        elif dice.random() < 0.3:
            server.crash()  # and what its session had not flushed is gone with it
        status = until_known(writers, write)
        there = effects(server, number)
        assert status in OVER, f"{write.ref} is {status} in the end (seed {SEED})"
        assert there == ((1, 1) if status == "executed" else (0, 0)), f"{write.ref} {status} {there} (seed {SEED})"
        told[f"{'crash' if is_crash else 'kill'} {status} attempt {Execution.objects.get(write=write).attempt}"] += 1
        assert code in (0, 1, -signal.SIGKILL)
    assert WriteRequest.objects.filter(status="executed").exists()
    sys.stdout.write(f"\n{target.body['ledger'] or 'xid'}, seed {SEED}, {lasts:.2f} s: {dict(told)}\n")
