"""Rows as a formula answered them, read strictly: a missing, mistyped or unheard value is never read as another. Pure.

A row is an object of JSON with exact numbers. What cannot be read is said with its place, and the number that would be
made of it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from evidence.metrics import columns, sums
from evidence.metrics.exact import exact
from evidence.metrics.status import Code, Reason, because

Row = Mapping[str, object]


class Unreadable(ValueError):
    """A value of a row that is not what its column says; carries the reason."""

    def __init__(self, number: int, column: str) -> None:
        super().__init__(f"Row {number} has no usable {column}.")
        self.reason = because(Code.UNREADABLE, row=number, column=column)


@dataclass(frozen=True)
class Line:
    """One row, by its place in the answer, from 1."""

    number: int
    row: Row

    def text(self, column: str) -> str:
        """A text, or a whole number as one: entities are often numbered. Raises Unreadable."""
        value = self.row.get(column)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise Unreadable(self.number, column)
        return str(value)

    def key(self, column: str) -> str | None:
        """A text, or None where the source says nothing. Raises Unreadable for a column that is not there."""
        if column not in self.row:
            raise Unreadable(self.number, column)
        return None if self.row[column] is None else self.text(column)

    def number_of(self, column: str) -> Fraction:
        """An exact number. Raises Unreadable: null is not 0, and a text is no number here."""
        value = self.row.get(column)
        if isinstance(value, str):
            raise Unreadable(self.number, column)
        try:
            return exact(value)
        except ValueError as error:
            raise Unreadable(self.number, column) from error

    def whole(self, column: str) -> int:
        """A whole number. Raises Unreadable."""
        number = self.number_of(column)
        if number.denominator != 1:
            raise Unreadable(self.number, column)
        return number.numerator

    def flag(self, column: str, where_absent: bool) -> bool:
        """A yes or no. A formula may have no such column at all, but then none of its rows has. Raises Unreadable."""
        value = self.row.get(column, where_absent)
        if not isinstance(value, bool):
            raise Unreadable(self.number, column)
        return value


class Lines(Sequence[Line]):
    """The rows with their places, which are made when somebody looks at one: columns are read as they are."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self._lines[place]

    @cached_property
    def _lines(self) -> list[Line]:
        return [Line(number, row) for number, row in enumerate(self.rows, start=1)]


def lines(rows: Sequence[Row]) -> Lines:
    """The rows with their places."""
    return Lines(rows)


def standing(found: Lines) -> Iterator[Reason]:
    """What the rows themselves say is missing: no rows, open ends, no history, missing ticks. Raises Unreadable."""
    if not found:
        yield because(Code.NO_ROWS)
        return
    open_ones, lost = _unlike(found, columns.IS_OPEN, False), _unlike(found, columns.HAS_HISTORY, True)
    if open_ones:
        yield because(Code.STILL_OPEN, entities=len(open_ones))
    if lost:
        yield because(Code.HISTORY_MISSING, entities=len(lost))
    if any(columns.TICK in row for row in found.rows):
        yield from gaps(found)


def _unlike(found: Lines, column: str, usual: bool) -> set[str]:
    """The entities of which a flag says the unusual. Raises Unreadable."""
    values = [row.get(column, usual) for row in found.rows]
    if {bool}.issuperset(map(type, values)) and (not usual) not in values:
        return set()
    return {_entity(line) for line in found if line.flag(column, usual) != usual}


def _entity(line: Line) -> str:
    return line.text(columns.ENTITY) if columns.ENTITY in line.row else str(line.number)


def gaps(found: Lines) -> Iterator[Reason]:
    """The runs of ticks that no row has. Raises Unreadable; rows that disagree about the whole are a contradiction."""
    spans = set(zip(_wholes(found, columns.FIRST_TICK), _wholes(found, columns.LAST_TICK), strict=True))
    if len(spans) != 1:
        yield because(Code.CONTRADICTION, column=columns.FIRST_TICK)
        return
    first, last = spans.pop()
    for since, until in missing(first, last, set(_wholes(found, columns.TICK))):
        yield because(Code.GAP, since=since, until=until)


def _wholes(found: Lines, column: str) -> Sequence[int]:
    """A column of whole numbers. Raises Unreadable."""
    numbers = sums.numbers(found.rows, column)
    if numbers is not None and {int}.issuperset(map(type, numbers.values)):
        return numbers.values
    return [line.whole(column) for line in found]


def missing(first: int, last: int, there: set[int]) -> Iterator[tuple[int, int]]:
    """The runs of whole numbers from first to last that are not there: found between those that are, however long."""
    at = first
    for tick in [*sorted(tick for tick in there if first <= tick <= last), last + 1]:
        if tick > at:
            yield at, tick - 1
        at = tick + 1
