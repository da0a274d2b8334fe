"""Moments as databases and command lines write them: with a space for the T, and a zone in one of four spellings."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gate.triage.readers.document import Unreadable, shown

# 2017-01-31T17:20:00Z, 2017-01-31 17:20:00.5+00, 2017-01-31 17:20:00 +0000. Without a zone it is no moment.
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?) ?(?:(Z)|([+-]\d\d)(?::?(\d\d))?)", re.ASCII
)  # fmt: skip


def parse(text: str) -> datetime:
    """The moment that a text says, in UTC. Raises Unreadable."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise _no_moment(text)
    zone = "+00:00" if found[3] is not None else f"{found[4]}:{'00' if found[5] is None else found[5]}"
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise _no_moment(text) from None


def parse_utc(text: str) -> datetime:
    """The same for a tool that writes UTC and leaves the zone out. Raises Unreadable."""
    return parse(f"{text}Z")


def _no_moment(text: str) -> Unreadable:
    return Unreadable("", f"{shown(text)} is not a time with its zone.", shown(text))
