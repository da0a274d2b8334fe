"""A writer that is killed at each step, that stands still while another runs, and two writers at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.models import Outbox
from gate.config.database import socket_url
from gate.config.roles import role_name
from gate.writes import execution
from gate.writes.models import Execution, Preview

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[2]
STEPS = {  # the step after which the writer dies → whether the change is in the target then
    "_claim": False, "_enter": False, "_still_approved": False, "_change": False, "_check_same_effect": False,
    "_check_newest_attempt": False, "_commit": True, "_record": True,
}  # fmt: skip


@pytest.fixture
def child(cluster_socket: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a writer with the writer's own database role on one job."""

    def start(job_id: int, *step: str) -> subprocess.Popen[bytes]:
        url = socket_url(cluster_socket, role_name("writer"), "test-writer", connection.settings_dict["NAME"])
        environment = {**os.environ, "DATABASE_URL": url, "COUNTERSEAL_PROCESS": "writer"}
        command = [sys.executable, "-m", "tests.writes.writer_child", str(job_id), *step]
        return subprocess.Popen(command, cwd=ROOT, env=environment)

    return start


def job_of(write: Any) -> int:
    return Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=write.pk).pk


def effects(shop: Any) -> int:
    return int(shop.execute("select count(*) from shop.job_events").fetchone()[0])


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_any_step_leaves_one_effect_after_the_next_run(
    approved: Any, shop: Any, child: Any, step: str
) -> None:
    write = approved()
    assert child(job_of(write), step, "SIGKILL").wait(30) == -signal.SIGKILL
    assert effects(shop) == int(STEPS[step])
    write.refresh_from_db()
    assert (write.status == "executed") == (step == "_record")  # never shown as done before that is on record
    assert child(job_of(write)).wait(30) == 0
    write.refresh_from_db()
    done = Execution.objects.get(write=write)
    assert (write.status, done.state, effects(shop)) == ("executed", "executed", 1)
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest
    assert Outbox.objects.get(pk=job_of(write)).done_at is not None


@pytest.mark.parametrize("step", ["_enter", "_check_newest_attempt"])
def test_a_writer_that_stands_still_while_another_runs_doubles_nothing(
    approved: Any, shop: Any, child: Any, step: str
) -> None:
    write = approved()
    asleep = child(job_of(write), step, "SIGSTOP")
    assert os.waitid(os.P_PID, asleep.pid, os.WSTOPPED | os.WNOWAIT)
    # Its ledger row is in the way; that is not an answer, so nothing is said to have happened.
    assert child(job_of(write)).wait(30) != 0
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("unknown", 0)
    asleep.send_signal(signal.SIGCONT)
    asleep.wait(30)
    assert effects(shop) == int(step == "_check_newest_attempt")
    assert child(job_of(write)).wait(30) == 0
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("executed", 1)


def test_deliveries_at_once_have_one_effect(approved: Any, shop: Any) -> None:
    write = approved()

    def deliver() -> None:
        try:
            execution.execute(write.pk)
        except execution.TryAgain:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert effects(shop) <= 1
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("executed", 1)


def test_two_approvers_at_once_make_one_approval(previewed: Any, approve: Any, make_person: Any) -> None:
    from gate.errors import NotAllowed
    from gate.writes.models import Decision

    write = previewed()
    people = [make_person(name, "on_call") for name in ("noor", "sam")]
    write.refresh_from_db()
    version = write.version
    refused: list[str] = []

    def press(person: Any) -> None:
        try:
            approve(write, by=person, seen_version=version)
        except NotAllowed as reason:
            refused.append(str(reason))
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), Decision.objects.filter(write=write).count()) == (1, 1)
    assert Outbox.objects.filter(task="gate.writes.tasks.execute_write", subject_id=write.pk).count() == 1
