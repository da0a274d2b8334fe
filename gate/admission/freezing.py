"""Freeze windows: from when until when nothing changes without a person who knows of it. Admins put them down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

KEYS = frozenset({"from", "until", "why"})
MOST_WINDOWS = 50
SENTENCE = (
    "freeze is a list of windows {from, until, why}: two moments with their zone, like 2026-12-24T00:00:00Z, the first"
    " before the second, and a reason."
)


@dataclass(frozen=True)
class Window:
    """One freeze."""

    begins: datetime
    ends: datetime
    why: str

    def covers(self, moment: datetime) -> bool:
        """Whether it is on: its end is the first moment after it."""
        return self.begins <= moment < self.ends


def check(windows: Any) -> None:
    """Raises ValueError with a sentence for what is no list of windows."""
    if not isinstance(windows, list) or len(windows) > MOST_WINDOWS:
        raise ValueError(f"{SENTENCE} At most {MOST_WINDOWS}.")
    for one in windows:
        _check(one)


def _check(window: Any) -> None:
    if not isinstance(window, dict) or set(window) != KEYS or not all(isinstance(one, str) for one in window.values()):
        raise ValueError(SENTENCE)
    try:
        found = _of(window)
    except ValueError as error:
        raise ValueError(SENTENCE) from error
    if found.begins.tzinfo is None or found.ends.tzinfo is None or not found.begins < found.ends or not found.why:
        raise ValueError(SENTENCE)


def of(windows: Iterable[Mapping[str, str]]) -> list[Window]:
    """The windows of a checked body."""
    return [_of(one) for one in windows]


def _of(window: Mapping[str, str]) -> Window:
    begins, ends = (datetime.fromisoformat(window[key]) for key in ("from", "until"))
    return Window(begins, ends, window["why"].strip())
