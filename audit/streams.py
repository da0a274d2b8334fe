"""Numbering entries per writer without gaps or doubles, so that a lost entry shows.

A stream belongs to one database session and starts with a random id. A number is used again until the insert that
carried it is known to have committed; when that is not known, the session is dropped and its stream with it.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db import connections, transaction

from audit.entry_cursor import EntryCursor
from audit.sessions import PATIENCE, Sessions

_place = itemgetter("HOST", "PORT", "NAME", "USER", "PASSWORD")
NOT_LIBPQ = ("prepare_threshold", "autocommit")


@dataclass(frozen=True)
class Position:
    """Where an entry stands in its writer's stream."""

    run: str
    number: int


@dataclass
class Stream:
    """The numbers that one database session has used."""

    run: str = field(default_factory=lambda: secrets.token_hex(8))
    committed: int = 0

    def next(self, pending: int = 0) -> Position:
        """The position after what is committed and what is pending in the open transaction."""
        return Position(self.run, self.committed + pending + 1)

    def advance(self) -> None:
        """One more entry is known to have committed."""
        self.committed += 1


_streams: WeakKeyDictionary[psycopg.Connection[Any], Stream] = WeakKeyDictionary()
_own: dict[tuple[Any, ...], Sessions] = {}
_inherited: list[Sessions] = []
_lock = threading.Lock()


def _stream(session: psycopg.Connection[Any]) -> Stream:
    return _streams.get(session) or _streams.setdefault(session, Stream())


@contextmanager
def own_session() -> Iterator[tuple[EntryCursor, Stream]]:
    """The cursor of an autocommit session apart from Django's, with its stream. A session that failed is closed."""
    with _sessions().one() as session:
        yield session.cursor, _stream(session.connection)


def _sessions() -> Sessions:
    """Those of the role that Django connects as now (tests change it, and the drill the database)."""
    settings = connections["default"].settings_dict
    place = _place(settings)
    with _lock:
        if place not in _own:
            _own[place] = Sessions(_conninfo())
        return _own[place]


def _conninfo() -> str:
    """What libpq understands, so that TLS and the like are as on Django's connection; not psycopg's own parameters."""
    parameters = connections["default"].get_connection_params()
    wanted = {key: value for key, value in parameters.items() if isinstance(value, str | int) and value != ""}
    known = {key: wanted[key] for key in wanted if key not in NOT_LIBPQ}
    return psycopg.conninfo.make_conninfo("", **{"connect_timeout": PATIENCE, **known})


def close() -> None:
    """Close all sessions: for a process that ends, and for tests that stop the database."""
    with _lock:
        for sessions in _own.values():
            sessions.close()
        _own.clear()


def _forget() -> None:
    """A forked child must not use its parent's sessions, nor a lock that a thread of the parent held."""
    global _lock
    _lock = threading.Lock()
    _inherited.extend(_own.values())  # kept: ended here, they would be ended for the parent
    _own.clear()
    _streams.clear()


os.register_at_fork(after_in_child=_forget)


class _Advance:
    """A commit hook that can be told from others, so that pending numbers can be counted."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __call__(self) -> None:
        self.stream.advance()


def of_transaction(django_connection: Any) -> Position:
    """The next position in the open transaction. Django drops a rolled-back savepoint's hooks, and so its numbers."""
    stream = _stream(django_connection.connection)
    hooks = (hook[1] for hook in django_connection.run_on_commit)
    pending = sum(isinstance(hook, _Advance) and hook.stream is stream for hook in hooks)
    return stream.next(pending)


def advance_on_commit(django_connection: Any) -> None:
    """Count the entry just written as committed once its transaction is."""
    transaction.on_commit(_Advance(_stream(django_connection.connection)), using=django_connection.alias)
