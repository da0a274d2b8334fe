"""Live counts: a stream that says only that something changed, behind a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import psycopg
import pytest
from django.test import Client

from audit import log
from audit import nudges as hub
from audit.kinds import Kind
from gate.people import visits
from gate.people.models import Person
from gate.triage import arrivals, nudges
from gate.writes.models import WriteRequest
from tests.gate.serving import LOOK, server, until

__all__ = ["server"]

pytestmark = pytest.mark.timeout(30)


def stream(server: Any, who: str = "ada") -> Any:
    headers = {"Accept": "text/event-stream"}
    return httpx2.stream("GET", f"{server.url}/inbox/nudges/", cookies=server.cookies[who], headers=headers, timeout=5)


def next_data(lines: Iterator[str]) -> str:
    return next(line for line in lines if line.startswith("data"))


def change() -> None:
    log.record(Kind.DRAFT_CLAIMED, log.Actor("person", "Ada", "ada"), subject="V-1")


def listeners(superuser: psycopg.Connection[Any]) -> int:
    row = superuser.execute("select count(*) from pg_stat_activity where query = 'listen audit_counts'").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.django_db(transaction=True)
def test_a_change_nudges_every_stream_and_says_nothing_else(server: Any) -> None:
    with stream(server) as one, stream(server, "mia") as two:
        assert one.headers["Content-Type"] == "text/event-stream"
        assert one.headers["Cache-Control"] == "no-store"
        assert one.headers["X-Accel-Buffering"] == "no"
        opened = [one.iter_lines(), two.iter_lines()]
        next_data(opened[0])  # it listens now
        began = time.monotonic()
        change()
        said = [next_data(lines) for lines in opened]
        assert time.monotonic() - began < 3
    assert all(line.removeprefix("data: ").isdecimal() for line in said)


@pytest.mark.django_db(transaction=True)
def test_a_process_listens_once_and_only_while_somebody_looks(server: Any, superuser: Any) -> None:
    with stream(server) as one, stream(server) as two:
        opened = [one.iter_lines(), two.iter_lines()]
        next_data(opened[0])
        next(opened[1])
        assert listeners(superuser) == 1
        assert nudges.open_streams[server.people["ada"].pk] == 2
    until(lambda: listeners(superuser) == 0)
    until(lambda: nudges.open_streams[server.people["ada"].pk] == 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["signed out", "deactivated", "new password", "session over"])
def test_a_stream_ends_with_its_session(server: Any, how: str, superuser: Any) -> None:
    ada = server.people["ada"]
    with stream(server) as response:
        lines = response.iter_lines()
        next_data(lines)
        if how == "signed out":
            Client(headers={"Cookie": cookie(server)}).post("/sign-out/")
        elif how == "deactivated":
            Person.objects.filter(pk=ada.pk).update(is_active=False)
        elif how == "new password":
            ada.set_password("another horse battery")
            ada.save()
        else:
            visits.Session.objects.update(expire_date="2020-01-01T00:00Z")
        change()
        assert [line for line in lines if line.startswith("data")] == []


def cookie(server: Any) -> str:
    return "; ".join(f"{name}={value}" for name, value in server.cookies["ada"].items())


@pytest.mark.django_db(transaction=True)
def test_after_an_outage_the_stream_goes_on(server: Any, superuser: Any) -> None:
    with stream(server) as response:
        lines = response.iter_lines()
        next_data(lines)
        superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen audit_counts'")
        next_data(lines)  # something may be missed, it says
        change()
        next_data(lines)


@pytest.mark.django_db(transaction=True)
def test_while_the_database_is_away_the_stream_is_silent_and_stays(
    server: Any, monkeypatch: pytest.MonkeyPatch, superuser: Any
) -> None:
    with stream(server) as response:
        lines = response.iter_lines()
        next_data(lines)
        superuser.execute("alter role counterseal_people nologin")
        try:
            superuser.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'counterseal_people'"
            )
            time.sleep(3 * LOOK)
        finally:
            superuser.execute("alter role counterseal_people login")
        next_data(lines)


@pytest.mark.django_db(transaction=True)
def test_a_stop_does_not_wait_for_open_streams(server: Any) -> None:
    with stream(server) as response:
        lines = response.iter_lines()
        next_data(lines)
        began = time.monotonic()
        server.should_exit = True
        server.thread.join(10)
        assert not server.thread.is_alive()
        assert time.monotonic() - began < 2.5


@pytest.mark.django_db(transaction=True)
def test_streams_are_limited_and_the_rest_polls(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nudges, "MOST_OF_ONE", 1)
    with stream(server) as first:
        lines = first.iter_lines()
        next_data(lines)
        with stream(server) as second:
            assert second.status_code == 429
        with stream(server, "mia") as other:
            assert other.status_code == 200
            next(other.iter_lines())


@pytest.mark.asyncio
async def test_streams_that_come_at_once_do_not_pass_the_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nudges, "MOST_OF_ONE", 1)
    monkeypatch.setattr(hub.Hub, "_listen", stay_silent)
    ada = -1
    coming = [nudges._events(ada, lambda: True) for _ in range(3)]  # all were let in before one was counted
    try:
        assert [await anext(stream, b"over") for stream in coming] == [b": nothing new\n\n", b"over", b"over"]
        assert nudges.open_streams[ada] == 1
    finally:
        await coming[0].aclose()
    assert nudges.open_streams[ada] == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("steps", range(4))  # of the event loop, between the nudge and the page's leaving
async def test_a_page_that_leaves_as_a_nudge_comes_ends_its_stream(steps: int) -> None:
    nudge = asyncio.Event()
    waiting = asyncio.create_task(nudges._until_next(nudge))
    for _ in range(3):
        await asyncio.sleep(0)
    nudge.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    if waiting.cancel():
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def stay_silent(_: hub.Hub) -> None:
    """A listener whose database says nothing."""


@pytest.mark.django_db
@pytest.mark.parametrize("header", [{"Accept": "text/event-stream"}, {"HX-Request": "true"}])
def test_what_a_page_asks_for_by_itself_is_refused_to_a_stranger(client: Client, header: dict[str, str]) -> None:
    answer = client.get("/inbox/rail/", headers=header)
    assert answer.status_code == 401
    assert answer.content == b"You are signed out. Sign in to go on."


@pytest.mark.django_db
def test_only_what_changes_a_count_is_announced(superuser: Any, cluster_socket: Any) -> None:
    from django.db import connection

    where = {**connection.get_connection_params(), "autocommit": True}
    with psycopg.connect(**where) as listening:
        listening.execute(f"listen {hub.CHANNEL}")
        by = log.Actor.process()
        for kind in (Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.PERSON_SIGNED_IN, Kind.LOG_VIEWED):
            log.record(kind, by)
        assert list(listening.notifies(timeout=0.3)) == []
        for kind in (Kind.VERDICT_RENDERED, Kind.DRAFT_SNOOZED, Kind.WRITE_EXPIRED, Kind.DEFINITION_DRAFTED):
            log.record(kind, by)
            assert [note.payload for note in listening.notifies(timeout=3, stop_after=1)] == [""]


@pytest.mark.django_db
def test_what_came_since_the_page_was_drawn_is_announced(client: Client, make_person: Any, make_draft: Any) -> None:
    client.force_login(make_person("ada"))
    make_draft()
    page = client.get("/inbox/")
    seen = page.context["newest"]
    assert f'name="newest" value="{seen}"' in page.content.decode()
    asked = f"/inbox/rail/?newest={seen}"
    quiet = client.get(asked)
    assert b"#news" not in quiet.content
    make_draft()
    told = client.get(asked, headers={"If-None-Match": quiet["ETag"]})
    assert b'<div hx-swap-oob="innerHTML:#news"><a href="">1 new draft. Show</a></div>' in told.content
    make_draft()
    assert b"2 new drafts. Show" in client.get(asked).content


@pytest.mark.django_db
@pytest.mark.parametrize("seen", ["", "1", "-", "x-y", "1-2-3", "9" * 19 + "-1", "'; --"])
def test_a_mark_that_is_none_announces_nothing(make_person: Any, make_draft: Any, seen: str) -> None:
    make_draft()
    assert arrivals.since(seen, make_person("ada")) == ""


@pytest.mark.django_db
def test_nothing_new_is_announced_to_whoever_decides_nothing(make_person: Any, make_draft: Any) -> None:
    make_draft()
    assert arrivals.since("0-0", make_person("vera", "viewer")) == ""
    assert not WriteRequest.objects.exists()
    assert arrivals.since("0-0", make_person("ada")) == "1 new draft."
