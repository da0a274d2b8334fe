"""Every Celery task, with forged and nonsensical jobs, by each role that a process of ours connects as."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection

from audit import outbox
from audit.models import Outbox
from gate.config.celery import app
from gate.config.roles import PROCESSES
from tests.doors import sealed
from tests.doors.conftest import World
from tests.doors.expected import TASKS

pytestmark = pytest.mark.django_db(transaction=True)
NONSENSE: tuple[Any, ...] = (0, -1, 2**40, 2**80, None, "", "1 or 1=1", "'; drop table people_person; --", [], {}, 1.5)


def tasks() -> list[str]:
    app.loader.import_default_modules()
    return sorted(name for name in app.tasks if not name.startswith("celery."))


def test_every_task_has_an_owner() -> None:
    assert set(tasks()) == set(TASKS), "Say in tests/doors/expected.py which role a new task is for."


@pytest.fixture
def forged(world: World) -> dict[str, list[int]]:
    """What a stranger to the queue could ask each task for: everything there is, and one job of each other task."""
    for task in TASKS:
        for number in world.numbers():
            outbox.enqueue(task, "writes", number)
    jobs: dict[str, list[int]] = {task: [] for task in TASKS}
    for task, pk in Outbox.objects.filter(task__in=TASKS).order_by("pk").values_list("task", "pk"):
        jobs[task].append(pk)
    firsts = [of_task[0] for of_task in jobs.values()]
    return {task: [*of_task, *firsts] for task, of_task in jobs.items()}


# What a person asked for already, and this process runs, whoever reminds it.
RUNS = {"worker": {"trials", "replays"}}


@pytest.mark.parametrize("process", [process for process in PROCESSES if process != "owner"])
def test_no_task_decides_whoever_calls_it(
    process: str, world: World, forged: dict[str, list[int]], as_role: Callable[[str], None]
) -> None:
    before = sealed.everything()
    kept = before.keys() - RUNS.get(process, set())
    as_role(process)
    for name in tasks():
        for job in (*forged[name], *NONSENSE):
            call(name, job)
        call(name)
    connection.close()
    as_role("owner")
    after = sealed.everything()
    assert {about: after[about] for about in kept} == {about: before[about] for about in kept}


def call(name: str, *given: Any) -> None:
    """Run a task as its worker would. How it refuses is its own matter; what it changed is what counts."""
    with suppress(Exception):
        app.tasks[name](*given)


def test_a_forged_job_of_an_undecided_write_runs_nothing(world: World, as_role: Callable[[str], None]) -> None:
    outbox.enqueue("gate.writes.tasks.execute_write", "writes", world.write.pk)
    job = Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=world.write.pk)
    as_role("writer")
    call(job.task, job.pk)
    as_role("owner")
    world.write.refresh_from_db()
    assert world.write.status == "waiting"
    job.refresh_from_db()
    assert job.done_at is not None  # it was looked at, and there was nothing to run
