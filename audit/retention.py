"""Dropping months that are over. Entries and payloads go; leaves, nodes, checkpoints and every proof stay.

Nothing is dropped by itself: it cannot be undone, so an operator runs the command, sees first what would go, and no
process that runs all day has the right to. The database's function checks everything again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import simplejson
from django.db import DatabaseError, connection, transaction

from audit import copies, log, payloads
from audit.kinds import Kind
from audit.models import Entry, Leaf, Retained


class CannotRetain(Exception):
    """The sentence that says why a month stays."""


@dataclass(frozen=True)
class Month:
    """A month whose partition is over, and why it may not be dropped; empty when it may."""

    month: date
    entries: int
    first_leaf: int | None
    last_leaf: int | None
    first_number: int | None
    last_number: int | None
    why: str

    @property
    def name(self) -> str:
        return f"{self.month:%Y-%m}"

    @property
    def partition(self) -> str:
        return f"audit_entry_{self.month:%Y%m}"


def months(before: date, keep: int) -> list[Month]:
    """The months before one, oldest first, with what keeps each when `keep` months are to be kept."""
    found = [Month(*row) for row in _rows("select * from audit_retention(%s)", [keep])]
    return [one for one in found if one.month < before]


def drop(one: Month, *, keep: int, by: str) -> log.Recorded:
    """Drop a month and record it, both or neither. Raises CannotRetain."""
    if one.why:
        raise CannotRetain(f"{one.name} stays. {one.why}")
    try:
        with transaction.atomic():
            said = {
                "partition": one.partition,
                "first_leaf": one.first_leaf,
                "last_leaf": one.last_leaf,
                "entries": one.entries,
                "first_number": one.first_number,
                "last_number": one.last_number,
                "keep_months": keep,
                "by": by,
                "restates": _restated(),
            }
            summary = f"{one.entries:,} entries of {one.name} dropped by {by}; their leaves stay"
            receipt = log.record_with(
                Kind.LOG_RETAINED, log.Actor.process(), subject=f"month {one.name}", summary=summary, args=said
            )
            text = payloads.pack(said).kept.decode("ascii")
            _rows("select audit_retain(%s, %s, %s)", [one.month, keep, text])
            copies.forget()
    except DatabaseError as refused:
        raise CannotRetain(f"{one.name} stays. {str(refused).partition('CONTEXT')[0].strip()}") from refused
    return receipt


def default_rows() -> int:
    """How many rows stand in the default partitions, where none should: at most 10,000 are counted."""
    return int(_rows("select audit_default_rows()", [])[0][0])


def default_sentence(rows: int) -> str:
    """What is wrong when some do; empty when none does."""
    if not rows:
        return ""
    return f"{rows:,} rows of the log stand in its default partition: a month had none of its own. Look at beat."


def pruned_number(seq: int) -> Retained | None:
    """The retention that dropped the month in which this number was given out; None while an entry has it."""
    return pruned_numbers([seq]).get(seq)


def pruned_numbers(numbers: Collection[int]) -> dict[int, Retained]:
    """The same for several numbers, in two queries at most."""
    if not numbers:
        return {}
    missing = set(numbers) - set(Entry.objects.filter(seq__in=numbers).values_list("seq", flat=True))
    retained = list(Retained.objects.order_by("-month")) if missing else []
    return {seq: one for one in retained for seq in missing if one.first_number <= seq <= one.last_number}


def pruned_since(moment: datetime) -> list[Retained]:
    """The months from one moment's on that were dropped: what happened in them is not shown any more."""
    return list(Retained.objects.filter(month__gte=moment.astimezone(UTC).date().replace(day=1)).order_by("month"))


def pruned_key(key: UUID) -> Retained | None:
    """The retention that dropped the entry with this key: its leaf is still there."""
    leaf = Leaf.objects.filter(entry_id=key).values_list("index", flat=True).first()
    if leaf is None:
        return None
    return Retained.objects.filter(first_leaf__lte=leaf, last_leaf__gte=leaf).order_by("month").first()


def _restated() -> Any:
    return simplejson.loads(_rows("select audit_restated()::text", [])[0][0])


def _rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
