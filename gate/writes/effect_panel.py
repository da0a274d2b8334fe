"""The panel of a write's effect: every row while they are few, else groups with the odd ones first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gate.people.models import Person
from gate.writes import comparing, grouping, opened, undo
from gate.writes.comparing import Compared
from gate.writes.grouping import SHOWN, Group
from gate.writes.models import Execution, Preview, WriteRequest

SAMPLE = 3  # rows of an odd group that stand on the first page in full


@dataclass(frozen=True)
class GroupLine:
    """A group with what of it the first page shows, and whether this person opened its page."""

    group: Group
    is_opened: bool

    @cached_property
    def sample(self) -> list[Compared]:
        """The rows themselves, when they are odd and few."""
        if not self.group.is_odd or len(self.group.rows) > SAMPLE:
            return []
        return comparing.compared(self.group.rows, self.group.volatile)


@dataclass(frozen=True)
class OtherTable:
    """What happened to the rows of another table."""

    table: str
    counts: Sequence[int]
    rows: list[Compared]  # empty when they are a group of their own
    is_grouped: bool
    why: str

    @property
    def words(self) -> str:
        """Like "2 rows deleted from shop.children"."""
        found = comparing.touched({self.table: self.counts})
        return ", ".join(f"{number:,} {'row' if number == 1 else 'rows'} {did} {table}" for number, did, table in found)


@dataclass(frozen=True)
class EffectPanel:
    """The effect of a write as one person sees it."""

    write: WriteRequest
    preview: Preview
    executed: Execution | None
    person: Person

    @property
    def is_grouped(self) -> bool:
        """Whether there are too many rows to stand one below the other."""
        return len(self.preview.rows) > SHOWN

    @cached_property
    def groups(self) -> list[GroupLine]:
        """The groups, smallest first."""
        known = opened.keys(self.person, self.preview)
        return [GroupLine(one, one.key in known) for one in grouping.groups(self.write.table, self.preview)]

    @property
    def is_locked(self) -> bool:
        """Whether a group is still to be opened by this person."""
        return any(not line.is_opened for line in self.groups)

    @cached_property
    def rows(self) -> list[Compared]:
        """The rows when they are few: those that were written, or those that would be."""
        if self.is_grouped:
            return []
        if self.executed is not None:
            return comparing.compared(self.executed.rows)
        return comparing.compared(self.preview.rows, self.preview.volatile)

    @property
    def touched(self) -> list[tuple[int, str, str]]:
        """The footprint: every table that is written, by triggers and cascades too."""
        return comparing.touched(self.preview.footprint)

    @cached_property
    def others(self) -> list[OtherTable]:
        """The other tables of the footprint, with their rows."""
        return [_other(one) for one in self.preview.blast]

    @property
    def is_whole(self) -> bool:
        """Whether every row of every touched table is shown."""
        return all(not one.why for one in self.others)

    @property
    def server(self) -> int:
        """The target's PostgreSQL when it is older than 18, else 0."""
        version = int(self.preview.shape.get("server", 0))
        return version if version < 18 else 0

    @property
    def oid(self) -> str:
        """The number of the table that the statement's name led to."""
        return str(self.preview.shape.get("oid", ""))

    @property
    def no_undo(self) -> str:
        """Why the write could not be undone once it ran; empty when it could be exactly."""
        return undo.outlook(self.preview)

    @property
    def bound(self) -> list[str]:
        """The columns that an approval is bound to beside those that change; empty when it is bound to all."""
        return list(self.preview.bound or [])


def _other(one: dict[str, Any]) -> OtherTable:
    is_grouped = len(one["rows"]) > SHOWN
    rows = [] if is_grouped else comparing.compared(one["rows"], one["volatile"])
    return OtherTable(one["table"], one["counts"], rows, is_grouped, one["why"])


@dataclass(frozen=True)
class GroupRow:
    """One row of a group's page: its key, and a cell for each column, None where the column stays."""

    key: str
    cells: list[comparing.Change | None]


@dataclass(frozen=True)
class GroupTable:
    """The page of one group."""

    group: Group

    @cached_property
    def _compared(self) -> list[Compared]:
        return comparing.compared(self.group.rows, self.group.volatile)

    @cached_property
    def columns(self) -> list[str]:
        """The columns that change in any of its rows."""
        return list(dict.fromkeys(change.column for row in self._compared for change in row.changes))

    @property
    def rows(self) -> list[GroupRow]:
        """Every row of the group."""
        return [self._row(row) for row in self._compared]

    def _row(self, row: Compared) -> GroupRow:
        changed = {change.column: change for change in row.changes}
        return GroupRow(row.key, [changed.get(column) for column in self.columns])
