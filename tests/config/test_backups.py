"""A backup is one private file, and a restore from it gives everything back, into an empty database alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from evidence.own import shipped
from gate.config import fingerprint
from gate.config.roles import role_name

ROOT = Path(__file__).resolve().parents[2]
OWNER = f"postgresql://{role_name('owner')}:test-owner@/{{name}}?host={{sockets}}"


def manage(*words: str, **told: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *words], env={**kept, **told}, cwd=ROOT,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def done(*words: str, **told: str) -> str:
    ran = manage(*words, **told)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def databases(cluster_socket: Path) -> Iterator[tuple[str, str]]:
    """One with a person, agent and entries in it, and an empty one: their owner's URLs."""
    names = ("kept", "emptied")
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname="postgres", autocommit=True) as superuser:
        for name in names:
            superuser.execute(f"create database {name} owner {role_name('owner')}")
        full, empty = (OWNER.format(name=name, sockets=cluster_socket) for name in names)
        done("upgrade", COUNTERSEAL_OWNER_URL=full)
        people = full.replace("_owner:test-owner", "_people:test-people")
        done("add_person", "mia", "--role", "admin", DATABASE_URL=people)
        done("agent_token", "triage", "--owner", "mia", "--scopes", "tools", DATABASE_URL=people)
        with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=names[0], autocommit=True) as own:
            # What a superuser made beside it: no owner may bring that back, and another server has no such roles.
            own.execute(shipped.logins().encode())
            own.execute(shipped.views().encode())
            own.execute(f"revoke connect on database {names[0]} from own_reader, own_doctor")
        yield full, empty
        for name in names:
            superuser.execute(f"drop database {name} with (force)")
        superuser.execute("drop role own_reader, own_doctor")


@pytest.fixture(scope="module")
def backup(databases: tuple[str, str], tmp_path_factory: Any) -> Path:
    made = Path(tmp_path_factory.mktemp("backups")) / "of today.dump"
    done("backup", str(made), COUNTERSEAL_OWNER_URL=databases[0])
    return made


def rows(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


ENTRIES = "select id, seq, at, kind, db_role, digest, xid::text from audit_entry order by seq"


def test_a_backup_is_for_the_owner_alone(backup: Path) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in backup.parent.iterdir()] == [backup.name]


def test_a_backup_replaces_no_file(backup: Path, databases: tuple[str, str]) -> None:
    before = backup.read_bytes()
    ran = manage("backup", str(backup), COUNTERSEAL_OWNER_URL=databases[0])
    assert (ran.returncode, "is there already" in ran.stderr) == (1, True)
    assert backup.read_bytes() == before


def test_a_backup_that_fails_leaves_nothing(databases: tuple[str, str], tmp_path: Path) -> None:
    # The people's role may not read everything, and half a backup is none.
    people = databases[0].replace("_owner:test-owner", "_people:test-people")
    ran = manage("backup", str(tmp_path / "x"), COUNTERSEAL_OWNER_URL=people)
    assert (ran.returncode, "pg_dump failed" in ran.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_backup_is_refused(databases: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "x").write_text("select 1;")
    for name, said in (("x", "pg_restore failed"), ("y", "There is no file")):
        ran = manage("restore", str(tmp_path / name), COUNTERSEAL_OWNER_URL=databases[1])
        assert (ran.returncode, said in ran.stderr) == (1, True), ran.stderr


def test_nothing_is_restored_over_a_log(databases: tuple[str, str], backup: Path) -> None:
    before = rows(databases[0], ENTRIES)
    ran = manage("restore", str(backup), COUNTERSEAL_OWNER_URL=databases[0])
    assert (ran.returncode, "has entries already" in ran.stderr) == (1, True), ran.stderr
    assert rows(databases[0], ENTRIES) == before


def test_everything_comes_back_with_its_guards_and_an_entry_says_so(databases: tuple[str, str], backup: Path) -> None:
    full, empty = databases
    assert "recorded as A-" in done("restore", str(backup), COUNTERSEAL_OWNER_URL=empty)
    before, after = rows(full, ENTRIES), rows(empty, ENTRIES)
    assert after[: len(before)] == before
    assert [row[3] for row in after[len(before) :]] == ["log.restored"]
    assert after[-1][1] > before[-1][1]
    assert rows(empty, "select username from people_person") == [("mia",)]
    for statement in ("delete from audit_entry", "update audit_entry set actor = 'x'", "truncate audit_entry"):
        with psycopg.connect(empty) as connection, pytest.raises(psycopg.Error):
            connection.execute(statement)
    assert set(rows(empty, fingerprint.GUARDS)) == set(rows(full, fingerprint.GUARDS))


def test_an_embedded_installation_is_restored_before_its_first_start(backup: Path) -> None:
    var = Path(tempfile.mkdtemp(prefix="counterseal-restore-"))
    var.chmod(0o755)
    try:
        assert "recorded as A-" in done("restore", str(backup), COUNTERSEAL_VAR=str(var))
        again = manage("restore", str(backup), COUNTERSEAL_VAR=str(var))
        assert (again.returncode, "has entries already" in again.stderr) == (1, True), again.stderr
        assert (var / "secrets.json").stat().st_mode & 0o777 == 0o600
        assert not (var / "postgres" / "postmaster.pid").exists()
    finally:
        shutil.rmtree(var, ignore_errors=True)
