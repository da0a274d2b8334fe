"""The way back from a write, worked out from the images of its execution, as a proposal that goes through the gate.

Each row is put back only while it is exactly as the write left it: what was changed since is left alone, and the
preview of the undo shows fewer rows. Where more than its own rows changed there is no way back by this, and it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from psycopg import sql

from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import actions, guards
from gate.writes.models import Execution, Preview, WriteRequest
from gate.writes.parameters import TYPES
from gate.writes.screening import screened

Status = WriteRequest.Status
CAME_TO_NOTHING = (
    Status.REJECTED, Status.WITHDRAWN, Status.EXPIRED, Status.FAILED, Status.REFUSED_STALE, Status.BLOCKED,
)  # fmt: skip
Row = Mapping[str, Any]
# The images travel as one parameter: text of every type, which the table's own types read again.
IMAGES = "(SELECT jsonb_array_elements($1) AS image) AS u"


@dataclass(frozen=True)
class Column:
    """One column of the table as the writer found it."""

    name: str
    type: str
    generated: bool
    as_text: bool  # whether its cast to text gives the text that was recorded

    @property
    def quoted(self) -> str:
        """Its name as it stands in SQL."""
        return sql.Identifier(self.name).as_string(None)

    def value(self, side: str) -> str:
        """The recorded value as this column's type."""
        return f"({self.text(side)})::{self.type}"

    def text(self, side: str) -> str:
        """The recorded value as text."""
        return f"u.image -> '{side}' ->> {sql.Literal(self.name).as_string(None)}"

    def is_as(self, side: str) -> str:
        """The condition that the row still holds the recorded value."""
        if self.as_text:
            return f"(t.{self.quoted})::text IS NOT DISTINCT FROM ({self.text(side)})"
        return f"t.{self.quoted} IS NOT DISTINCT FROM {self.value(side)}"


def outlook(seen: Preview) -> str:
    """Why a write with this effect could not be undone, in a sentence; empty when it could be exactly."""
    shape = seen.shape
    if not shape.get("columns"):
        return "The writer has no picture of what it changes, so it cannot be undone from here."
    if not shape["key"]:
        return "The table has no primary key, so a row cannot be found again to put it back."
    if seen.blast:
        tables = ", ".join(one["table"] for one in seen.blast)
        return f"A cascade or a trigger also changes {tables}, which an undo would not put back."
    if shape["triggers"]:
        return f"The trigger {shape['triggers'][0]} acts on its rows and would act again."
    if seen.volatile:
        return f"{', '.join(seen.volatile)} got values at execution, and would get others when it is undone."
    return ""


@transaction.atomic
def propose(write: WriteRequest, by: Person) -> WriteRequest:
    """Propose the way back from an executed write. It waits for a preview and an approval like any other.

    Raises NotAllowed, or Unfit when it does not fit into one proposal.
    """
    write = actions.locked(write)
    with actions.recorded_refusal(by, write.ref, {"act": "undo"}):
        guards.check_can_propose(by)
        check(write)
    return actions.propose(
        target=write.target.name, statement=_statement(write.execution), parameters=[_images(write.execution)],
        title=f"Undo {write.ref}: {write.title}"[: actions.LONGEST_TITLE],
        reason=f"Puts back the rows of {write.ref} that are still as it left them.",
        incident=f"I-{write.incident_id}" if write.incident_id else "", by_person=by, undoes=write,
    )  # fmt: skip


def check(write: WriteRequest) -> None:
    """Raises NotAllowed when the write cannot be undone, or an undo of it is on its way."""
    execution = Execution.objects.select_related("preview").filter(write=write).first()
    if write.status != Status.EXECUTED or execution is None:
        raise NotAllowed(f"{write.ref} was not executed, so there is nothing to undo.")
    if not execution.rows:
        raise NotAllowed(f"{write.ref} changed no row, so there is nothing to undo.")
    if why := outlook(execution.preview):
        raise NotAllowed(why)
    if other := write.undos.exclude(status__in=CAME_TO_NOTHING).first():
        raise NotAllowed(f"{other.ref} undoes {write.ref} already.")
    longest = TYPES["jsonb"].longest
    if len(_images(execution)["v"]) > longest:
        raise NotAllowed(f"Its rows hold more than the {longest:,} characters that fit into one proposal.")


def _images(execution: Execution) -> dict[str, str]:
    sides = [{side: row[side] for side in ("before", "after") if row[side] is not None} for row in execution.rows]
    # ASCII: what a reader would not see stands there by its code.
    return {"t": "jsonb", "v": json.dumps(sides, separators=(",", ":"))}


def _statement(execution: Execution) -> str:
    columns = [Column(**one) for one in execution.preview.shape["columns"]]
    key = frozenset(execution.preview.shape["key"])
    ran, _ = screened(execution.write)
    table = sql.Identifier(ran.schema, ran.name).as_string(None)
    match ran.verb:
        case "delete":
            return _insert(table, columns)
        case "insert":
            return f"DELETE FROM {table} AS t USING {IMAGES} WHERE {_found(columns, key)}"
    changed = frozenset(_changed(execution.rows))
    sets = ", ".join(f"{one.quoted} = {one.value('before')}" for one in columns if _is_set(one, changed))
    return f"UPDATE {table} AS t SET {sets} FROM {IMAGES} WHERE {_found(columns, key)}"


def _insert(table: str, columns: list[Column]) -> str:
    kept = [one for one in columns if not one.generated]
    names, values = ", ".join(one.quoted for one in kept), ", ".join(one.value("before") for one in kept)
    return f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {IMAGES}"


def _found(columns: list[Column], key: frozenset[str]) -> str:
    """The row by its key, and only while each column is as the write left it."""
    keys = [f"t.{one.quoted} = {one.value('after')}" for one in columns if one.name in key]
    return " AND ".join([*keys, *(one.is_as("after") for one in columns)])


def _is_set(column: Column, changed: frozenset[str]) -> bool:
    return column.name in changed and not column.generated


def _changed(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        yield from (name for name, value in row["after"].items() if row["before"].get(name) != value)
