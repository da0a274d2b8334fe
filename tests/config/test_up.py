"""One real `manage.py up` on free ports: it serves, refuses a second start, restarts what dies, leaves nothing."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.config import supervised
from tests.config.supervised import PATIENCE, READY, ROOT, Up, left_of, said_until, wait_until
from tests.machine import children_of, command_line, environment_of

# What only some of its children may know.
TOLD = {
    "SHOP_READER_DSN": "r", "SHOP_WRITER_DSN": "w",
    "COUNTERSEAL_SMTP_URL": "smtp://127.0.0.1:1", "COUNTERSEAL_MAIL_FROM": "counterseal@example.org",
    "COUNTERSEAL_OIDC_URL": "http://localhost:1", "COUNTERSEAL_OIDC_CLIENT_ID": "counterseal",
    "COUNTERSEAL_OIDC_CLIENT_SECRET": "secret",
}  # fmt: skip


def start(var: Path, **options: Any) -> Up:
    return supervised.start(var, "--no-demo", told=TOLD, **options)


def start_and_wait(var: Path, words: str = READY) -> tuple[Up, str]:
    """A supervisor that has said these words, which by default say that it is ready, and all that it said."""
    up = start(var)
    return up, said_until(up.process, words)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Up, str]]:
    # Spaces in the path, longer than a socket's may be, and below a directory of mode 0700, as pytest makes it.
    up, said = start_and_wait(tmp_path_factory.mktemp("an installation") / ("with a long name " * 8).strip() / "var")
    yield up, said
    if up.process.poll() is None:
        up.process.send_signal(signal.SIGINT)
        up.process.wait(PATIENCE)


def test_its_path_is_one_that_no_socket_could_have(running: tuple[Up, str]) -> None:
    up, _ = running
    assert len(str(up.var)) > 107
    assert " " in str(up.var)
    assert up.var.parent.parent.stat().st_mode & 0o077 == 0


def test_both_planes_are_well_and_it_says_where(running: tuple[Up, str]) -> None:
    up, said = running
    assert up.is_healthy()
    assert f"http://localhost:{up.ports[0]}" in said
    assert f"http://localhost:{up.ports[1]}/mcp" in said
    # For the commands of operators, who were not told the ports.
    assert json.loads((up.var / "origins.json").read_text())["people"] == f"http://localhost:{up.ports[0]}"


def test_without_the_demo_it_says_how_to_add_a_person(running: tuple[Up, str]) -> None:
    up, said = running
    assert "manage.py add_person NAME --role admin" in said
    assert not (up.var / "demo.json").exists()


def test_a_second_start_is_refused_with_who_runs(running: tuple[Up, str]) -> None:
    up, _ = running
    second = start(up.var)
    said, _ = second.process.communicate(timeout=PATIENCE)
    assert second.process.returncode == 1
    assert f"pid {up.process.pid}, http://localhost:{up.ports[0]}" in said


def test_a_port_that_is_taken_is_refused_with_a_sentence(running: tuple[Up, str], tmp_path: Path) -> None:
    up, _ = running
    done = subprocess.run(
        [sys.executable, ROOT / "manage.py", "up", "--no-demo", "--port", str(up.ports[0])],
        env={**os.environ, "COUNTERSEAL_VAR": str(tmp_path / "var")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"Port {up.ports[0]} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_secrets_are_for_the_owner_alone(running: tuple[Up, str]) -> None:
    up, _ = running
    assert (up.var / "secrets.json").stat().st_mode & 0o777 == 0o600


WHO = {
    "people": ("serve", "people"),
    "agents": ("serve", "agents"),
    "relay": ("relay",),
    "verdicts": ("--queues", "verdicts"),
    "trials": ("--queues", "trials"),
    "reads": ("--queues", "reads"),
    "writes": ("--queues", "writes"),
    "beat": ("beat",),
}
KNOWS = {
    "COUNTERSEAL_SECRET_KEY": {"people"},
    "COUNTERSEAL_SMTP_URL": {"people"},
    "COUNTERSEAL_MAIL_FROM": {"people"},
    "COUNTERSEAL_OIDC_URL": {"people"},
    "COUNTERSEAL_OIDC_CLIENT_SECRET": {"people"},
    "COUNTERSEAL_BROKER_URL": {"relay", "verdicts", "trials", "reads", "writes", "beat"},
    "SHOP_READER_DSN": {"agents", "reads"},
    "SHOP_WRITER_DSN": {"writes"},
    "COUNTERSEAL_OWNER_URL": set(),
    "PYTHONDONTWRITEBYTECODE": set(),
}


@pytest.mark.parametrize("name", KNOWS)
def test_a_child_is_told_only_what_it_needs(running: tuple[Up, str], name: str) -> None:
    up, _ = running
    told = {who: environment_of(up.child(*words)) for who, words in WHO.items()}
    assert {who for who, environment in told.items() if name in environment} == KNOWS[name]


def test_each_child_has_the_password_of_its_own_role_alone(running: tuple[Up, str]) -> None:
    up, _ = running
    secrets = json.loads((up.var / "secrets.json").read_text())
    passwords = {name: secret for name, secret in secrets.items() if name.startswith(("db_", "shop_"))}
    roles = {"relay": "worker", "verdicts": "worker", "trials": "worker", "beat": "worker", "writes": "writer"}
    for who, words in WHO.items():
        known = " ".join(environment_of(up.child(*words)).values())
        assert {name for name, secret in passwords.items() if secret in known} == {f"db_{roles.get(who, who)}"}


def pid_of(up: Up, name: str) -> int:
    if name == "valkey":  # it writes its own command line
        return next((pid for pid in children_of(up.process.pid) if "valkey" in " ".join(command_line(pid))), 0)
    return up.child(*WHO.get(name, ("-D",)))


@pytest.mark.parametrize("name", [*WHO, "postgres", "valkey"])
def test_a_killed_child_comes_back(running: tuple[Up, str], name: str) -> None:
    up, _ = running
    killed = pid_of(up, name)
    assert killed  # 0 would be our own process group
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: pid_of(up, name) not in (0, killed), f"{name} starts again")
    wait_until(up.is_healthy, "both planes are well again")


def remember(up: Up, word: str) -> None:
    """Keep something in the database that a later start has to find."""
    add = [sys.executable, ROOT / "manage.py", "add_person", word, "--role", "viewer"]
    environment = {**os.environ, "COUNTERSEAL_VAR": str(up.var)}
    subprocess.run(add, env=environment, check=True, capture_output=True)


def remembered(up: Up) -> set[str]:
    secrets = json.loads((up.var / "secrets.json").read_text())
    at = {
        "host": str(database_sockets(up.var)),
        "user": "counterseal_people",
        "password": secrets["db_people"],
        "dbname": "counterseal",
    }
    with psycopg.connect(**at) as connection:
        return {name for (name,) in connection.execute("select username from people_person").fetchall()}


def database_sockets(var: Path) -> Path:
    return Path("/tmp") / f"counterseal-{hashlib.sha256(str(var).encode()).hexdigest()[:12]}"


def test_ctrl_c_stops_everything(running: tuple[Up, str]) -> None:
    up, _ = running
    remember(up, "before-the-stop")
    assert len(left_of(up.var)) > 5
    for _ in range(3):  # impatience does not cut it short
        up.process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    said, _ = up.process.communicate(timeout=PATIENCE)
    assert up.process.returncode == 0, said
    assert "killed" not in said.partition("Stopping.")[2]
    assert left_of(up.var) == []


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A process of ours that has nothing to do with it."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


def test_it_starts_over_what_a_crash_left_and_keeps_the_data(running: tuple[Up, str], sleeper: int) -> None:
    stopped, _ = running
    var = stopped.var
    sockets = database_sockets(var)
    # After a restart of the machine the old server's number is somebody else's.
    (var / "postgres" / "postmaster.pid").write_text(f"{sleeper}\n{var}/postgres\n1\n5432\n{sockets}\n\n0 0\n")
    (sockets / ".s.PGSQL.5432.lock").write_text(f"{sleeper}\n{var}/postgres\n1\n5432\n{sockets}\n")
    for name in (".s.PGSQL.5432", "valkey.sock"):
        with socket.socket(socket.AF_UNIX) as stale:
            (sockets / name).unlink(missing_ok=True)
            stale.bind(str(sockets / name))
    (var / "postgres.new" / "base").mkdir(parents=True)
    (var / "secrets.json.new").write_text("{half")
    (var / "up.lock").write_text("pid 1, http://localhost:1")
    controller, terminal = os.openpty()
    up = start(var, stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=lambda: take_terminal(terminal))
    os.close(terminal)
    said = read_until(controller, READY)
    assert "before-the-stop" in remembered(up), said
    assert not (var / "postgres.new").exists()
    check_ctrl_c_at_the_terminal(up, controller)


def take_terminal(terminal: int) -> None:
    """As a shell does it: the terminal's Ctrl-C goes to the process that is started."""
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def read_until(controller: int, words: str) -> str:
    said = ""
    while words not in said:
        assert select.select([controller], [], [], PATIENCE)[0], f"{words} was not said: {said}"
        try:
            part = os.read(controller, 65536)
        except OSError as error:  # the other end is closed
            raise AssertionError(f"{words} was not said: {said}") from error
        said += part.decode(errors="replace")
    return said


