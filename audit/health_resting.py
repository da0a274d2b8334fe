"""What upper layers rest on entries of the log, by their own account: each says how much of it was proven sealed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Resting:
    """What rests on receipts: what it is called, how much there is, and how much of it was proven."""

    name: str  # "Verdict receipts"
    sentence: str
    count: int
    proven: int

    @property
    def waiting(self) -> int:
        """How much was not proven yet."""
        return self.count - self.proven


_counted: list[Callable[[], Resting]] = []


def register(count: Callable[[], Resting]) -> None:
    """Have a layer's receipts counted on the page, in a query of theirs; the layer calls this once at start."""
    _counted.append(count)


def resting() -> Sequence[Resting]:
    """What every layer says."""
    return [count() for count in _counted]
