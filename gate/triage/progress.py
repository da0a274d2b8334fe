"""How much longer work takes that a page shows while it goes on."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def left(since: datetime, done: int, total: int) -> str:
    """About how long it still takes, from how long it took so far; empty while nothing is done."""
    if not done or not total:
        return ""
    took = (timezone.now() - since).total_seconds()
    return f"about {max(1, int(took / done * (total - done)))} s left"
