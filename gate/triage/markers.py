"""What an answer says of itself, under whatever tool's name: that it failed, was cut, or is not of now. Pure.

Each reader knows its own tool's marks. These are the marks of all tools: a proxy, a cache or a newer version adds one
to an answer whose reader has never seen it, and then the reader must not be the only one who looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

FALSE = frozenset(
    ("truncated", "is_truncated", "isTruncated", "IsTruncated", "partial", "is_partial", "isPartial", "incomplete",
     "has_more", "hasMore", "timed_out", "timedOut", "terminated_early", "cached", "is_cached", "from_cache",
     "fromCache", "stale", "is_stale")
)  # fmt: skip
TRUE = frozenset(("complete", "is_complete", "isComplete"))
EMPTY = frozenset(
    ("error", "errors", "error_message", "errorMessage", "errorType", "warning", "warnings", "next_page",
     "next_page_token", "nextPageToken", "next_token", "nextToken", "NextToken", "next_cursor", "nextCursor", "Marker",
     "NextContinuationToken")
)  # fmt: skip
ZERO = frozenset(("return_code", "exit_code", "exit_status", "exitCode"))
# Seconds by which an answer may be older than its call: as much as clocks may be apart.
AGES = frozenset(
    ("cache_age_s", "cache_age", "cache_age_seconds", "age_seconds", "replica_lag_s", "replica_lag", "lag_s",
     "replica_lag_seconds", "lag_seconds", "staleness_s")
)  # fmt: skip
OLDEST = 5
PLACES = frozenset(("environment", "env"))
IN_USE = ("production", "prod", "live")
BAD_STATUS = frozenset(("error", "no_data"))


def against(said: Any, subject: Mapping[str, Any], asked: Any = None) -> str | None:
    """The first mark by which an answer, or the record of its call, says that it shows nothing; None for none.

    What an answer repeats of its question, word for word, is no mark: a count of an error names the error.
    """
    if not isinstance(said, dict):
        return None
    for key in sorted(key for key in said if type(key) is str):
        if not _is_harmless(key, said[key], subject) and not _is_repeated(key, said[key], asked):
            return key
    return None


def _is_repeated(key: str, value: Any, asked: Any) -> bool:
    return key == "error" and type(value) is str and isinstance(asked, dict) and asked.get(key) == value


def _is_harmless(key: str, value: Any, subject: Mapping[str, Any]) -> bool:
    if key in FALSE:
        return value is False or value is None
    if key in TRUE:
        return value is True or type(value) not in (bool, type(None))
    if key in EMPTY:
        return value is None or value is False or (type(value) in (str, list, dict) and len(value) == 0)
    if key in ZERO:
        return value is None or (type(value) is int and value == 0)
    if key in AGES:
        return type(value) in (int, float, Decimal) and 0 <= value <= OLDEST
    if key in PLACES and type(value) is str:
        return value == subject[key] if key in subject else value in IN_USE
    if key == "status" and type(value) is str:
        return value not in BAD_STATUS
    return not (key == "kind" and value == "Status")
