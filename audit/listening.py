"""Listening for notices of the database, in a session beside the one that Django works on."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from django.db import connection

SECONDS_BETWEEN_LOOKS = 2.0  # when no notice comes: notices are lost while the connection is


class Listening:
    """One channel. Whoever hears nothing looks all the same, so a lost session costs some seconds and no more."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.session: psycopg.Connection[Any] | None = None

    def begin(self) -> None:
        """Hear what is said from now on; nothing changes when that is so already. Raises psycopg.Error."""
        if self.session is None or self.session.closed:
            parameters = connection.get_connection_params()
            self.session = psycopg.connect(**{**parameters, "autocommit": True})
            self.session.execute(f"listen {self.channel}")

    def wait(self) -> None:
        """Wait for a notice, and not for long."""
        if self.session is None:
            time.sleep(1)
            return
        try:
            for _ in self.session.notifies(timeout=SECONDS_BETWEEN_LOOKS, stop_after=1):
                pass
        except psycopg.Error:
            self.end()

    def end(self) -> None:
        """Hear nothing any more."""
        if self.session is not None:
            self.session.close()
            self.session = None
