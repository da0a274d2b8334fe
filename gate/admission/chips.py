"""A verdict with its color, as every page shows it."""

from __future__ import annotations

from dataclasses import dataclass

CHIPS = {"allow": "chip--ok", "ask": "chip--wait", "block": "chip--bad"}


@dataclass(frozen=True)
class Chip:
    """A verdict with its color."""

    verdict: str

    @property
    def css(self) -> str:
        return CHIPS[self.verdict]
