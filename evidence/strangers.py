"""Callers that we do not know: counted, never recorded one by one."""

from __future__ import annotations

from audit import log
from audit.counting import Counting
from audit.kinds import Kind

MOST_SOURCES = 100  # told apart in a minute; the rest are one
OTHERS = "other addresses"


def count(source: str) -> None:
    """One more refusal of someone at `source`. It returns at once; the entry follows when the minute is over."""
    counting.is_free(source, most=MOST_SOURCES, others=OTHERS)


def _record(source: str, number: int) -> None:
    summary = f"{number} requests without a valid token from {source} within a minute"
    log.record(
        Kind.CALL_REFUSED, log.Actor.process(), summary=summary, status="refused", error_class="unknown_token",
        args={"source": source, "requests": number},
    )  # fmt: skip


counting = Counting(_record)
flush = counting.flush
