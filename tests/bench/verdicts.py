"""What a verdict costs against reading its evidence from JSON once."""

from __future__ import annotations

from pathlib import Path

from audit import payloads
from tests.bench.timing import compare
from tests.triage import worlds


def run(sockets: Path) -> None:
    """Compare `verdict()` of an earned pass with unpacking the results that it reads."""
    world = worlds.recovered()
    stored = [payloads.pack(entry.result).kept for entry in world.entries]
    compare(
        "one verdict of seven checks, against unpacking its evidence",
        lambda: [payloads.unpack(raw) for raw in stored],
        world.decide,
    )