def check_ctrl_c_at_the_terminal(up: Up, controller: int) -> None:
    os.write(controller, b"\x03")
    time.sleep(0.3)
    os.write(controller, b"\x03")
    said = read_until(controller, "Stopped.")
    assert up.process.wait(PATIENCE) == 0, said
    assert "Traceback" not in said
    assert left_of(up.var) == []
    os.close(controller)


def test_nothing_outlives_a_killed_supervisor_and_the_next_start_need_not_wait(running: tuple[Up, str]) -> None:
    stopped, _ = running
    killed, _ = start_and_wait(stopped.var)
    killed.process.kill()
    killed.process.wait()
    up, _ = start_and_wait(stopped.var, "are up")  # on other ports, while the old server may still be ending
    assert "before-the-stop" in remembered(up)
    up.process.kill()
    up.process.wait()
    wait_until(lambda: left_of(up.var) == [], f"all are gone: {left_of(up.var)}")


def test_a_start_that_was_killed_while_it_made_the_database_is_followed_by_one_that_works(tmp_path: Path) -> None:
    var = tmp_path / "var"
    killed = start(var)
    wait_until(lambda: any(var.glob("postgres.new*/base")), "the database is being made")
    killed.process.kill()
    killed.process.wait()
    assert not (var / "postgres").exists()
    up, _ = start_and_wait(var, "are up")
    assert [*var.glob("postgres.new*")] == []
    up.process.terminate()  # as a service manager stops it, here in the midst of a start
    said, _ = up.process.communicate(timeout=PATIENCE)
    assert (up.process.returncode, left_of(var)) == (0, []), said
