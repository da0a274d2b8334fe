"""Timing two things side by side, so that a busy machine slows both."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

SLICES = 9
SLICE_SECONDS = 0.25


def per_second(work: Callable[[], object]) -> float:
    """How often `work` runs in a second, measured over one slice."""
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SLICE_SECONDS:
        work()
        count += 1
    return count / (time.perf_counter() - start)


def compare(title: str, baseline: Callable[[], object], measured: Callable[[], object]) -> None:
    """Print the median rates of neighbouring slices and their ratio."""
    pairs = [(per_second(baseline), per_second(measured)) for _ in range(SLICES)]
    base = statistics.median(pair[0] for pair in pairs)
    rate = statistics.median(pair[1] for pair in pairs)
    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
    print(f"{title}: {rate:,.0f}/s against {base:,.0f}/s, ratio {ratio:.2f}")  # noqa: T201


def say_load() -> None:
    """How busy the machine is: figures mean little without it."""
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"-- load {loads} on {os.cpu_count()} processors")  # noqa: T201


def milliseconds(work: Callable[[], object], times: int = 50) -> float:
    """The median time of `work`."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000
