"""Recorded cases as data that a test can break in one place, and what the newest rules make of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gate.triage import recorded_cases, replay
from gate.triage.outcomes import Fail, Pass
from gate.triage.rules import registry

FOLDER = Path(__file__).resolve().parents[2] / "data" / "incidents"
RULES = replay.newest(registry)


class _Drop:
    def __repr__(self) -> str:
        return "left out"  # test ids are the same in every process


DROP = _Drop()

Case = dict[str, Any]
Edit = Callable[[Case], None]


def recorded(name: str) -> Case:
    """A recorded case as its file has it, with every digit of its numbers."""
    document: Case = recorded_cases.load((FOLDER / f"{name}.json").read_bytes())
    return document


def names_of(*hypotheses: str) -> list[str]:
    """The recorded cases of some hypotheses."""
    return [file.stem for file in sorted(FOLDER.glob("*.json")) if recorded(file.stem)["hypothesis"] in hypotheses]


def decide(case: Case) -> Pass | Fail:
    """The verdict of the newest rules."""
    return replay.decide(recorded_cases.parse(case), RULES)


def entry(case: Case, audit_id: str) -> Any:
    """One recorded call of the case."""
    return next(found for found in case["audit"] if found["id"] == audit_id)


def put(path: str, value: Any = DROP) -> Edit:
    """An edit of one place: "a1 result status succeeded", "a2 args types 0", "incident subject job"."""

    def edit(case: Case) -> None:
        steps = path.split()
        here = case["incident"] if steps[0] == "incident" else entry(case, steps[0])
        for step in steps[1:-1]:
            here = here[int(step)] if isinstance(here, list) else here[step]
        last: Any = int(steps[-1]) if isinstance(here, list) else steps[-1]
        if value is DROP:
            del here[last]
        else:
            here[last] = value

    return edit


def both(*edits: Edit) -> Edit:
    """Several edits, one after the other."""

    def edit(case: Case) -> None:
        for one in edits:
            one(case)

    return edit


def edited(case: Case, edit: Edit) -> Case:
    """A copy of the case with the edit."""
    changed = copy.deepcopy(case)
    edit(changed)
    return changed


def sentences(verdict: Pass | Fail) -> str:
    """Why it is a fail, in one text; empty for a pass."""
    return "\n".join(reason.sentence for reason in verdict.reasons) if isinstance(verdict, Fail) else ""


def read_leaves(case: Case) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Every plain value in a result that a check of the passing verdict read: entry, path, value."""
    read = {(ref, pointer) for line in decide(case).checks for ref, found in line.paths.items() for pointer in found}
    for ref, pointer in sorted(read):
        steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
        here = entry(case, ref)["result"]
        for step in steps:
            here = here[int(step)] if isinstance(here, list) else here[step]
        if not isinstance(here, dict | list):
            yield ref, steps, here


def replaced(case: Case, ref: str, steps: tuple[str, ...], value: Any) -> Case:
    """The case with one value of a result changed, or dropped."""
    changed = copy.deepcopy(case)
    here: Any = entry(changed, ref)["result"]
    for step in steps[:-1]:
        here = here[int(step)] if isinstance(here, list) else here[step]
    last: Any = int(steps[-1]) if isinstance(here, list) else steps[-1]
    if value is DROP:
        del here[last]
    else:
        here[last] = value
    return changed
