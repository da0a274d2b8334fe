"""The compatible survival measure beside the package whose report it gives, on prose, logs and JSON.

`python -m tests.bench survival`. The package's time grows with the square of the trace: its run over 1,000 steps of
prose would take six minutes, so it is measured up to 200 steps of prose and 1,000 of the rest, and the longer prose is
extrapolated by the square and marked so. `--whole` in `COUNTERSEAL_BENCH` measures that as well.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable
from typing import Any

from evidence.survival import analyze
from evidence.survival.growing import GrowingTrace
from tests.bench import timing
from tests.evidence.survival.growing import KINDS, trace

STEPS = (50, 200, 1_000)
LONG = (4_000, 16_000)
WANTED = {50: 50, 200: 150, 1_000: 500}
Analyze = Callable[[Any], dict[str, Any]]


def run() -> None:
    """Print seconds and ratios by kind and length, and the exponent by which ours grow."""
    timing.say_load()
    package: Analyze = importlib.import_module("evidenceflow").analyze
    for kind in KINDS:
        ours = {steps: _seconds(analyze, kind, steps, 3 if steps <= max(STEPS) else 1) for steps in (*STEPS, *LONG)}
        _say_ratios(kind, ours, package)
        _say_growth(kind, ours)
        _say_appending(kind)


def _say_ratios(kind: str, ours: dict[int, float], package: Analyze) -> None:
    theirs = 0.0
    for before, steps in zip((0, *STEPS), STEPS, strict=False):
        measured = kind != "prose" or steps <= 200 or "--whole" in os.environ.get("COUNTERSEAL_BENCH", "")
        theirs = _seconds(package, kind, steps) if measured else theirs * (steps / before) ** 2
        wanted = f", wanted {WANTED[steps]}" if kind == "prose" else ""
        said = "" if measured else " (extrapolated)"
        print(  # noqa: T201
            f"{kind:5} {steps:6,} steps: {ours[steps]:8.3f} s against {theirs:8.2f} s{said}, "
            f"{theirs / ours[steps]:,.0f} times as fast{wanted}"
        )


def _say_appending(kind: str) -> None:
    """What a step more costs after few steps and after many: the mean of the last ninety-nine appended."""
    said = []
    for steps in (200, 1_000, 4_000):
        growing, given = GrowingTrace(), trace(kind, steps)
        for step in given[:-99]:
            growing.append(step)
        before = time.process_time()
        for step in given[-99:]:
            growing.append(step)
        said.append(f"{1000 * (time.process_time() - before) / 99:.2f} ms after {steps:,} steps")
    print(f"{kind:5} appending a step takes {', '.join(said)}")  # noqa: T201


def _say_growth(kind: str, ours: dict[int, float]) -> None:
    shortest, longest = 200, max(LONG)
    exponent = math.log(ours[longest] / ours[shortest]) / math.log(longest / shortest)
    longer = ", ".join(f"{steps:,} in {ours[steps]:.1f} s" for steps in LONG)
    print(f"{kind:5} grows with the steps to the power of {exponent:.2f} from {shortest:,} to {longest:,}: {longer}")  # noqa: T201


def _seconds(measured: Analyze, kind: str, steps: int, times: int = 1) -> float:
    """Processor time, the least of so many runs: others work on the machine as well."""
    given = trace(kind, steps)
    taken = []
    for _ in range(times):
        before = time.process_time()
        measured(given)
        taken.append(time.process_time() - before)
    return min(taken)


if __name__ == "__main__":
    run()
