"""Refusals of callers that we do not know, counted instead of recorded one by one: nobody floods the log.

The count is kept in the process and written as one entry per source and minute. A process that is killed loses the
minute that it was counting; a process that ends writes it.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections import Counter

import psycopg

from audit import log
from audit.kinds import Kind

WINDOW = 60.0  # seconds
MOST_SOURCES = 100  # told apart in a minute; the rest are one
OTHERS = "other addresses"
logger = logging.getLogger(__name__)

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def count(source: str) -> None:
    """One more refusal of someone at `source`. It returns at once; the entry follows when the minute is over."""
    with _lock:
        if not _counts:
            _start_timer()
        known = source in _counts or len(_counts) < MOST_SOURCES
        _counts[source if known else OTHERS] += 1


def _start_timer() -> None:
    timer = threading.Timer(WINDOW, flush)
    timer.daemon = True
    timer.start()


def flush() -> None:
    """Write what was counted, one entry per source."""
    with _lock:
        counted = dict(_counts)
        _counts.clear()
    for source, number in counted.items():
        _record(source, number)


def _record(source: str, number: int) -> None:
    summary = f"{number} requests without a valid token from {source} within a minute"
    try:
        log.record(
            Kind.CALL_REFUSED, log.Actor.process(), summary=summary, status="refused", error_class="unknown_token",
            args={"source": source, "requests": number},
        )  # fmt: skip
    except psycopg.Error:
        # They were refused all the same; only the count is lost, and this line says so.
        logger.exception("Could not record: %s.", summary)


atexit.register(flush)
