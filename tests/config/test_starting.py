"""A process that is set up wrongly does not start, and says why."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery.exceptions import WorkerShutdown
from django.core.management.base import CommandError
from django.db import connection

from gate.config import celery, powers
from gate.config.management.commands.serve import check_can_serve

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def process(settings: Any, as_role: Any, tmp_path: Path) -> Any:
    """Be this process, with its database role and its static files collected."""
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "staticfiles.json").write_text("{}")

    def become(name: str, role: str | None = None) -> None:
        settings.PROCESS = name
        settings.SECRET_KEY_CONFIGURED = "a key"
        as_role(role or name)

    return become


@pytest.mark.parametrize("plane", ["people", "agents"])
def test_a_plane_starts_as_its_own_process(process: Any, plane: str) -> None:
    process(plane)
    check_can_serve(plane)


def test_a_plane_refuses_another_processes_role(process: Any) -> None:
    process("agents", role="people")
    with pytest.raises(CommandError, match="can do more than agents may"):
        check_can_serve("agents")


def test_a_plane_refuses_to_run_as_another_process(process: Any) -> None:
    process("people")
    with pytest.raises(CommandError, match="COUNTERSEAL_PROCESS is people"):
        check_can_serve("agents")


def test_the_peoples_plane_needs_a_key(process: Any, settings: Any) -> None:
    process("people")
    settings.SECRET_KEY_CONFIGURED = ""
    with pytest.raises(CommandError, match="COUNTERSEAL_SECRET_KEY"):
        check_can_serve("people")


def test_the_peoples_plane_needs_its_static_files(process: Any, tmp_path: Path) -> None:
    process("people")
    (tmp_path / "staticfiles.json").unlink()
    with pytest.raises(CommandError, match=r"Run manage\.py collectstatic"):
        check_can_serve("people")


@pytest.mark.parametrize("name", ["worker", "reads", "writer"])
def test_a_worker_starts_with_its_own_role(process: Any, name: str) -> None:
    process(name)
    celery.check_before_start()


def test_a_worker_with_a_stronger_role_ends(process: Any) -> None:
    process("worker", role="writer")
    with pytest.raises(WorkerShutdown):
        celery.check_before_start()


def test_a_worker_that_cannot_ask_the_database_ends(process: Any) -> None:
    process("worker")
    kept, connection.settings_dict["HOST"] = connection.settings_dict["HOST"], "/nowhere"
    try:
        with pytest.raises(WorkerShutdown):
            celery.check_before_start()
    finally:
        connection.settings_dict["HOST"] = kept


def test_a_plane_takes_no_jobs(process: Any) -> None:
    process("people")
    with pytest.raises(powers.TooPowerful, match="takes no jobs"):
        powers.check_consumer()


def worker_named(queue: str) -> Any:
    """What Celery hands to those who hear of its heart, or of its start."""
    name = f"{queue}@here"
    return SimpleNamespace(hostname=name, eventer=SimpleNamespace(hostname=name))


def test_two_workers_of_one_role_do_not_vouch_for_each_other(process: Any) -> None:
    from audit import heartbeats

    process("worker")
    celery.leave_heartbeat(sender=worker_named("trials"))
    assert heartbeats.ages().keys() == {"worker trials"}


@pytest.mark.parametrize(("queue", "gives"), [("trials", [10]), ("verdicts", []), ("writes", [])])
def test_trials_give_way_to_everything_else(queue: str, gives: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr("os.nice", given.append)
    celery.give_way(sender=worker_named(queue))
    assert given == gives


def test_a_worker_leaves_its_heartbeat(process: Any) -> None:
    from audit import heartbeats

    process("reads")
    celery.leave_heartbeat(sender=worker_named("reads"))
    assert heartbeats.ages()["worker reads"] < 5


def test_a_worker_goes_on_when_no_heartbeat_can_be_left(process: Any, caplog: Any) -> None:
    process("agents")  # which may not
    celery.leave_heartbeat(sender=worker_named("agents"))
    assert "No heartbeat could be left" in caplog.text
