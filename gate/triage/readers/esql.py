"""es_esql: the answer of an ES|QL query."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.grammars import esql
from gate.triage.grammars.esql import CountQuery
from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import Asked, LogSearch, nothing_unknown, the_one

QUERIES = ("query", "esql")
KNOWN = frozenset((*QUERIES, "format"))
TYPES = ("long", "integer")
FOUND = "documents_found"
INCOMPLETE = (("is_partial",), ("is_running",), ("_clusters", "successful"), ("error",))


class EsqlCount(LogSearch):
    """An answer of one row: the count of the error, and beside it that of every line, where both were asked for."""

    tools = ("es_esql",)
    LAG = timedelta(seconds=1)

    def query(self) -> CountQuery:
        """The query that was asked. Raises Unreadable for any other shape."""
        nothing_unknown(self.args, KNOWN)
        text = self.args.text(the_one(self.args, QUERIES, "the query"))
        found = esql.parse(text)
        if found is None:
            raise Unreadable("", "the query is not a plain count of lines with a text in them.", text)
        return found

    def asked(self) -> Asked:
        """What was asked."""
        query = self.query()
        demands = query.demands
        return Asked(
            frozenset((("index", query.index),)), demands.selector, demands.patterns, demands.begins, demands.ends
        )

    def complete(self) -> bool:
        """True. Raises Unreadable where a part of the data was not read."""
        if self.result.flag("is_partial") is True:
            raise Unreadable("/is_partial", "a part of the data was not read.", "true")
        if self.result.has("is_running") and self.result.flag("is_running") is True:
            raise Unreadable("/is_running", "the query is still running.", "true")
        if self.result.has("error"):
            raise Unreadable("/error", "the answer is an error.", "an error")
        if self.result.has("_clusters"):
            self._check_clusters()
        return True

    def _check_clusters(self) -> None:
        total, good = self.result.integer("_clusters", "total"), self.result.integer("_clusters", "successful")
        if total != good:
            raise Unreadable("/_clusters", f"{good} of {total} clusters answered.", f"{good} of {total}")

    def found(self) -> int:
        """The count of the error, or of every line where no error was asked for."""
        return self._counted(self.query().error)

    def _counted(self, number: int) -> int:
        """One of the counts: one row, and exactly the columns that were asked for."""
        wanted = self.query().columns
        shape = self.result.length("columns"), self.result.length("values")
        if shape != (len(wanted), 1):
            raise Unreadable("", "the answer is not what was counted.", f"{shape[0]} columns, {shape[1]} rows")
        if self.result.length("values", 0) != len(wanted):
            raise Unreadable("/values/0", "the row is not what was counted.", f"{self.result.length('values', 0)}")
        self.result.one_of((wanted[number],), "columns", number, "name")
        self.result.one_of(TYPES, "columns", number, "type")
        return self.result.integer("values", 0, number)

    def says_scanned(self) -> bool:
        """Only where every line was counted beside the error."""
        return self.query().lines is not None

    def scanned(self) -> int:
        """How many lines there were, of which the error was counted.

        Without a second count it is `documents_found`: those that the index gave for the conditions which it can look
        up, of which the rest were then tested. It is 0 where the index looked up the error itself, and shows nothing.
        """
        lines = self.query().lines
        if lines is not None:
            return self._counted(lines)
        if not self.result.has(FOUND):
            why = "the answer does not say how many lines were looked at; count every line beside the error."
            raise Unreadable("", why, "not said")
        return self.result.integer(FOUND)
