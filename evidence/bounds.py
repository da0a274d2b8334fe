"""What one read may bring back at most, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one read, whatever kind of source it reads."""

    rows: int = 1_000
    bytes: int = 1_000_000  # of the answer's JSON text
    seconds: float = 5.0
    lock_seconds: float = 0.5


DEFAULT = Limits()
