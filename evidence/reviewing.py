"""When an owner has to look at a definition again."""

from __future__ import annotations

from datetime import date

from django.utils import timezone


def is_due(review_by: str) -> bool:
    """Whether the day that a checked definition names, as 2027-06-01, has come where the reader is."""
    return date.fromisoformat(review_by) <= timezone.localdate()
