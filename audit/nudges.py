"""Nudges from the database to this process: to its pages, "something that you count has changed", and no word of what.

They are a convenience. A notice is lost while nobody listens, so whoever listens MUST also look by itself now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from django.db import connection

log = logging.getLogger(__name__)

CHANNEL = "audit_counts"  # the log announces there what may change a count
SECONDS_TO_RECONNECT = 1.0


class Hub:
    """One LISTEN connection for all listeners of an event loop. It is there while somebody listens."""

    def __init__(self, channel: str = CHANNEL) -> None:
        self.channel = channel
        self.is_closing = False
        self._listeners: dict[object, Callable[[str], None]] = {}
        self._listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listener(self) -> AsyncIterator[asyncio.Event]:
        """An event that each nudge sets, however many there were since it was cleared."""
        nudge = asyncio.Event()
        remove = self.add(lambda notice: nudge.set())
        try:
            yield nudge
        finally:
            remove()

    def add(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have `heard` called with what each notice says, in this event loop, until the returned function is called.

        It hears an empty notice when the listening begins, anew or at first: something may have been missed.
        """
        listener = object()
        self._listeners[listener] = heard
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        return lambda: self._remove(listener)

    def _remove(self, listener: object) -> None:
        self._listeners.pop(listener, None)
        if not self._listeners and self._listening is not None:
            self._listening.cancel()
            self._listening = None

    def close(self) -> None:
        """Wake every listener to end: the process stops."""
        self.is_closing = True
        self._nudge()

    def _nudge(self, notice: str = "") -> None:
        for heard in list(self._listeners.values()):
            heard(notice)

    async def _listen(self) -> None:
        """Pass notices on until cancelled. An outage is waited out, and ends with a nudge: something may be missed."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as listening:
                    await listening.execute(f"listen {self.channel}")
                    self._nudge()
                    async for notice in listening.notifies():
                        self._nudge(notice.payload)
            except psycopg.Error as error:
                log.warning(
                    "No notices of %s for now; they are looked for again (%s).", self.channel, str(error).strip()
                )
            await asyncio.sleep(SECONDS_TO_RECONNECT)


def _parameters() -> dict[str, Any]:
    """Where Django's own connections go, without what only they need."""
    parameters = connection.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


HUB = Hub()
