"""`manage.py up` from a copy of the project that belongs to an account without rights, run by that account."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.plain import NAME, Plain, copy_of_the_project
from tests.config.supervised import Up, left_of, said_until
from tests.machine import descendants, free_port

pytestmark = pytest.mark.timeout(600)  # on a busy machine
PATIENCE = 120.0


@pytest.fixture(scope="module")
def running(plain: Plain) -> Iterator[tuple[Up, str]]:
    base = Path(tempfile.mkdtemp(prefix="counterseal-plain-"))
    base.chmod(0o755)
    project = copy_of_the_project(base / "a clone", NAME)
    ports = (free_port(), free_port())
    process = subprocess.Popen(
        [plain.python, "manage.py", "up", "--port", str(ports[0]), "--agents-port", str(ports[1])],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **plain.options(),
    )  # fmt: skip
    up = Up(process, project / "var", ports)
    try:
        yield up, said_until(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        shutil.rmtree(base)


def test_it_starts_and_its_workers_work(running: tuple[Up, str]) -> None:
    up, said = running
    # The demo's verdicts were rendered and its write previewed before it says who can sign in.
    assert "Sign in: ada (on-call)" in said
    assert up.is_healthy()


def test_everything_of_it_runs_as_that_account(running: tuple[Up, str], plain: Plain) -> None:
    up, _ = running
    group = [up.process.pid, *descendants(up.process.pid)]
    assert len(group) > 10
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in group} == {plain.uid}


def test_its_secrets_are_closed_and_its_files_its_own(running: tuple[Up, str], plain: Plain) -> None:
    up, _ = running
    assert up.var.stat().st_mode & 0o077 == 0
    assert (up.var / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert {found.stat().st_uid for found in up.var.rglob("*")} == {plain.uid}


def test_it_stops_and_leaves_nothing(running: tuple[Up, str]) -> None:
    up, _ = running
    up.process.send_signal(signal.SIGINT)
    said, _ = up.process.communicate(timeout=PATIENCE)
    assert (up.process.returncode, left_of(up.var)) == (0, []), said
