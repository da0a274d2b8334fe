"""Names of the fields of log documents: which hold the line, which the time, and a field without its suffix."""

from __future__ import annotations

MESSAGES = frozenset(("message", "log", "msg", "body", "log.message", "event.original"))
# A level stands in a field of its own where lines are parsed; lines of that level are what a search for it means.
LEVELS = frozenset(("level", "log.level", "severity", "loglevel", "severity_text"))
TIMES = frozenset(("@timestamp", "timestamp"))


def plain(field: str) -> str:
    """The field without the suffix of its exact, unanalyzed form."""
    return field.removesuffix(".keyword")
