"""Rows before and after as tables: what differs first, then the names of what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.writes.characters import spelled_out

NULL = "null"
ASSIGNED = "assigned at execution"


@dataclass(frozen=True)
class Value:
    """One side of a difference: what both sides begin with, and what differs."""

    same: str
    differs: str
    is_there: bool = True


@dataclass(frozen=True)
class Change:
    """One column that differs."""

    column: str
    before: Value
    after: Value


@dataclass(frozen=True)
class Compared:
    """One row: its key, the columns that differ, and the names of the others."""

    key: str
    changes: list[Change]
    same: list[str]


def compared(rows: Sequence[Mapping[str, Any]], volatile: Sequence[str] = ()) -> list[Compared]:
    """Each row's differences. Volatile columns show no value that the execution would not repeat."""
    return [_compared(row, frozenset(volatile)) for row in rows]


def _compared(row: Mapping[str, Any], volatile: frozenset[str]) -> Compared:
    before, after = row["before"], row["after"]
    # In the table's order, and then what only one side has.
    columns = list(dict.fromkeys([*row["columns"], *(before or ()), *(after or ())]))
    changed = [one for one in columns if one in volatile or _side(before, one) != _side(after, one)]
    key = ", ".join(f"{column} {value}" for column, value in row["key"].items())
    return Compared(
        spelled_out(key),
        [_change(column, before, after, volatile) for column in changed],
        [column for column in columns if column not in changed],
    )


def _side(image: Mapping[str, str | None] | None, column: str) -> tuple[bool, str | None]:
    return (False, None) if image is None or column not in image else (True, image[column])


def _change(column: str, before: Any, after: Any, volatile: frozenset[str]) -> Change:
    old, new = _text(before, column), _text(after, column)
    if column in volatile and after is not None:
        new = ASSIGNED
    same = _common_start(old, new) if before is not None and after is not None else ""
    return Change(
        column,
        Value(same, old.removeprefix(same), before is not None),
        Value(same, new.removeprefix(same), after is not None),
    )


def _text(image: Any, column: str) -> str:
    is_there, value = _side(image, column)
    if not is_there:
        return "not recorded" if image is not None else ""
    return NULL if value is None else spelled_out(value)


def _common_start(old: str, new: str) -> str:
    """What both begin with, up to a space: a date that both share, say."""
    length = next((at for at, (o, n) in enumerate(zip(old, new, strict=False)) if o != n), min(len(old), len(new)))
    return old[: old.rfind(" ", 0, length) + 1]


TOUCHED = (("added to", 0), ("updated in", 1), ("deleted from", 2))


def touched(footprint: Mapping[str, Sequence[int]]) -> list[tuple[int, str, str]]:
    """A footprint as (number, what happened, table), the same for a reader as for the digest: nothing is left out."""
    found = ((counts[place], words, table) for table, counts in sorted(footprint.items()) for words, place in TOUCHED)
    return [one for one in found if one[0]]
