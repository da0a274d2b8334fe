"""Refusals that come in floods are counted instead of recorded one by one: nobody floods the log.

The count is kept in the process and written as one entry per source and minute. A process that is killed loses the
minute that it was counting; a process that ends writes it.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import psycopg

WINDOW = 60.0  # seconds
S = TypeVar("S", bound=Hashable)
logger = logging.getLogger(__name__)


class Counting(Generic[S]):
    """Counts by source. The first `free` of a minute are the caller's to record; `write` records how many more came."""

    def __init__(self, write: Callable[[S, int], None], *, free: int = 0) -> None:
        self.write = write
        self.free = free
        self.counts: Counter[S] = Counter()
        self._lock = threading.Lock()
        atexit.register(self.flush)

    def is_free(self, source: S, *, most: int = 0, others: S | None = None) -> bool:
        """One more from `source`; True when the caller records it. It returns at once; entries follow in a minute.

        Beyond `most` sources the rest are counted as `others`.
        """
        with self._lock:
            if not self.counts:
                self._start_timer()
            if others is not None and source not in self.counts and len(self.counts) >= most:
                source = others
            self.counts[source] += 1
            return self.counts[source] <= self.free

    def _start_timer(self) -> None:
        timer = threading.Timer(WINDOW, self.flush)
        timer.daemon = True
        timer.start()

    def flush(self) -> None:
        """Write what was counted, one entry per source."""
        with self._lock:
            counted = {source: number - self.free for source, number in self.counts.items() if number > self.free}
            self.counts.clear()
        for source, number in counted.items():
            try:
                self.write(source, number)
            except psycopg.Error:
                # They were refused all the same; only the count is lost, and this line says so.
                logger.exception("Could not record %d refusals of %s.", number, source)
