"""The next release beside this one: the database is upgraded under running processes, and both releases work on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gate.config.database import socket_url
from tests.config import asking
from tests.config.plain import copy_of_the_project
from tests.config.supervised import ROOT, Up, said_until, start, wait_until
from tests.machine import environment_of, free_port

pytestmark = pytest.mark.timeout(600)  # on a busy machine
PATIENCE = 120.0
WORKER = ["-m", "celery", "-A", "gate.config.celery", "worker", "-Q", "verdicts", "-n", "next@%h", "-c", "1"]
FIELDS = """
    ticket = models.CharField(max_length=40, null=True)
    channel = models.CharField(max_length=20, db_default="monitor")
"""
MIGRATION = """
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("triage", "{last}")]
    operations = [
        migrations.AddField("incident", "ticket", models.CharField(max_length=40, null=True)),
        migrations.AddField("incident", "channel", models.CharField(max_length=20, db_default="monitor")),
    ]
"""


def next_release(target: Path) -> Path:
    """A copy of the project whose incidents have two more columns."""
    copy_of_the_project(target)
    models = target / "gate" / "triage" / "models.py"
    before, mark, after = models.read_text().partition("    dedup_key = models")
    assert mark
    models.write_text(before + FIELDS.strip("\n") + "\n" + mark + after)
    there = target / "gate" / "triage" / "migrations"
    last = sorted(found.stem for found in there.glob("0*.py"))[-1]
    (there / "0999_next_release.py").write_text(MIGRATION.format(last=last))
    return target


@dataclass
class Old:
    """This release, at work with its demo."""

    up: Up
    demo: dict[str, Any]

    def environment(self, *words: str) -> dict[str, str]:
        """What one of its processes was told."""
        return environment_of(self.up.child(*words))

    def connection(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.environment("serve", "people")["DATABASE_URL"], autocommit=True)

    def sign_in(self, port: int, name: str) -> int:
        with self.connection() as connection:
            connection.execute("delete from people_tally")  # an address has twenty tries
        return asking.sign_in(port, name, self.demo["people"][name])[0]

    def drafts(self, incident: int) -> int:
        with self.connection() as connection:
            row = connection.execute(
                "select count(*) from triage_draft d join triage_investigation i on i.id = d.investigation_id"
                " where i.incident_id = %s", [incident],
            ).fetchone()  # fmt: skip
        return int(row[0]) if row else 0


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    up = start(tmp_path_factory.mktemp("releases") / "var")
    said_until(up.process)
    yield Old(up, json.loads((up.var / "demo.json").read_text()))
    up.process.send_signal(signal.SIGINT)
    up.process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def intake(old: Old) -> str:
    """A monitor's token."""
    told = old.environment("serve", "people")
    command = [sys.executable, ROOT / "manage.py", "intake_token", "my-monitor"]
    said = subprocess.run(command, env=told, capture_output=True, text=True, check=True).stdout
    return next(word for word in said.split() if word.startswith("csi_"))


def report(port: int, intake: str, key: str) -> int:
    """One more incident over an agents' plane; its number."""
    began = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    status, said = asking.post(
        port, "/api/v1/incidents", intake,
        {
            "class": "job_failed", "title": f"Job 90412 failed, {key}", "subject": {"job_id": 90412},
            "facts": {"error": "ReadTimeout", "job_kind": "settle_payouts"}, "began_at": began, "dedup_key": key,
        },
    )  # fmt: skip
    assert status in (200, 201), said
    return int(str(said["incident"]).removeprefix("I-"))


def investigate(old: Old, port: int) -> int:
    """Take the oldest open incident, look once, and hand in that nothing was found. The investigation's number."""
    token = old.demo["agent_token"]
    status, begun = asking.post(port, "/api/v1/investigations", token, {})
    assert status in (200, 201), begun
    number = begun["investigation"]
    asked = {"arguments": {"job_id": 90412}, "investigation": number}
    assert asking.post(port, "/api/v1/tools/find_job", token, asked)[0] == 200
    answer = {"hypothesis": "worker_lost", "findings": [], "answer": "Nobody knows yet."}
    assert asking.post(port, f"/api/v1/investigations/{number}/findings", token, answer)[0] in (200, 201, 202)
    return int(number)


@dataclass
class Traffic:
    """Somebody who goes on using this release while the database changes under it."""

    old: Old
    intake: str
    over: threading.Event = field(default_factory=threading.Event)
    troubles: list[str] = field(default_factory=list)
    rounds: int = 0

    def run(self) -> None:
        people, agents = self.old.up.ports
        while not self.over.is_set():
            try:
                report(agents, self.intake, "while it was upgraded")
                assert self.old.sign_in(people, "ada") == 302
            except (AssertionError, OSError) as error:
                self.troubles.append(repr(error))
            self.rounds += 1


