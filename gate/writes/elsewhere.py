"""Whether a run does to other tables what was approved: their rows are read again before it commits, and compared.

Where the preview could not read a table whole it said so, and the approval is bound to the number of rows alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import psycopg

from gate.writes import blast, digests
from gate.writes.blast import Touched
from gate.writes.effect import Row
from gate.writes.models import Preview
from gate.writes.targets import WriteTarget


@dataclass(frozen=True)
class Strayed:
    """One table where the run does something else than was approved: a sentence, and the rows that differ."""

    why: str
    rows: list[Row]


def strayed(connection: psycopg.Connection[Any], target: WriteTarget, seen: Preview) -> Strayed | None:
    """The first table that differs, while the transaction is open; None when each is as approved. Raises psycopg.Error.

    The footprint MUST have been compared before: the tables and their numbers of rows are taken from it.
    """
    approved = [one for one in seen.blast if not one["why"]]
    found = blast.of(connection, target, {one["table"]: one["counts"] for one in approved}, target.policy.row_cap)
    pairs = zip(approved, found, strict=True)
    return next((one for pair in pairs if (one := compared(*pair, is_strict=seen.bound is None))), None)


def compared(approved: Mapping[str, Any], found: Touched, *, is_strict: bool) -> Strayed | None:
    """What differs in one table; None when it is as approved."""
    if found.why:
        return Strayed(f"What it does to {found.table} was approved and cannot be checked now. {found.why}", [])
    left, right = _lines(approved["rows"], approved, is_strict), _lines(found.rows, approved, is_strict)
    lost, added = _beyond(left, right), _beyond(right, left)
    if not lost and not added:
        return None
    why = f"The rows of its own table are the approved ones, but not what it does to {found.table}."
    return Strayed(why, list(_differences(lost, added, approved)))


Lined = tuple[str, Row]


def _lines(rows: Sequence[Row], approved: Mapping[str, Any], is_strict: bool) -> list[Lined]:
    """Each row beside the text of what of it is bound. Unless that is all, its key and what changes are."""
    return [
        (digests.row_line(row["before"], row["after"], approved["volatile"], None if is_strict else list(row["key"])),
         row)
        for row in rows
    ]  # fmt: skip


def _beyond(these: Sequence[Lined], those: Sequence[Lined]) -> list[Row]:
    """The rows of these that those have not, each as often as it is there."""
    left = Counter(line for line, _ in those)
    beyond = []
    for line, row in these:
        if not left[line]:
            beyond.append(row)
        left[line] -= left[line] > 0
    return beyond


def _differences(lost: list[Row], added: list[Row], approved: Mapping[str, Any]) -> Iterator[Row]:
    """Pairs by key, then in their order: "before" is as approved, "after" as found, as for the table's own rows."""
    by_key = {_key(row): row for row in added if row["key"]}
    pairs = [(row, by_key.pop(_key(row), None)) for row in lost]
    rest = [row for row in added if not row["key"] or _key(row) in by_key]
    yield from (_difference(one, other, approved) for one, other in pairs if other)
    alone = [one for one, other in pairs if not other]
    yield from (_difference(one, other, approved) for one, other in zip_longest(alone, rest))


def _key(row: Row) -> str:
    return digests.row_line(row["key"], None, ())


def _difference(one: Row | None, other: Row | None, approved: Mapping[str, Any]) -> Row:
    head = other or one
    assert head is not None  # one of a pair is always there
    is_elsewhere = one is not None and other is not None and one["before"] != other["before"]
    side = "before" if is_elsewhere else "after"
    left, right = (_face(row, side, approved["volatile"]) for row in (one, other))
    return {"table": approved["table"], "key": head["key"], "columns": head["columns"],
            "before": left, "after": right}  # fmt: skip


def _face(row: Row | None, side: str, volatile: Sequence[str]) -> dict[str, str | None] | None:
    """The side of a row that is compared, or the only one that it has, without what differs in each run anyway."""
    if row is None:
        return None
    image = row[side] if row[side] is not None else row["before"] or row["after"]
    is_after = image is row["after"]
    return {name: value for name, value in image.items() if not (is_after and name in volatile)}
