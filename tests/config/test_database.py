from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kombu import Connection
from psycopg.conninfo import conninfo_to_dict

from gate.config import database, secrets_file

# What a directory's name can hold on this system, less what needs a drive of its own to test
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20)
PASSWORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("line", "process"),
    [
        ("manage.py serve people", "people"),
        ("manage.py serve agents --port 9", "agents"),
        ("manage.py relay", "worker"),
        ("manage.py upgrade", "owner"),
        ("manage.py add_person ada", "people"),
        ("celery -A gate.config.celery worker", "people"),
    ],
)
def test_the_command_line_decides_the_role(monkeypatch: pytest.MonkeyPatch, line: str, process: str) -> None:
    monkeypatch.delenv("COUNTERSEAL_PROCESS", raising=False)
    assert database.process_of(line.split()) == process


def test_the_environment_decides_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSEAL_PROCESS", "writer")
    assert database.process_of(["manage.py", "relay"]) == "writer"


@given(name=NAMES, password=PASSWORDS)
def test_a_socket_url_is_read_back_by_django_and_by_libpq(name: str, password: str) -> None:
    sockets = Path("/tmp") / name
    url = database.socket_url(sockets, "counterseal_people", password)
    read = dj_database_url.parse(url)
    assert (read["HOST"], read["USER"], read["PASSWORD"]) == (str(sockets), "counterseal_people", password)
    libpq = conninfo_to_dict(url)
    assert (libpq["host"], libpq["password"], libpq["dbname"]) == (str(sockets), password, "counterseal")


@settings(deadline=None)  # the first call imports the transport
@given(password=PASSWORDS)
def test_a_broker_url_carries_the_path_and_the_password(password: str) -> None:
    url = database.socket_broker_url(Path("/tmp/a b/run"), password)
    channel = Connection(url).transport.Channel
    assert channel  # the transport of the URL is known
    from kombu.utils.url import _parse_url

    parts = _parse_url(url)
    assert ("/" + parts.path, parts.password) == ("/tmp/a b/run/valkey.sock", password)


@pytest.mark.parametrize(("process", "knows"), [("people", False), ("agents", False), ("worker", True)])
def test_a_plane_does_not_know_the_broker(monkeypatch: pytest.MonkeyPatch, process: str, knows: bool) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("COUNTERSEAL_BROKER_URL", raising=False)
    monkeypatch.setattr(secrets_file, "load", lambda: {"broker": "secret"})
    assert ("secret" in database.broker_url(process)) is knows


def test_a_process_that_was_told_its_database_does_not_open_the_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://x@y/z")
    monkeypatch.setattr(secrets_file, "load", lambda: {"secret_key": "k"})
    assert database.stored_secret("secret_key") == ""


@pytest.mark.parametrize(
    ("url", "noted", "said"),
    [("", True, "http://localhost:8160"), ("", False, ""), ("postgresql://x@y/z", True, "")],
    ids=["here", "never started", "told its database"],
)
def test_a_command_knows_where_the_planes_were_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, noted: bool, said: str
) -> None:
    # `pin_key --list` says it to whoever checks receipts: with another port's origin, no passkey's approval would hold.
    monkeypatch.delenv("COUNTERSEAL_ORIGIN", raising=False)
    monkeypatch.setenv("COUNTERSEAL_VAR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setattr(secrets_file, "load", lambda: {"secret_key": "k"})
    if noted:
        (tmp_path / database.ORIGINS).write_text(
            '{"people": "http://localhost:8160", "agents": "http://localhost:8161"}'
        )
    assert database.started_at("people") == said
    monkeypatch.setenv("COUNTERSEAL_ORIGIN", "https://counterseal.example.com")
    assert database.started_at("people") == ""


def test_options_of_a_url_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://x@y/z?sslmode=verify-full")
    assert database.configuration()["OPTIONS"]["sslmode"] == "verify-full"


def test_sockets_move_below_tmp_when_the_path_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSEAL_VAR", "/tmp/" + "x" * 120)
    assert len(str(database.run_dir() / ".s.PGSQL.5432.lock")) < 107
    monkeypatch.setenv("COUNTERSEAL_VAR", "/tmp/short")
    assert database.run_dir() == Path("/tmp/short/run")


@pytest.fixture
def fresh_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("COUNTERSEAL_VAR", str(tmp_path / "var"))
    secrets_file.load.cache_clear()
    yield secrets_file
    secrets_file.load.cache_clear()


def test_secrets_are_drawn_once_and_readable_by_their_owner_alone(fresh_secrets: Any) -> None:
    first = fresh_secrets.create_missing()
    fresh_secrets.load.cache_clear()
    assert fresh_secrets.create_missing() == first
    assert len(set(first.values())) == len(first)
    assert min(map(len, first.values())) > 40
    assert fresh_secrets.path().stat().st_mode & 0o777 == 0o600
