"""What changed between an approval and the run that refused it."""

from __future__ import annotations

from typing import Any

import psycopg

from gate.writes import digests, effect
from gate.writes.effect import Effect, Row
from gate.writes.models import Preview
from gate.writes.statement import Statement


def differences(
    connection: psycopg.Connection[Any], statement: Statement, seen: Preview, found: Effect
) -> list[Row]:  # fmt: skip
    """The rows that are not as approved: "before" is as approved, "after" as found.

    `connection` is in a fresh transaction: it is asked for rows that the statement does not reach any more.
    Raises images.TooLarge, psycopg.Error.
    """
    changed = {_name(row): row for row in found.rows}
    approved = {_name(row): row for row in seen.rows}
    pairs = [_pair(connection, statement, row, changed.get(name), seen) for name, row in approved.items()]
    added = (row for name, row in changed.items() if name not in approved)
    return [
        *(pair for pair in pairs if pair["before"] != pair["after"]),
        *({**row, "before": None, "after": _face(row)} for row in added),
    ]


def _name(row: Row) -> str:
    """A row's key as text; a row without a key is told by all it was."""
    return digests.row_line(row["key"] or row["before"], None, ())


def _face(row: Row) -> digests.Image:
    before: digests.Image = row["before"]
    after: digests.Image = row["after"]
    return before if before is not None else after


def _pair(connection: Any, statement: Statement, approved: Row, found: Row | None, seen: Preview) -> Row:
    if found is None:
        now = effect.as_it_is(connection, statement, approved["key"]) if approved["key"] else None
        return {**approved, "before": _face(approved), "after": now}
    if _of_interest(approved["before"], approved, found, seen) != _of_interest(found["before"], approved, found, seen):
        return {**found, "before": _of_interest(approved["before"], approved, found, seen),
                "after": _of_interest(found["before"], approved, found, seen)}  # fmt: skip
    left, right = _steady(approved, seen), _steady(found, seen)
    return {**found, "before": _of_interest(left, approved, found, seen),
            "after": _of_interest(right, approved, found, seen)}  # fmt: skip


def _of_interest(image: digests.Image, approved: Row, found: Row, seen: Preview) -> digests.Image:
    """The columns that the approval is bound to: all of them, or the named and the changed ones."""
    if seen.bound is None or image is None:
        return image
    changed = {*_changed(approved, seen), *_changed(found, seen)}
    return {column: value for column, value in image.items() if column in changed.union(seen.bound)}


def _changed(row: Row, seen: Preview) -> set[str]:
    before, after = row["before"] or {}, row["after"] or {}
    return {column for column in after if column not in seen.volatile and before.get(column) != after[column]}


def _steady(row: Row, seen: Preview) -> digests.Image:
    """The row after the change, without what differs in each run anyway."""
    after: digests.Image = row["after"]
    return None if after is None else {column: value for column, value in after.items() if column not in seen.volatile}
