"""A release beside the one before: migrations that only add, an upgrade that never queues, and who may start when."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.core.management.base import CommandError
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from gate.config import celery, database, powers
from gate.config.management.commands.serve import check_can_serve
from gate.config.roles import role_name
from tests.config import additive

ROOT = Path(__file__).resolve().parents[2]
OURS = {"admission", "audit", "evidence", "people", "triage", "writes"}
# The first release has no older one beside it.
FIRST = {("audit", "0002_log"), ("people", "0002_approver")}
# SQL and Python that somebody has read with the release before in mind, each with the reason why it does no harm.
READ_BY_HAND: dict[tuple[str, str], str] = {}


def later_migrations() -> Iterator[tuple[migrations.Migration, ProjectState]]:
    loader = MigrationLoader(None)
    for key, migration in sorted(loader.disk_migrations.items()):
        if key[0] in OURS and not key[1].startswith("0001_") and key not in FIRST | READ_BY_HAND.keys():
            yield migration, loader.project_state(migration.dependencies)


def test_every_later_migration_only_adds() -> None:
    assert [fault for migration, before in later_migrations() for fault in additive.faults(migration, before)] == []


def test_all_our_apps_are_looked_at() -> None:
    with_models = {
        app.label for app in apps.get_app_configs() if app.name.partition(".")[0] in ("audit", "evidence", "gate")
    }
    assert {label for label in with_models if apps.get_app_config(label).models} == OURS


def one(*operations: Any) -> list[str]:
    state = ProjectState()
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("title", models.CharField(max_length=20)),
        ("note", models.CharField(max_length=20, null=True)),
    ]
    migrations.CreateModel("Incident", fields).state_forwards("triage", state)
    made = migrations.Migration("0002_next", "triage")
    made.operations = list(operations)
    return [fault.rpartition(": ")[2] for fault in additive.faults(made, state)]


def altered(field: models.Field[Any, Any], name: str = "title") -> list[str]:
    return one(migrations.AlterField("incident", name, field))


def added(field: models.Field[Any, Any]) -> list[str]:
    return one(migrations.AddField("incident", "ticket", field))


def test_what_adds_passes() -> None:
    assert added(models.CharField(max_length=20, null=True)) == []
    assert added(models.IntegerField(db_default=0)) == []
    assert altered(models.CharField(max_length=40)) == []
    assert altered(models.CharField(max_length=20, null=True)) == []
    assert altered(models.CharField(max_length=20, choices=[("a", "A")])) == []
    assert one(migrations.CreateModel("Note", [("id", models.BigAutoField(primary_key=True))])) == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("incident", "title"),
        migrations.RenameField("incident", "title", "name"),
        migrations.DeleteModel("incident"),
        migrations.RenameModel("incident", "event"),
        migrations.AlterModelTable("incident", "elsewhere"),
        migrations.AddIndex("incident", models.Index(fields=["title"], name="by_title")),
        migrations.AddConstraint("incident", models.UniqueConstraint(fields=["title"], name="one_title")),
        migrations.RunSQL("drop table triage_incident"),
        migrations.RunPython(migrations.RunPython.noop),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_what_takes_away_or_stops_writers_is_found(operation: Any) -> None:
    assert one(operation) == ["older code does not expect it; add, and take away only when no process needs it"]


def test_what_older_code_does_not_fill_is_found() -> None:
    assert "null" in added(models.CharField(max_length=20, default="x"))[0]
    assert "collide" in added(models.CharField(max_length=20, null=True, unique=True))[0]


def test_what_narrows_is_found() -> None:
    assert altered(models.CharField(max_length=10)) == ["the type of the column changes"]
    assert altered(models.IntegerField()) == ["the type of the column changes"]
    assert altered(models.CharField(max_length=20), "note") == ["older code may write null"]
    assert "collide" in altered(models.CharField(max_length=20, unique=True))[0]


# Who may start


@pytest.fixture
def as_process(settings: Any, as_role: Any) -> Iterator[Any]:
    def become(name: str) -> None:
        settings.PROCESS = name
        settings.SECRET_KEY_CONFIGURED = "a key"
        as_role(name)

    yield become
    as_role("owner")


@contextmanager
def database_of(release: str, owner: Any) -> Iterator[None]:
    """The database as an older or a newer release would have left it."""
    with connection.cursor() as cursor:
        if release == "newer":
            cursor.execute("insert into django_migrations (app, name, applied) values ('triage', '0099_later', now())")
        else:
            cursor.execute("update django_migrations set name = '0000' where (app, name) = ('triage', '0001_initial')")
    try:
        yield
    finally:
        owner("owner")
        with connection.cursor() as cursor:
            cursor.execute("delete from django_migrations where name = '0099_later'")
            cursor.execute("update django_migrations set name = '0001_initial' where (app, name) = ('triage', '0000')")


LACKING = "The database lacks 1 of this release's migrations, triage.0001_initial among them; run manage.py upgrade"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("plane", ["people", "agents"])
def test_a_plane_waits_for_the_upgrade(as_process: Any, as_role: Any, plane: str) -> None:
    with database_of("older", as_role):
        as_process(plane)
        with pytest.raises(CommandError, match=LACKING):
            check_can_serve(plane)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", ["worker", "reads", "writer"])
def test_a_worker_waits_for_the_upgrade(as_process: Any, as_role: Any, process: str, caplog: Any) -> None:
    with database_of("older", as_role):
        as_process(process)
        with pytest.raises(celery.WorkerShutdown):
            celery.check_before_start()
    assert LACKING in caplog.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", ["people", "agents", "worker", "reads", "writer"])
def test_a_newer_database_is_taken(as_process: Any, as_role: Any, process: str) -> None:
    with database_of("newer", as_role):
        as_process(process)
        powers.check(process)


# The upgrade, in a database of its own


def upgrade(url: str) -> subprocess.CompletedProcess[str]:
    told = {**os.environ, "COUNTERSEAL_OWNER_URL": url}
    command = [sys.executable, ROOT / "manage.py", "upgrade"]
    return subprocess.run(command, env=told, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def own_database(cluster_socket: Path) -> Iterator[str]:
    at = {"host": str(cluster_socket), "user": "postgres", "autocommit": True}
    with psycopg.connect(**at, dbname="postgres") as superuser:
        superuser.execute(f"create database released owner {role_name('owner')}")
        url = database.socket_url(cluster_socket, role_name("owner"), "test-owner", "released")
        done = upgrade(url)
        assert done.returncode == 0, done.stderr
        yield url
        superuser.execute("drop database released with (force)")


def test_an_upgrade_does_not_queue_behind_a_long_transaction(own_database: str) -> None:
    people = own_database.replace("_owner:test-owner", "_people:test-people")
    with psycopg.connect(people) as long:
        long.execute("select count(*) from triage_incident")
        refused = upgrade(own_database)
        pid = long.info.backend_pid
    assert refused.returncode == 1
    assert "A table was in use for longer than 3s" in refused.stderr
    assert f"counterseal_people (pid {pid})" in refused.stderr
    assert "Traceback" not in refused.stderr
    after = upgrade(own_database)
    assert (after.returncode, after.stdout.strip()) == (0, "The guards are as before.")


def test_two_upgrades_do_not_run_at_once(own_database: str) -> None:
    with psycopg.connect(own_database, autocommit=True) as first:
        first.execute("select pg_advisory_lock(hashtext('counterseal.upgrade'))")
        refused = upgrade(own_database)
    assert (refused.returncode, "Another upgrade of this database is running" in refused.stderr) == (1, True)


def test_a_database_that_no_upgrade_has_seen_lacks_everything(cluster_socket: Path, superuser: Any) -> None:
    superuser.execute(f"create database untouched owner {role_name('owner')}")
    url = database.socket_url(cluster_socket, role_name("people"), "test-people", "untouched")
    told = {**os.environ, "DATABASE_URL": url, "COUNTERSEAL_PROCESS": "people", "COUNTERSEAL_SECRET_KEY": "k" * 50}
    try:
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", "serve", "people"],
            env=told,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        superuser.execute("drop database untouched with (force)")
    assert done.returncode == 1
    assert "run manage.py upgrade of this release first" in done.stderr