@contextmanager
def traffic(old: Old, intake: str) -> Iterator[Traffic]:
    going = Traffic(old, intake)
    thread = threading.Thread(target=going.run)
    thread.start()
    try:
        yield going
    finally:
        going.over.set()
        thread.join()


@pytest.fixture(scope="module")
def new(old: Old, intake: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """The next release's planes, relay and verdict worker, on the upgraded database; the planes' ports."""
    base = tmp_path_factory.mktemp("next")
    project = next_release(base / "project")
    people, agents = free_port(), free_port()
    words = {
        "relay": ["manage.py", "relay"],
        "people": ["manage.py", "serve", "people", "--port", str(people)],
        "agents": ["manage.py", "serve", "agents", "--port", str(agents)],
        "verdicts": WORKER,
    }
    process_of = {"relay": ("relay",), "people": ("serve", "people"), "agents": ("serve", "agents")}
    started = []
    check_it_waits(old, project, words["agents"])
    upgrade(old, intake, project)
    for name, command in words.items():
        told = old.environment(*process_of.get(name, ("--queues", "verdicts")))
        told |= {"COUNTERSEAL_ORIGIN": f"http://localhost:{people}"}
        with (base / f"{name}.log").open("w") as output:
            started.append(
                subprocess.Popen([sys.executable, *command], cwd=project, env=told, stdout=output, stderr=output)
            )
    wait_until(lambda: Up(started[0], base, (people, agents)).is_healthy(), "the next release's planes are well")
    wait_until(lambda: "next@" in (base / "verdicts.log").read_text(), "its worker is at work")
    yield people, agents
    assert [process.poll() for process in started] == [None] * 4, [log.read_text() for log in base.glob("*.log")]
    for process in started:
        process.terminate()
    for process in started:
        process.wait(PATIENCE)


def check_it_waits(old: Old, project: Path, command: list[str]) -> None:
    told = old.environment("serve", "agents")
    done = subprocess.run([sys.executable, *command], cwd=project, env=told, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "lacks 1 of this release's migrations, triage.0999_next_release among them" in done.stderr


def upgrade(old: Old, intake: str, project: Path) -> None:
    secrets = json.loads((old.up.var / "secrets.json").read_text())
    url = socket_url(old.up.var / "run", "counterseal_owner", secrets["db_owner"])
    with traffic(old, intake) as going:
        wait_until(lambda: going.rounds, "somebody uses it")
        done = subprocess.run(
            [sys.executable, "manage.py", "upgrade"], cwd=project, env={**os.environ, "COUNTERSEAL_OWNER_URL": url},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        before = going.rounds
        wait_until(lambda: going.rounds > before + 1, "it is used afterwards")
    assert (done.returncode, going.troubles) == (0, []), done.stderr


def test_the_next_release_reads_what_is_new(old: Old, new: tuple[int, int], intake: str) -> None:
    with old.connection() as connection:
        rows = connection.execute("select distinct ticket, channel from triage_incident").fetchall()
    assert rows == [(None, "monitor")]


@pytest.mark.parametrize("release", ["old", "new"])
def test_people_sign_in_at_both(old: Old, new: tuple[int, int], release: str) -> None:
    port = {"old": old.up.ports, "new": new}[release][0]
    for name in old.demo["people"]:
        assert old.sign_in(port, name) == 302


@pytest.mark.parametrize("handed_in_at", ["old", "new"])
@pytest.mark.parametrize("reported_at", ["old", "new"])
def test_what_one_release_takes_the_other_works_on(
    old: Old, new: tuple[int, int], intake: str, reported_at: str, handed_in_at: str
) -> None:
    ports = {"old": old.up.ports[1], "new": new[1]}
    report(ports[reported_at], intake, f"{reported_at}, then {handed_in_at}")
    number = investigate(old, ports[handed_in_at])
    with old.connection() as connection:
        row = connection.execute("select incident_id from triage_investigation where id = %s", [number]).fetchone()
    assert row
    wait_until(lambda: old.drafts(row[0]), "the verdict is rendered")


def test_processes_of_this_release_start_again_on_the_newer_database(old: Old, new: tuple[int, int]) -> None:
    words = [("serve", "agents"), ("--queues", "verdicts"), ("relay",)]
    killed = [old.up.child(*one) for one in words]
    assert all(killed)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not {0, *killed} & {old.up.child(*one) for one in words}, "they start again")
    wait_until(old.up.is_healthy, "both planes are well again")
    started = [old.up.child(*one) for one in words]
    time.sleep(5)  # one that refuses the database ends within that time
    assert [old.up.child(*one) for one in words] == started
    for log in old.up.var.glob("log/*.log"):
        assert "can do more than" not in log.read_text()
