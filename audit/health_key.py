"""Whose key has signed the last checkpoint, checked when the page is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from audit.health_facts import Facts
from audit.verify import note


@dataclass(frozen=True)
class Key:
    """The key that has signed the last checkpoint, held against those that this process was told of."""

    name: str
    known: Sequence[str]  # as they are written
    fault: str  # a sentence; empty when a known key has signed
    since: datetime | None  # when the sealer recorded its keys last


def key(found: Facts) -> Key | None:
    """Whose signature the last checkpoint carries, checked now; None while nothing is sealed."""
    if found.note is None:
        return None
    known = list(settings.LOG_PUBLIC_KEYS)
    try:
        signed, keys = note.parse(found.note), note.parse_keys("\n".join(known)) if known else []
    except note.Unreadable as problem:
        return Key("–", known, str(problem), found.key_since)
    return Key(signed.origin, known, signed.fault(keys) if keys else "", found.key_since)
