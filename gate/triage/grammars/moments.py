"""Moments as query tools take them: RFC 3339 with its zone, or a number since 1970 in the unit that the tool takes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DIGITS = re.compile(r"\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From 2001 to 2065 seconds have ten digits, milliseconds thirteen, microseconds sixteen and nanoseconds nineteen.
_UNITS = {10: Decimal(1), 13: Decimal(10) ** 3, 16: Decimal(10) ** 6, 19: Decimal(10) ** 9}
_LATEST = Decimal(3_000_000_000)
# A tool reads the other unit as a time ages away, and finds nothing there: which is why each reader says its own.
SECONDS = frozenset((10,))
MILLISECONDS = frozenset((13,))
SECONDS_OR_NANOSECONDS = frozenset((10, 19))


def parse(value: object, units: frozenset[int]) -> datetime | None:
    """The moment that a text or number names, in UTC. None for what is relative, has no zone or another unit."""
    if isinstance(value, str):
        return _spelled(value) if _RFC3339.fullmatch(value) is not None else _counted(value, units)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 25:
        return _counted(f"{value.normalize():f}", units)
    return None


def _spelled(text: str) -> datetime | None:
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    micros = f".{fraction[:6]}" if fraction is not None else ""
    try:
        return datetime.fromisoformat(f"{day}T{clock}{micros}{zone.upper()}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _counted(text: str, units: frozenset[int]) -> datetime | None:
    digits = len(text.partition(".")[0])
    if _DIGITS.fullmatch(text) is None or digits not in units:
        return None
    seconds = Decimal(text) / _UNITS[digits]
    if not 1_000_000_000 <= seconds <= _LATEST:
        return None
    return _EPOCH + timedelta(microseconds=int(seconds * 10**6))
