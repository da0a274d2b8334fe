"""A state directory that cannot serve: one sentence that says why and what to do, exit code 1, and nothing left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from gate.config import embedded, place, secrets_file
from gate.config.single import CannotStart
from tests.config.plain import NAME, Plain
from tests.config.supervised import ROOT, wait_until
from tests.machine import command_line, free_port


def up(var: Path, plain: Plain | None = None, uid: int | None = None) -> subprocess.CompletedProcess[str]:
    """One start that has to be refused, by us or by the account without rights."""
    options = plain.options(uid) if plain else {"env": {**os.environ}}
    options["env"]["COUNTERSEAL_VAR"] = str(var)
    options["env"].pop("DATABASE_URL", None)
    python, project = (plain.python, plain.project) if plain else (sys.executable, ROOT)
    command = [python, project / "manage.py", "up", "--no-demo"]
    command += ["--port", str(free_port()), "--agents-port", str(free_port())]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/", **options)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that every account can reach."""
    made = Path(tempfile.mkdtemp(prefix="counterseal-place-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("name", ["var", "log", "up.lock"])
def test_another_account_is_told_whose_it_is(open_place: Path, plain: Plain, name: str) -> None:
    var = open_place / "var"
    (var / "log").mkdir(parents=True)
    shutil.chown(var, NAME)
    shutil.chown(var / "log", NAME)
    mine = var if name == "var" else var / name
    if name == "up.lock":
        mine.touch(mode=0o600)
    shutil.chown(mine, "root")
    said = refusal(up(var, plain))
    assert f"{mine} belongs to root, and {NAME} may not write there." in said
    assert "COUNTERSEAL_VAR" in said


@pytest.mark.parametrize("file_is_there", [True, False])
def test_another_accounts_secrets_are_not_read(open_place: Path, plain: Plain, file_is_there: bool) -> None:
    if file_is_there:
        (open_place / "secrets.json").touch(mode=0o600)
    else:
        open_place.chmod(0o700)
    said = refusal(up(open_place, plain))
    assert "secrets.json is not yours to read" in said


def test_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "var").touch()
    assert f"{tmp_path / 'var'} cannot be used" in refusal(up(tmp_path / "var"))


@pytest.mark.parametrize("text", ["", "{half", "[]", '{"secret_key"', "null", "3"])
def test_broken_secrets_are_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "secrets.json").write_text(text)
    (tmp_path / "secrets.json").chmod(0o600)
    with pytest.raises(ImproperlyConfigured, match=r"secrets.json is broken .* Move it away") as refused:
        read(tmp_path)
    assert str(tmp_path) in str(refused.value)


def read(var: Path) -> dict[str, str]:
    """The secrets of another state directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COUNTERSEAL_VAR", str(var))
        return secrets_file.load.__wrapped__()


def test_a_command_says_it_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text("{half")
    (tmp_path / "secrets.json").chmod(0o600)
    assert "secrets.json is broken" in refusal(up(tmp_path))


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o601])
def test_secrets_that_others_can_read_are_not_used(tmp_path: Path, mode: int) -> None:
    (tmp_path / "secrets.json").write_text("{}")
    (tmp_path / "secrets.json").chmod(mode)
    with pytest.raises(ImproperlyConfigured, match=f"open to other accounts .mode {mode:o}.*chmod 600"):
        read(tmp_path)


def test_secrets_are_there_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "secrets.json"
    secrets_file.write(target, {"a": "1"})
    assert (target.read_text(), target.stat().st_mode & 0o777) == ('{\n "a": "1"\n}', 0o600)
    assert read(tmp_path) == {"a": "1"}


def test_another_programs_directory_is_not_taken_for_a_database(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "notes.txt").touch()
    with pytest.raises(embedded.EmbeddedError, match="is no database of PostgreSQL; move it away"):
        embedded.init_postgres(tmp_path / "postgres")
    assert [found.name for found in tmp_path.iterdir()] == ["postgres"]


def test_an_account_without_a_name_is_said(open_place: Path, plain: Plain) -> None:
    shutil.chown(open_place, 54321)
    said = refusal(up(open_place, plain, 54321))
    assert "Account 54321 has no name on this machine" in said


@pytest.mark.parametrize("name", ["var", "var/log"])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o703])
def test_a_place_where_everybody_may_write_is_not_ours(tmp_path: Path, name: str, mode: int) -> None:
    (tmp_path / "var" / "log").mkdir(parents=True)
    (tmp_path / name).chmod(mode)
    with pytest.raises(CannotStart, match=f"Every account may write in {tmp_path / name}; .* chmod o-w, .*COUNTERSEAL"):
        place.prepare(tmp_path / "var")
    (tmp_path / name).chmod(0o755)
    place.prepare(tmp_path / "var")


def test_a_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.disk.free", lambda _: 5 * place.MEGABYTE)
    with pytest.raises(CannotStart, match=r"The disk at /.*, which holds .*, has 5 MB left, and a start needs 200 MB"):
        place.prepare(tmp_path / "var")
    assert not (tmp_path / "var").exists()


def test_a_server_that_still_ends_is_waited_for(tmp_path: Path) -> None:
    data = tmp_path / "postgres"
    data.mkdir()
    ending = subprocess.Popen(["sh", "-c", "sleep 0.5; exit; : ", str(data)])
    (data / "postmaster.pid").write_text(f"{ending.pid}\n{data}\n")
    wait_until(lambda: command_line(ending.pid) != [""], "it has begun")
    embedded.clear_pid_files(data, tmp_path)
    assert not Path(f"/proc/{ending.pid}/cmdline").read_text()
    assert not (data / "postmaster.pid").exists()
    ending.wait()


def test_a_server_that_stays_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "SECONDS_TO_END", 0.1)
    data = tmp_path / "postgres"
    data.mkdir()
    staying = subprocess.Popen(["sh", "-c", "sleep 60; exit", str(data)], start_new_session=True)
    (data / "postmaster.pid").write_text(f"{staying.pid}\n{data}\n")
    wait_until(lambda: command_line(staying.pid) != [""], "it has begun")
    try:
        with pytest.raises(embedded.EmbeddedError, match=f"pid {staying.pid}, still runs"):
            embedded.clear_pid_files(data, tmp_path)
    finally:
        os.killpg(staying.pid, 9)
        staying.wait()
    assert (data / "postmaster.pid").exists()
