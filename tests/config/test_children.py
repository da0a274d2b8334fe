import errno
import fcntl
import os
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit import notes
from gate.config import children, embedded, services, single
from gate.config.children import Child, Stage
from gate.config.programs import PROGRAMS
from gate.config.roles import PROCESSES
from gate.config.services import Installation

SETTINGS = ("settings.py", "smtp.py", "oidc.py", "log_keys.py")


def child(tmp_path: Path, program: str, **options: Any) -> Child:
    return Child("a child", [sys.executable, "-c", program], Stage.ASKING, tmp_path / "log", **options)


def test_a_dead_child_waits_longer_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(children.time, "monotonic", lambda: now)
    dying = child(tmp_path, "raise SystemExit(3)")
    waits = []
    for _ in range(9):
        dying.start()
        assert dying.process
        dying.process.wait()
        said = dying.tend()
        assert "exit code 3" in str(said)
        assert dying.tend() is None  # said once
        waits.append(dying.not_before - now)
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_child_that_cannot_be_started_now_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dying = child(tmp_path, "raise SystemExit(3)")
    dying.start()
    assert dying.process
    dying.process.wait()
    dying.tend()
    with monkeypatch.context() as full:
        full.setattr(embedded, "spawn", full_disk)
        dying.not_before = time.monotonic() - 1
        assert dying.tend() == "a child cannot be started (No space left on device); it starts again in 1.0 s."
    dying.not_before = time.monotonic() - 1
    assert dying.tend() is None
    assert dying.not_before == 0
    dying.process.wait()


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_steady_child_starts_counting_anew(tmp_path: Path) -> None:
    steady = child(tmp_path, "import time; time.sleep(60)")
    steady.start()
    steady.failures = 4
    steady.tend()
    assert steady.failures == 4
    steady.started_at -= children.STEADY_AFTER + 1
    steady.tend()
    assert steady.failures == 0
    steady.ask_to_stop()
    assert steady.wait_stopped()


