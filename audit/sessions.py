"""The sessions that entries are committed on, in a list: taking one from a pool costs as much as writing an entry."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from audit import pooling
from audit.entry_cursor import EntryCursor

MOST = 8  # at once; who comes later waits for one
PATIENCE = 5  # seconds to wait for one, or for a database that restarts
LONGEST_IDLE = 60.0


class Session:
    """An autocommit session with the cursor for entries."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.cursor = EntryCursor(connection)
        self.used_at = time.monotonic()


class Sessions:
    """The sessions of one role on one database."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._free: list[Session] = []  # the last one used is taken first: those that nobody needs grow old in front
        self._count = 0  # of those that are free, in use, or about to be
        self._changed = threading.Condition()
        self._is_open = True

    @contextmanager
    def one(self) -> Iterator[Session]:
        """A session for one piece of work. One that failed is closed. Raises psycopg.OperationalError."""
        session = self._take() or self._new()
        try:
            yield session
        except BaseException:
            # Also for an interrupt: it may have come after a commit and before we knew of it.
            self._drop(session)
            raise
        self._give_back(session)

    def close(self) -> None:
        """Close those that are free now, and the others as soon as they are."""
        with self._changed:
            self._is_open = False
            self._close_idle(time.monotonic())

    def _take(self) -> Session | None:
        """A free session that is alive, or leave to make one."""
        with self._changed:
            if not self._changed.wait_for(self._has_room, PATIENCE):
                raise psycopg.OperationalError(f"All {MOST} sessions were busy for {PATIENCE} s; try again.")
            while self._free:
                session = self._free.pop()
                if pooling.is_quiet(session.connection):
                    return session
                self._drop(session)
            self._count += 1
            return None

    def _has_room(self) -> bool:
        return bool(self._free) or self._count < MOST

    def _new(self) -> Session:
        try:
            return Session(_connected(self._conninfo))
        except BaseException:
            self._drop(None)
            raise

    def _drop(self, session: Session | None) -> None:
        if session:
            session.connection.close()
        with self._changed:
            self._count -= 1
            self._changed.notify()

    def _give_back(self, session: Session) -> None:
        session.used_at = time.monotonic()
        with self._changed:
            self._free.append(session)
            self._close_idle(session.used_at)
            self._changed.notify()

    def _close_idle(self, now: float) -> None:
        while self._free and not (self._is_open and now - self._free[0].used_at < LONGEST_IDLE):
            self._drop(self._free.pop(0))


def _connected(conninfo: str) -> psycopg.Connection[Any]:
    """A new session, asked for again while the database restarts. Raises psycopg.OperationalError."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(conninfo, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
