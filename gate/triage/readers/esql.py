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
INCOMPLETE = (("is_partial",), ("is_running",), ("_clusters", "successful"), ("error",))


class EsqlCount(LogSearch):
    """An answer of one row and one column. How many documents were looked at it does not say."""

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
        """The one count."""
        shape = self.result.length("columns"), self.result.length("values")
        if shape != (1, 1):
            raise Unreadable("", "the answer is not one count.", f"{shape[0]} columns, {shape[1]} rows")
        if self.result.length("values", 0) != 1:
            raise Unreadable("/values/0", "the answer is not one count.", "not one value")
        self.result.one_of((self.query().column,), "columns", 0, "name")
        self.result.one_of(TYPES, "columns", 0, "type")
        return self.result.integer("values", 0, 0)

    def says_scanned(self) -> bool:
        """It does not: `documents_found` counts what is left after the filters."""
        return False
