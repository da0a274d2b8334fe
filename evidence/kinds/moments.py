"""Moments as arguments name them: RFC 3339 with its zone, or seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

# Up to nine digits behind the point, of which six are kept.
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:(\.\d{1,6})\d{0,3})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_EARLIEST, _LATEST = 1_000_000_000, 9_999_999_999  # ten digits: more are milliseconds, which lie ages ahead


def parse(value: Any) -> datetime:
    """The moment, in UTC. Raises ValueError with a sentence for what has no zone, or counts in another unit."""
    if isinstance(value, int) and not isinstance(value, bool) and _EARLIEST <= value <= _LATEST:
        return datetime.fromtimestamp(value, UTC)
    found = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("A moment is a text like 2026-11-30T10:00:00Z with its zone, or seconds since 1970.")
    day, clock, fraction, zone = found.groups()
    try:
        return datetime.fromisoformat(f"{day}T{clock}{fraction or ''}{zone.upper()}").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{day} {clock} {zone} is no moment.") from error


def spelled(moment: datetime) -> str:
    """The moment as RFC 3339 in UTC, to the microsecond where it has them."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
