"""A share that falls or rises, drawn as a small line: points of a picture of 72 by 18. Pure."""

from __future__ import annotations

from collections.abc import Sequence

# Of the picture, in its own units; the axes in the templates have the same.
LEFT, RIGHT, TOP, BOTTOM = 4.0, 68.0, 3.0, 15.0


def polyline(shares: Sequence[tuple[int, int]]) -> str:
    """The points of an SVG polyline. Each share is a place, in whatever is counted, and a percentage; at least one."""
    first, last = shares[0][0], shares[-1][0]
    across, down = (RIGHT - LEFT) / max(1, last - first), (BOTTOM - TOP) / 100
    places = ((LEFT + (place - first) * across, BOTTOM - percent * down) for place, percent in shares)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