def test_a_child_that_does_not_stop_is_killed_with_its_own_children(tmp_path: Path) -> None:
    program = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); pid = os.fork(); "
        "print(os.getpid(), flush=True); time.sleep(60)"
    )
    stubborn = child(tmp_path, program, grace=0.3)
    stubborn.start()
    deadline = time.monotonic() + 10
    while len(pids := (tmp_path / "log").read_text().split()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    stubborn.ask_to_stop()
    assert not stubborn.wait_stopped()
    time.sleep(0.1)
    assert not [pid for pid in pids if _runs(int(pid))]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_a_killed_child_is_said_to_be_killed(tmp_path: Path) -> None:
    killed = child(tmp_path, "import time; time.sleep(60)")
    killed.start()
    assert killed.process
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait()
    assert "killed by SIGKILL" in (killed.tend() or "")


def test_a_large_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LARGEST_LOG", 10)
    (tmp_path / "log").write_text("x" * 11)
    quick = child(tmp_path, "print('new')")
    quick.start()
    assert quick.process
    quick.process.wait()
    assert (tmp_path / "log").read_text() == "new\n"
    assert (tmp_path / "log.log.1").read_text() == "x" * 11


def test_two_planes_need_two_ports() -> None:
    with pytest.raises(single.CannotStart, match="two ports"):
        single.check_ports(8123, 8123)


def test_a_port_beyond_the_last_is_refused_with_a_sentence() -> None:
    with pytest.raises(single.CannotStart, match="Port 70000 cannot be used"):
        single.check_ports(70000, 8001)


def test_the_lock_names_who_holds_it(tmp_path: Path) -> None:
    with single.lock(tmp_path / "up.lock", "http://localhost:8000"):
        with pytest.raises(single.CannotStart, match=rf"pid {os.getpid()}, http://localhost:8000"):
            single.lock(tmp_path / "up.lock", "http://localhost:9000")
    with (tmp_path / "up.lock").open() as free:
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.fixture
def at(tmp_path: Path) -> Installation:
    demo = ("shop_reader", "shop_doctor", "shop_writer", "own_reader", "own_doctor")
    secrets = {name: f"secret-of-{name}" for name in (*demo, "broker")}
    secrets |= {f"db_{name}": f"secret-of-db-{name}" for name in PROCESSES}
    secrets |= {"secret_key": "k" * 50, "seal_key": str(notes.SigningKey("example.com/log", bytes(32)))}
    return Installation(tmp_path, tmp_path / "run", secrets, 9000, 9001, True, 9002)


@pytest.mark.parametrize(
    ("process", "shop"),
    [
        ("people", set()),
        ("agents", {"SHOP_READER_DSN"}),
        # Counterseal's own record is for people: agents' plane gets no credential for it.
        ("reads", {"SHOP_READER_DSN", "SHOP_DOCTOR_DSN", "OWN_READS_DSN", "OWN_DOCTOR_DSN"}),
        ("answers", set()),
        ("worker", set()),
        ("writer", {"SHOP_WRITER_DSN"}),
        ("sealer", set()),
        ("publisher", set()),
        ("witness", set()),
        ("owner", set()),
    ],
)
def test_production_credentials_go_where_design_says(at: Installation, process: str, shop: set[str]) -> None:
    told = at.environment(process)
    assert {name for name in told if name.endswith("_DSN")} == shop
    assert not any("secret-of-shop_owner" in value for value in told.values())


@pytest.mark.parametrize(
    ("variable", "told"),
    [("SHELF_READER_TOKEN", {"agents", "reads"}), ("SHELF_DOCTOR_TOKEN", {"reads"}), ("SHELF_TOKEN", set())],
)
def test_tokens_of_http_sources_go_where_their_names_say(
    at: Installation, monkeypatch: pytest.MonkeyPatch, variable: str, told: set[str]
) -> None:
    monkeypatch.setenv(variable, "t")
    assert {process for process in PROCESSES if variable in at.environment(process)} == told


# What only a command that an operator types reads.
TYPED = {"COUNTERSEAL_NEXT_SEAL_KEY"}


def test_whatever_the_settings_read_reaches_a_child(at: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is documented and set, and that no child is told, would be a limit without effect."""
    files = [Path(services.__file__).with_name(name) for name in SETTINGS]
    read = set(re.findall(r'"(COUNTERSEAL_[A-Z_]+)"', "".join(file.read_text() for file in files)))
    for name in read - {"COUNTERSEAL_PROCESS", "COUNTERSEAL_VAR"}:
        monkeypatch.setenv(name, "1")
    told = {name for process in PROCESSES for name in at.environment(process)}
    assert read - TYPED <= told


@pytest.mark.parametrize("has_demo", [True, False])
@pytest.mark.parametrize("own", ["", "/srv/our-cases", "/srv/our-cases:/srv/more"])
def test_ones_own_cases_stand_beside_the_shops(
    at: Installation, monkeypatch: pytest.MonkeyPatch, own: str, has_demo: bool
) -> None:
    """The demo's rules are tried on the shop's cases: whoever adds some must not take those away."""
    monkeypatch.setenv("COUNTERSEAL_CASES", own)
    for process in ("people", "worker"):
        folders = replace(at, has_demo=has_demo).environment(process)["COUNTERSEAL_CASES"].split(":")
        assert [folder for folder in own.split(":") if folder and folder not in folders] == []
        assert any(folder.endswith("demo/cases") for folder in folders) == has_demo


def test_the_witness_is_told_of_no_database_and_of_no_secret(at: Installation) -> None:
    told = at.environment("witness")
    assert "DATABASE_URL" not in told
    assert not [value for value in told.values() if value in at.secrets.values() or "secret-of" in value]
    assert told["COUNTERSEAL_LOG_PUBLIC_KEYS"].startswith("example.com/log+")


def test_the_publisher_alone_is_told_where_checkpoints_go(at: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSEAL_CHECKPOINT_FILE", "/mnt/elsewhere/checkpoints")
    told = at.environment("publisher")
    assert told["COUNTERSEAL_WITNESS_URL"] == "http://127.0.0.1:9002"
    assert told["COUNTERSEAL_CHECKPOINT_FILE"] == "/mnt/elsewhere/checkpoints"
    assert "COUNTERSEAL_SEAL_KEY" not in told
    assert not [name for name in at.environment("sealer") if "CHECKPOINT" in name or "WITNESS" in name]


def test_the_answering_worker_alone_is_told_of_the_model(at: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERSEAL_ANSWERING_MODEL", raising=False)
    assert "answers worker" not in [child.name for child in services.processes(at)]
    for name in services.ANSWERING:
        monkeypatch.setenv(name, "told")
    assert "answers worker" in [child.name for child in services.processes(at)]
    told = {process: at.environment(process) for process in (*PROCESSES, "witness")}
    assert {process for process, its in told.items() if set(services.ANSWERING) & its.keys()} == {"answers"}
    assert not [name for name in told["answers"] if name.endswith(("_DSN", "_TOKEN", "SECRET_KEY", "SEAL_KEY"))]


def test_ones_own_credentials_go_the_same_way(at: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_WRITER_DSN", "w")
    assert "ORDERS_WRITER_DSN" in at.environment("writer")
    assert not [who for who in ("people", "agents", "reads", "worker") if "ORDERS_WRITER_DSN" in at.environment(who)]
    # What the writer asks for stands where its credentials do: whoever is another process cannot say less.
    monkeypatch.setenv("COUNTERSEAL_WRITE_FLOOR", "ORDERS_WRITER_DSN:2")
    others = ("people", "agents", "reads", "worker", "sealer")
    assert at.environment("writer")["COUNTERSEAL_WRITE_FLOOR"] == "ORDERS_WRITER_DSN:2"
    assert not [who for who in others if "COUNTERSEAL_WRITE_FLOOR" in at.environment(who)]


def test_the_origins_follow_the_ports(at: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERSEAL_ORIGIN", raising=False)
    assert at.environment("agents")["COUNTERSEAL_ORIGIN"] == "http://localhost:9000"
    assert at.environment("people")["COUNTERSEAL_AGENTS_ORIGIN"] == "http://localhost:9001"


def test_every_queue_has_a_worker(settings: Any) -> None:
    served = {program.name for program in PROGRAMS if program.is_worker}
    assert {queue.name for queue in settings.CELERY_TASK_QUEUES} == served
    beats = {entry["options"]["queue"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert beats <= served


def test_a_socket_directory_of_a_stranger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "run").chmod(0o777)
    with pytest.raises(embedded.EmbeddedError, match="open to others"):
        embedded.make_sockets_directory(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with pytest.raises(embedded.EmbeddedError, match="someone else"):
        embedded.make_sockets_directory(tmp_path / "link")


def test_the_brokers_password_is_not_on_its_command_line(tmp_path: Path) -> None:
    command = embedded.valkey_command(tmp_path / "valkey", tmp_path / "run", "tall-ships")
    assert "tall-ships" not in " ".join(command)
    assert (tmp_path / "valkey" / "password.conf").stat().st_mode & 0o777 == 0o600
