"""The sessions that entries are committed on: few, alive, and closed when nobody needs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors

from audit import sessions
from audit.entry_cursor import EntryCursor
from audit.sessions import Sessions


@pytest.fixture
def few(cluster_socket: Path) -> Iterator[Sessions]:
    made = Sessions(f"host={cluster_socket} user=postgres dbname=postgres")
    yield made
    made.close()


def test_a_session_is_used_again(few: Sessions) -> None:
    with few.one() as first:
        pass
    with few.one() as second:
        assert second is first


def test_two_pieces_of_work_at_once_have_two(few: Sessions) -> None:
    with few.one() as first, few.one() as second:
        assert first is not second


def test_one_that_the_server_ended_is_replaced(few: Sessions, superuser: psycopg.Connection[Any]) -> None:
    with few.one() as first:
        pass
    superuser.execute("select pg_terminate_backend(%s, 5000)", [first.connection.info.backend_pid])
    with few.one() as second:
        assert second is not first
        assert second.connection.execute("select 1").fetchone() == (1,)
    assert first.connection.closed


def test_one_that_failed_is_not_used_again(few: Sessions) -> None:
    with pytest.raises(ZeroDivisionError), few.one() as first:
        raise ZeroDivisionError
    assert first.connection.closed
    with few.one() as second:
        assert second is not first


def test_there_are_no_more_than_so_many(few: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.1)
    with ExitStack() as used:
        for _ in range(sessions.MOST):
            used.enter_context(few.one())
        with pytest.raises(psycopg.OperationalError, match="sessions were busy"), few.one():
            pass
    with few.one():
        pass


def test_who_comes_later_gets_the_next_that_is_free(few: Sessions) -> None:
    got = threading.Event()

    def work() -> None:
        with few.one():
            got.set()

    with ExitStack() as used:
        for _ in range(sessions.MOST):
            used.enter_context(few.one())
        thread = threading.Thread(target=work)
        thread.start()
        assert not got.wait(0.2)
    assert got.wait(5)
    thread.join()


def test_those_that_failed_make_room_for_others(few: Sessions) -> None:
    for _ in range(sessions.MOST + 1):
        with pytest.raises(ZeroDivisionError), few.one():
            raise ZeroDivisionError


def test_a_database_that_is_not_there_is_an_error_and_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.1)
    nowhere = Sessions(f"host={tmp_path} dbname=nothing")
    for _ in range(sessions.MOST + 1):
        with pytest.raises(psycopg.OperationalError, match="No such file"), nowhere.one():
            pass


def test_one_that_nobody_needed_for_long_is_closed(few: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    with few.one() as first, few.one() as second:
        pass
    first.used_at -= sessions.LONGEST_IDLE
    second.used_at -= sessions.LONGEST_IDLE
    with few.one() as used:
        pass
    idle = second if used is first else first
    assert idle.connection.closed
    assert not used.connection.closed


def test_closing_ends_also_those_in_use_as_soon_as_they_are_free(few: Sessions) -> None:
    with few.one() as free:
        pass
    with few.one() as used, few.one() as other:
        few.close()
        assert not used.connection.closed
    assert free.connection.closed
    assert used.connection.closed
    assert other.connection.closed


RETURNS = "select %s::uuid, %s::int8, %s::timestamptz where length(%s::bytea) = %s::int and %s::text is null"


def test_the_cursor_for_entries_passes_texts_numbers_bytes_and_nulls(superuser: psycopg.Connection[Any]) -> None:
    cursor, key = EntryCursor(superuser), uuid4()
    for moment in ("2026-11-30T03:04:05.678901+00:00", "1999-01-01T00:00:00+00:00"):
        cursor.execute(RETURNS, [str(key), -7, moment, b"\0\1", 2, None])
        found, number, at = cursor.fetchone()
        assert (found, number, at.isoformat()) == (key, -7, moment)


def test_the_cursor_for_entries_raises_what_psycopg_would(superuser: psycopg.Connection[Any]) -> None:
    cursor = EntryCursor(superuser)
    with pytest.raises(errors.InvalidTextRepresentation):
        cursor.execute(RETURNS, ["no key", 1, "now", b"", 0, None])
    with pytest.raises(errors.SyntaxError):
        cursor.execute("select from where", [])


def test_the_cursor_for_entries_tells_a_lost_session(cluster_socket: Path, superuser: psycopg.Connection[Any]) -> None:
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname="postgres", autocommit=True) as session:
        cursor = EntryCursor(session)
        superuser.execute("select pg_terminate_backend(%s, 5000)", [session.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            cursor.execute("select 1", [])
        with pytest.raises(psycopg.OperationalError):
            cursor.execute("select 1", [])
