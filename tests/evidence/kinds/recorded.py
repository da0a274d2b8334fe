"""Recorded answers of tests/data/kinds, and changes to an answer for tables of what must not be taken for whole."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import simplejson

DATA = Path(__file__).parents[2] / "data" / "kinds"
GONE = object()


def records(kind: str) -> list[dict[str, Any]]:
    """The recorded answers of one kind of source."""
    found: list[dict[str, Any]] = simplejson.loads((DATA / f"{kind}.json").read_text(), use_decimal=True)
    return found


def changed(answer: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The answer with another value at a path such as `hits.total.relation`, or without it (GONE)."""
    altered = copy.deepcopy(answer)
    *before, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    here: Any = altered
    for step in before:
        here = here[step]
    if value is GONE:
        del here[last]
    else:
        here[last] = value
    return altered
