"""Many changed rows as few groups that look alike, the odd ones first: one row among a thousand must not hide.

Rows are alike when the same columns change in the same way. A column whose changes are few or nearly all equal is told
apart by its values; of any other it counts what kind of value became which.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from gate.writes.characters import spelled_out
from gate.writes.models import Preview

SHOWN = 12  # rows that a page shows one below the other; more are shown in groups
FEW = 4  # kinds of change of one column that are told apart by their values
NEARLY_ALL = 0.9  # of the rows: what differs from it is odd
LONGEST = 40  # characters of a value in a group's words

Row = Mapping[str, Any]
Pattern = tuple[tuple[str, str], ...]  # (column, words)
ELSEWHERE: Pattern = (("", "by a trigger or a cascade"),)


@dataclass(frozen=True)
class Group:
    """Rows of one table that look alike."""

    key: str  # SHA-256 over what they have in common and the rows themselves
    table: str
    words: str
    rows: list[Row]
    volatile: list[str]
    of: int  # rows of the table in all groups
    why: str = ""  # why these are not all of them

    @property
    def is_odd(self) -> bool:
        """Whether it is a small part of the whole."""
        return len(self.rows) <= self.of * (1 - NEARLY_ALL)


def groups(table: str, preview: Preview) -> list[Group]:
    """The groups that a person opens before approving, smallest first, then those of other tables.

    None of the table's own when its rows all stand on the page, and none of another table for the same reason.
    """
    own = _own(table, preview.rows, preview.volatile) if len(preview.rows) > SHOWN else []
    others = [
        _group(one["table"], ELSEWHERE, one["rows"], one["volatile"], len(one["rows"]), one["why"])
        for one in preview.blast
        if len(one["rows"]) > SHOWN
    ]
    return own + others


def _own(table: str, rows: Sequence[Row], volatile: Sequence[str]) -> list[Group]:
    common = _common(rows, frozenset(volatile))
    found: dict[Pattern, list[Row]] = {}
    for row in rows:
        found.setdefault(_pattern(row, common, frozenset(volatile)), []).append(row)
    placed = sorted(found.items(), key=lambda item: (len(item[1]), item[0]))
    return [_group(table, pattern, alike, volatile, len(rows)) for pattern, alike in placed]


def _group(
    table: str, pattern: Pattern, rows: Sequence[Row], volatile: Sequence[str], of: int, why: str = ""
) -> Group:  # fmt: skip
    held = json.dumps([table, pattern, rows], sort_keys=True).encode()
    words = "; ".join(f"{column} {words}".strip() for column, words in pattern) or "nothing changes"
    return Group(hashlib.sha256(held).hexdigest(), table, words, list(rows), list(volatile), of, why)


def _changes(row: Row, volatile: frozenset[str]) -> dict[str, tuple[str | None, str | None]]:
    """Each column that changes, with both its values; of a row that comes or goes, every column."""
    before, after = row["before"], row["after"]
    if before is None or after is None:
        one = after if before is None else before
        return {column: (value, value) for column, value in one.items() if column not in volatile}
    named = dict.fromkeys([*row["columns"], *before, *after])
    return {c: (before.get(c), after.get(c)) for c in named if c not in volatile and before.get(c) != after.get(c)}


def _common(rows: Sequence[Row], volatile: frozenset[str]) -> set[str]:
    """Columns whose changes are told apart by their values."""
    counts: dict[str, Counter[tuple[str | None, str | None]]] = {}
    for row in rows:
        for column, change in _changes(row, volatile).items():
            counts.setdefault(column, Counter())[change] += 1
    return {
        column
        for column, seen in counts.items()
        if len(seen) <= FEW or seen.most_common(1)[0][1] >= NEARLY_ALL * seen.total()
    }


def _pattern(row: Row, common: set[str], volatile: frozenset[str]) -> Pattern:
    is_change = row["before"] is not None and row["after"] is not None
    return tuple(
        (column, _words(before, after, column in common, is_change))
        for column, (before, after) in _changes(row, volatile).items()
    )


def _words(before: str | None, after: str | None, is_common: bool, is_change: bool) -> str:
    if is_common:
        return f"{_shown(before)} → {_shown(after)}" if is_change else _shown(before)
    if not is_change:
        return f"some {_kind(before)}"
    return f"{_kind(before)} → {_kind(after)}{_direction(before, after)}"


def _shown(value: str | None) -> str:
    if value is None:
        return "null"
    short = value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({hashlib.sha256(value.encode()).hexdigest()[:8]})"
    return spelled_out(short) or "empty text"


def _kind(value: str | None) -> str:
    if value is None:
        return "null"
    return "text" if _number(value) is None else "number"


def _number(value: str) -> Decimal | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _direction(before: str | None, after: str | None) -> str:
    """How a number moves: up or down, and by how many powers of ten when it does not stay near."""
    old, new = _number(before or ""), _number(after or "")
    if old is None or new is None:
        return ""
    tens = new.adjusted() - old.adjusted() if old and new else 0
    way = ", up" if new > old else ", down"
    return f"{way} by {abs(tens)} powers of ten" if abs(tens) > 1 else way
