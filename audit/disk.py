"""What is said when the disk that holds the database is full."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
from django.conf import settings

from audit import work

DISK_FULL = "53100"  # PostgreSQL's code. The statement was undone, and its transaction with it.
LEAST = 32 * 1024 * 1024  # bytes; with less left, PostgreSQL may not get the next file of its journal
NOTHING_CHANGED = "The disk that holds the database is full; nothing was changed."
PARTLY_RECORDED = "The disk that holds the database is full; only a part of this was recorded."
STOPPED = "The disk that holds the database is full, and the database has stopped."


def said_of(error: BaseException) -> str | None:
    """The sentence, when a full disk is why `error` came from our own database; else None.

    A session that broke off says nothing about its reason. Where the database is on this machine, its disk is asked.
    """
    errors = [one for one in _chain(error) if isinstance(one, psycopg.Error)]
    if any(one.sqlstate == DISK_FULL for one in errors):
        # Whatever changes something writes an entry with it.
        return PARTLY_RECORDED if "entry" in work.about() else NOTHING_CHANGED
    return STOPPED if any(map(_is_lost, errors)) and is_full() else None


def _is_lost(error: psycopg.Error) -> bool:
    # 57P and 08: the server ends, begins, or cannot be reached. Without any code it never answered.
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08").startswith(("57P", "08"))


def is_full() -> bool:
    """Whether the database is on this machine and its disk has no room; False when that cannot be told."""
    place = settings.DATABASE_PLACE
    return place is not None and free(place) < LEAST


def free(place: Path) -> int:
    """Bytes that an ordinary account can still write there; of the nearest directory that exists."""
    while not os.path.exists(place):  # noqa: PTH110 - Path.exists raises where we may not look
        place = place.parent
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
