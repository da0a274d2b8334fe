"""What people, agents and operators read when a request failed: a full disk by its name, and nothing else for it."""

from __future__ import annotations

from typing import Any

import django.db
import psycopg
import pytest
from django.core.management.base import CommandError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from psycopg import errors
from psycopg_pool import PoolTimeout

from audit import disk, work
from evidence import problems
from gate.people.operator import OperatorCommand

FULL = errors.DiskFull("could not extend file: No space left on device")
LOST = psycopg.OperationalError("server closed the connection unexpectedly")


def of_django(cause: psycopg.Error) -> django.db.Error:
    wrapped = django.db.OperationalError(*cause.args)
    wrapped.__cause__ = cause
    return wrapped


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> Any:
    """Call it with the bytes that the disk has left."""
    settings.DATABASE_PLACE = tmp_path

    def left(number: int) -> None:
        monkeypatch.setattr(disk, "free", lambda _: number)

    left(disk.LEAST)
    work.begin()
    return left


@pytest.mark.parametrize("error", [FULL, of_django(FULL)], ids=["psycopg", "django"])
def test_a_statement_that_found_no_room_changed_nothing(room: Any, error: Exception) -> None:
    assert disk.said_of(error) == disk.NOTHING_CHANGED


def test_what_was_recorded_before_is_not_denied(room: Any) -> None:
    work.also(entry="A-1")
    assert disk.said_of(FULL) == disk.PARTLY_RECORDED
    work.begin(request="the next")
    assert disk.said_of(FULL) == disk.NOTHING_CHANGED


@pytest.mark.parametrize("error", [LOST, of_django(LOST), PoolTimeout("no session"), errors.CannotConnectNow("starts")])
def test_a_lost_database_is_explained_by_a_full_disk_alone(room: Any, error: Exception) -> None:
    assert disk.said_of(error) is None
    room(disk.LEAST - 1)
    assert disk.said_of(error) == disk.STOPPED


@pytest.mark.parametrize(
    "error", [errors.UniqueViolation("x"), errors.LockNotAvailable("x"), errors.QueryCanceled("x"), ValueError("x")]
)
def test_what_a_full_disk_does_not_cause_is_not_blamed_on_it(room: Any, error: Exception) -> None:
    room(0)
    assert disk.said_of(error) is None


def test_the_disk_of_another_machine_is_not_looked_at(room: Any, settings: Any) -> None:
    room(0)
    settings.DATABASE_PLACE = None
    assert disk.said_of(LOST) is None
    assert disk.said_of(FULL) == disk.NOTHING_CHANGED


def test_room_is_that_of_the_nearest_directory_there_is(tmp_path: Any) -> None:
    assert abs(disk.free(tmp_path / "not" / "there") - disk.free(tmp_path)) < 100 * disk.LEAST


# The people's plane


def broken_by(error: Exception, entry: str = "") -> Any:
    def view(request: HttpRequest) -> HttpResponse:
        work.begin()
        work.also(entry=entry)
        raise error

    view.login_required = False  # type: ignore[attr-defined]
    return view


urlpatterns = [
    path("full/", broken_by(of_django(FULL))),
    path("half/", broken_by(of_django(FULL), "A-1")),
    path("lost/", broken_by(of_django(LOST))),
    path("else/", broken_by(ValueError("x"))),
]
handler500 = "gate.config.broken.page"
people = pytest.mark.urls("tests.config.test_broken")


def test_the_peoples_plane_has_this_page() -> None:
    from gate.config import urls_people

    assert urls_people.handler500 == handler500


@people
@pytest.mark.django_db
def test_people_read_that_nothing_was_changed(room: Any) -> None:
    answer = Client(raise_request_exception=False).get("/full/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "<h1>The disk that holds the database is full; nothing was changed.</h1>" in answer.content.decode()
    assert "Check the log" not in answer.content.decode()


@people
@pytest.mark.django_db
def test_people_are_sent_to_the_log_for_what_was_recorded_before(room: Any) -> None:
    answer = Client(raise_request_exception=False).post("/half/")
    assert (answer.status_code, disk.PARTLY_RECORDED in answer.content.decode()) == (503, True)
    assert 'href="/audit/">Check the log</a>' in answer.content.decode()


@people
@pytest.mark.django_db
def test_people_are_sent_to_the_log_when_it_is_not_certain(room: Any) -> None:
    room(0)
    answer = Client(raise_request_exception=False).get("/lost/")
    assert answer.status_code == 503
    assert "The disk that holds the database is full, and the database has stopped." in answer.content.decode()
    assert 'href="/audit/">Check the log</a>' in answer.content.decode()


@people
@pytest.mark.django_db
@pytest.mark.parametrize("where", ["/lost/", "/else/"])
def test_nothing_else_is_blamed_on_the_disk(room: Any, where: str) -> None:
    answer = Client(raise_request_exception=False).get(where)
    assert answer.status_code >= 500
    assert "disk" not in answer.content.decode()


# Agents and operators


def test_agents_read_the_same_sentence(room: Any) -> None:
    told = problems.of_database(of_django(FULL))
    assert (told.status, told.code) == (503, "disk_full")
    assert told.sentence.startswith(disk.NOTHING_CHANGED)
    assert problems.of_database(LOST) is problems.UNAVAILABLE


def test_operators_read_the_same_sentence(room: Any) -> None:
    class Fails(OperatorCommand):
        requires_system_checks = ()

        def handle(self, *args: Any, **options: Any) -> None:
            raise FULL

    with pytest.raises(CommandError, match=disk.NOTHING_CHANGED):
        Fails().execute(force_color=False, no_color=True, skip_checks=True)
