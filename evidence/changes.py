"""Notices that what an agent may call is something else now, said by whichever process changes it.

They travel on the channel of definitions: with the kind of one that is in force anew, for all; or with an agent, when
it began or ended an investigation and its list follows another class. They say that something changed, and never what.
A notice is lost while nobody listens, so whoever hears one reads the list anew, and so does whoever starts to listen.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection

from audit.twohands import CHANNEL

AGENT = "agent "  # before an agent's number; no kind of definition holds a space
_closing: list[Callable[[], None]] = []


def announce(agent_id: int) -> None:
    """Say, once the caller's transaction is committed, that this agent's list is another."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [CHANNEL, f"{AGENT}{agent_id}"])


def concerns(notice: str, agent_id: int) -> bool:
    """Whether a notice is about this agent's list."""
    return notice == f"{AGENT}{agent_id}" or not notice.startswith(AGENT)


def at_close(close: Callable[[], None]) -> None:
    """Say what ends the streams of this process when it stops."""
    _closing[:] = [close]


def close() -> None:
    """End every open stream: the process stops."""
    for each in _closing:
        each()
