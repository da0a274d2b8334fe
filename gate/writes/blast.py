"""What a statement does to other tables, by triggers and cascades: their rows before and after, or why not all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import psycopg

from gate.writes import digests, replaced, sentences, session, tables
from gate.writes.images import Image, TooLarge
from gate.writes.targets import WriteTarget

SECONDS = 6.0  # for all tables together: the rows of the written table stay locked meanwhile
NAMED = """
select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where n.nspname || '.' || c.relname = %s
"""


@dataclass(frozen=True)
class Touched:
    """One table that the statement does not name as its own, with what happened to its rows."""

    table: str
    counts: list[int]  # inserted, updated, deleted
    rows: list[dict[str, Any]] = field(default_factory=list)  # as gate.writes.effect has them
    volatile: list[str] = field(default_factory=list)
    why: str = ""  # why these are not all the rows; empty when they are

    def as_json(self) -> dict[str, Any]:
        """As it is stored with a preview."""
        return asdict(self)


def of(
    connection: psycopg.Connection[Any], target: WriteTarget, footprint: Mapping[str, list[int]], most: int
) -> list[Touched]:  # fmt: skip
    """Each table of the footprint, read while the transaction that wrote it is still open. It raises nothing of it."""
    if not footprint:
        return []
    try:
        number = replaced.xid(connection)
        with replaced.observer(target) as second:
            ends = time.monotonic() + SECONDS
            return [_one(connection, second, number, name, counts, most, ends) for name, counts in footprint.items()]
    except session.Unreachable as reason:
        return [Touched(name, counts, why=str(reason)) for name, counts in footprint.items()]


def _one(
    connection: psycopg.Connection[Any], second: psycopg.Connection[Any], number: str, name: str, counts: list[int],
    most: int, ends: float,
) -> Touched:  # fmt: skip
    inserted, updated, deleted = counts
    if max(inserted + updated, updated + deleted) > most:
        return Touched(name, counts, why=f"It is more than the {most:,} rows that are shown.")
    place = connection.execute(NAMED, [name]).fetchall()
    if len(place) != 1 or place[0][0].startswith("pg_"):
        return Touched(name, counts, why="It belongs to the database itself, so it is only counted.")
    schema, table = place[0]
    try:
        with _kept(connection, second, ends):
            before = replaced.before(second, number, schema, table, most)
            after = replaced.after(connection, number, schema, table, most)
    except (TooLarge, psycopg.Error) as reason:
        return Touched(name, counts, why=_why(reason))
    rows = _rows(tables.key_of(connection, schema, table), before, after)
    is_whole = (len(after), len(before)) == (inserted + updated, updated + deleted)
    return Touched(name, counts, rows, why="" if is_whole else NOT_ALL)


NOT_ALL = (
    "The rows that could be read are not as many as were counted: one changed twice, in a block of its own, or under"
    " another session's lock."
)


def _why(reason: TooLarge | psycopg.Error) -> str:
    if isinstance(reason, psycopg.errors.QueryCanceled):
        return "The table is too large to be searched for them in time."
    return sentences.of(reason) if isinstance(reason, psycopg.Error) else "There are more of them than are shown."


@contextmanager
def _kept(connection: psycopg.Connection[Any], second: psycopg.Connection[Any], ends: float) -> Iterator[None]:
    """Both transactions go on as they were, whatever becomes of the reads; those get the time that is left."""
    left = f"{max(int((ends - time.monotonic()) * 1000), 1)}ms"
    for one in (connection, second):
        one.execute("SAVEPOINT blast")
        one.execute("SELECT pg_catalog.set_config('statement_timeout', %s, true)", [left])
    try:
        yield
    finally:
        for one in (connection, second):
            one.execute("ROLLBACK TO SAVEPOINT blast")


def _rows(key: Sequence[str], before: Sequence[Image], after: Sequence[Image]) -> list[dict[str, Any]]:
    """Pairs by key, then what only one side has. Without a key nothing is paired."""
    left = {_key(image, key): dict(image) for image in before} if key else {}
    pairs = [(left.pop(_key(image, key), None) if key else None, dict(image)) for image in after]
    alone = list(left.values()) if key else [dict(image) for image in before]
    made = [_row(key, old, new) for old, new in [*pairs, *((one, None) for one in alone)]]
    # What was inserted stays in the order in which it was: its key may be another in each run.
    return sorted(made, key=lambda row: digests.row_line(row["before"], None, ()))


def _row(key: Sequence[str], old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any]:
    image = old if old is not None else new
    assert image is not None  # one side is always there
    return {"key": {name: image[name] for name in key}, "columns": list(image), "before": old, "after": new}


def _key(image: Image, key: Sequence[str]) -> tuple[str | None, ...]:
    values = dict(image)
    return tuple(values[name] for name in key)


def steady(first: Sequence[Touched], second: Sequence[Touched]) -> list[Touched]:
    """The second run's tables, with the columns that had another value in the first one."""
    earlier = {one.table: one for one in first}
    return [_steady(earlier[one.table], one) for one in second]


def _steady(first: Touched, second: Touched) -> Touched:
    if first.why or second.why:
        return Touched(second.table, second.counts, second.rows, why=second.why or first.why)
    if [row["before"] for row in first.rows] != [row["before"] for row in second.rows]:
        return Touched(second.table, second.counts, second.rows, why="It changed between the two dry runs.")
    pairs = zip(first.rows, second.rows, strict=True)
    volatile = {
        column
        for one, other in pairs
        for column in one["after"] or ()
        if one["after"][column] != (other["after"] or {}).get(column)
    }
    # A key that is drawn anew is no name for the row.
    rows = [row if row["before"] else {**row, "key": _without(row["key"], volatile)} for row in second.rows]
    return Touched(second.table, second.counts, rows, sorted(volatile))


def _without(key: Mapping[str, Any], volatile: set[str]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name not in volatile}
