"""All that is measured of a trace, in parts: of a large one, a part at a time, with what is done so far kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evidence.survival.alike import repeats_of
from evidence.survival.fields import analyze_finer
from evidence.survival.grounding import ground_answer
from evidence.survival.hints import hints_of
from evidence.survival.overlap import analyze

VERSION = 2  # of the whole: a report of another one is made anew
Steps = Sequence[Mapping[str, Any]]
# In this order; each needs the steps alone.
PARTS: Mapping[str, Callable[[Steps], Any]] = {
    "compatible": analyze,
    "finer": analyze_finer,
    "grounding": ground_answer,
    "repeats": lambda steps: [one.as_json() for one in repeats_of(steps)],
    "hints": hints_of,
}


def measure(steps: Steps) -> dict[str, Any]:
    """The whole report, JSON-ready. Raises what `analyze` raises."""
    return {"version": VERSION, **{name: part(steps) for name, part in PARTS.items()}}
