"""pg_select: the rows that a SELECT gave, with what was asked taken apart and not only believed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from gate.triage.grammars import sql_select, zoned_times
from gate.triage.grammars.sql_select import Select
from gate.triage.readers.document import Answer, Unreadable

# The names that tools give the statement among their arguments.
STATEMENT = ("sql", "query", "statement")
# What an answer says when there are more rows than it holds; the numbers beside the rows are compared as well.
INCOMPLETE = ("truncated", "has_more", "is_partial")


class PgSelect(Answer):
    """Rows under their columns' names. Counts are whole numbers here; a count as text is not one."""

    tools = ("pg_select",)

    def asked(self) -> Select:
        """What was asked, as PostgreSQL's grammar reads it. Raises Unreadable outside the one shape that is known."""
        used = [key for key in STATEMENT if self.args.has(key)]
        if len(used) != 1:
            raise Unreadable("", "there is not exactly one statement in the arguments.", f"{len(used)} statements")
        return sql_select.parse(self.args.text(used[0]))

    def asked_value(self, condition: sql_select.Condition) -> str | int:
        """What a column was compared with: the literal, or the parameter that stands for it. Raises Unreadable."""
        if condition.value is not None:
            return condition.value
        if condition.parameter is None:
            raise Unreadable("", f"`{condition.column}` is compared with nothing.", "nothing")
        return self.args.identifier("params", condition.parameter - 1)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the answer proves that it holds every row that was asked for."""
        for marker in INCOMPLETE:
            if self.result.has(marker) and self.result.flag(marker) is not False:
                raise Unreadable(f"/{marker}", f"`{marker}` says that there are more rows.", "cut rows")
        if self.args.has("limit") and self.args.integer("limit") < 1:
            raise Unreadable("", "a limit of nothing makes any answer empty.", "0")
        listed = self.listed()
        if self.result.integer("row_count") != listed:
            raise Unreadable("/row_count", "`row_count` is not the number of rows in the answer.", f"{listed} rows")
        if self.asked().aggregates == ():
            self._check_is_under_limit(listed)
        elif listed != 1:
            raise Unreadable("/rows", f"an aggregate gives one row, not {listed}.", f"{listed} rows")
        return True

    def _check_is_under_limit(self, listed: int) -> None:
        """As many rows as the limit lets through may be some of more. Aggregates have one row whatever they counted."""
        limit, asked = self.result.integer("limit"), self.asked().limit
        if self.args.has("limit") and self.args.integer("limit") != limit:
            raise Unreadable("/limit", "`limit` is not the one that was asked for.", f"{limit}")
        if listed >= sorted([limit] if asked is None else [limit, asked])[0]:
            raise Unreadable("/rows", f"there are {listed} rows, as many as the limit lets through.", f"{listed} rows")

    def listed(self) -> int:
        """How many rows are in the answer."""
        return self.result.length("rows")

    def has_column(self, index: int, column: str) -> bool:
        """Whether a row has a column of that name."""
        return self.result.has("rows", index, column)

    def identifier(self, index: int, column: str) -> str | int:
        """A text or a whole number of a row, as it stands."""
        return self.result.identifier("rows", index, column)

    def like(self, known: str | int, index: int, column: str) -> str | int:
        """A text or a whole number of a row, whichever the known one is: a column holds values of one type."""
        if isinstance(known, str):
            return self.result.text("rows", index, column)
        return self.result.integer("rows", index, column)

    def one_of(self, known: Collection[str], index: int, column: str) -> str:
        """A text of a row, out of a closed list."""
        return self.result.one_of(known, "rows", index, column)

    def integer(self, index: int, column: str) -> int:
        """A whole number of a row."""
        return self.result.integer("rows", index, column)

    def moment(self, index: int, column: str) -> datetime:
        """A time of a row, with its zone."""
        return zoned_times.parse(self.result.text("rows", index, column))
