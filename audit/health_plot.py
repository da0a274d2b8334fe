"""The line of the seal lag in the last hour: the longest wait of each minute, in the plot's own coordinates."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from audit.health_lag import Sealed

LEFT, RIGHT, TOP, BOTTOM = 30.0, 460.0, 18.0, 90.0
MINUTES = 60


@dataclass(frozen=True)
class Plot:
    """Points of a polyline, the scale's top in seconds, and where the highest one stands."""

    points: str
    top: int
    began: datetime
    ended: datetime
    worst: Sealed
    minutes: Sequence[tuple[datetime, float]]  # the same as numbers: each minute that sealed something, oldest first

    @property
    def middle(self) -> float:
        return self.top / 2

    @property
    def words(self) -> str:
        """What the line shows, for who does not see it."""
        waits = [wait for _, wait in self.minutes]
        return (
            f"Longest wait to be sealed in each minute of the last hour: between {min(waits):.1f} and {max(waits):.1f} "
            f"seconds, {statistics.median(waits):.1f} in the middle; the longest at {self.worst.at:%H:%M:%S} UTC."
        )


def plot(checkpoints: Sequence[Sealed], now: datetime) -> Plot | None:
    """The line over these checkpoints, oldest first; None when there are fewer than two minutes to draw."""
    began = now - timedelta(minutes=MINUTES)
    known = [one for one in checkpoints if one.lag is not None]
    minutes: dict[int, float] = {}
    for one in known:
        minute = min(MINUTES - 1, max(0, int((one.at - began).total_seconds() // 60)))
        minutes[minute] = max(minutes.get(minute, 0.0), one.lag or 0.0)
    if len(minutes) < 2:
        return None
    worst = max(known, key=lambda one: one.lag or 0.0)
    top = max(2, 2 * -(-int((worst.lag or 0.0) + 1) // 2))
    step = (RIGHT - LEFT) / (MINUTES - 1)
    points = " ".join(
        f"{LEFT + step * minute:.1f},{BOTTOM - (BOTTOM - TOP) * max(0.0, value) / top:.1f}"
        for minute, value in sorted(minutes.items())
    )
    told = [(began + timedelta(minutes=minute), value) for minute, value in sorted(minutes.items())]
    return Plot(points, top, began, now, worst, told)
