"""Nudges from the log to this process's pages: "something that you count has changed", and no word of what.

They are a convenience. A notice is lost while nobody listens, so whoever listens MUST also look by itself now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from django.db import connection

log = logging.getLogger(__name__)

CHANNEL = "audit_counts"  # the log's trigger announces there what may change a count
SECONDS_TO_RECONNECT = 1.0


class Hub:
    """One LISTEN connection for all listeners of an event loop. It is there while somebody listens."""

    def __init__(self) -> None:
        self.is_closing = False
        self._listeners: set[asyncio.Event] = set()
        self._listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listener(self) -> AsyncIterator[asyncio.Event]:
        """An event that each nudge sets, however many there were since it was cleared."""
        nudge = asyncio.Event()
        self._listeners.add(nudge)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        try:
            yield nudge
        finally:
            self._listeners.discard(nudge)
            if not self._listeners and self._listening is not None:
                self._listening.cancel()
                self._listening = None

    def close(self) -> None:
        """Wake every listener to end: the process stops."""
        self.is_closing = True
        self._nudge()

    def _nudge(self) -> None:
        for nudge in self._listeners:
            nudge.set()

    async def _listen(self) -> None:
        """Pass notices on until cancelled. An outage is waited out, and ends with a nudge: something may be missed."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as listening:
                    await listening.execute(f"listen {CHANNEL}")
                    self._nudge()
                    async for _ in listening.notifies():
                        self._nudge()
            except psycopg.Error as error:
                log.warning("No nudges for now; pages ask every 15 s by themselves (%s).", str(error).strip())
            await asyncio.sleep(SECONDS_TO_RECONNECT)


def _parameters() -> dict[str, Any]:
    """Where Django's own connections go, without what only they need."""
    parameters = connection.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


HUB = Hub()
