"""es_search: the answer of _search of Elasticsearch and OpenSearch."""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.triage.grammars import moments, query_dsl
from gate.triage.grammars.fields import TIMES
from gate.triage.grammars.query_dsl import SearchBody
from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import ENDS, STARTS, Asked, LogSearch, nothing_unknown, the_one

BODIES = ("body", "query_body", "queryBody")
TEXTS = ("q", "query_string")
INLINE = frozenset(("query", "size", "track_total_hits", "aggs", "aggregations", "sort", "_source", "fields"))
INDEXES = ("index", "indices", "index_pattern")
KNOWN = frozenset((*BODIES, *TEXTS, *INDEXES, *INLINE, *STARTS, *ENDS))
# True in any of these, or a count of shards or clusters that is not the total: not everything was searched.
INCOMPLETE = (("timed_out",), ("terminated_early",), ("_shards", "failed"), ("_shards", "successful"),
              ("hits", "total", "relation"), ("_clusters", "successful"), ("error",))  # fmt: skip


class ElasticSearch(LogSearch):
    """An answer of _search. How many documents were looked at it says only where the error is counted apart."""

    tools = ("es_search",)
    LAG = timedelta(seconds=1)  # an index is refreshed every second unless it was set otherwise

    def body(self) -> SearchBody:
        """The search that was asked. Raises Unreadable for any other shape."""
        nothing_unknown(self.args, KNOWN)
        used = [key for key in (*BODIES, *TEXTS, "query") if key in frozenset(self.args.keys())]
        if len(used) != 1:
            raise Unreadable("", "the search is not said exactly once.", f"{len(used)} of them")
        found = self._parsed(used[0])
        if found is None:
            raise Unreadable("", "the search is not made of plain terms, a text and a window.", used[0])
        return found

    def _parsed(self, key: str) -> SearchBody | None:
        if type(self.call.args[key]) is str:
            return query_dsl.parse_text(self.args.text(key), self._window())
        if self._window() is not None:
            return None
        if key == "query":
            inline = {name: self.call.args[name] for name in sorted(INLINE & self.args.keys())}
            return query_dsl.parse(inline)
        self.args.keys(key)
        return query_dsl.parse(self.call.args[key])

    def _window(self) -> tuple[datetime, datetime] | None:
        """The window beside the query, where the tool takes it there."""
        if len(frozenset((*STARTS, *ENDS)) & self.args.keys()) == 0:
            return None
        begins = self.args.instant(the_one(self.args, STARTS, "the start"), units=moments.MILLISECONDS)
        return begins, self.args.instant(the_one(self.args, ENDS, "the end"), units=moments.MILLISECONDS)

    def asked(self) -> Asked:
        """What was asked."""
        demands, index = self.body().demands, self.args.text(the_one(self.args, INDEXES, "the index"))
        place = frozenset((("index", index),))
        return Asked(place, demands.selector, demands.patterns, demands.begins, demands.ends)

    def complete(self) -> bool:
        """True. Raises Unreadable unless every shard was searched, and to its end."""
        if self.result.has("error"):
            raise Unreadable("/error", "the answer is an error.", "an error")
        if self.result.flag("timed_out") is True:
            raise Unreadable("/timed_out", "the search timed out.", "true")
        if self.result.has("terminated_early") and self.result.flag("terminated_early") is True:
            raise Unreadable("/terminated_early", "the search was ended early.", "true")
        self._check_all("_shards")
        if self.result.integer("_shards", "failed") != 0:
            raise Unreadable("/_shards/failed", "some shards failed.", f"{self.result.integer('_shards', 'failed')}")
        if self.result.has("_clusters"):
            self._check_all("_clusters")
        return True

    def _check_all(self, part: str) -> None:
        total, successful = self.result.integer(part, "total"), self.result.integer(part, "successful")
        if not (total == successful and total > 0):
            raise Unreadable(f"/{part}", f"{successful} of {total} answered.", f"{successful} of {total}")

    def found(self) -> int:
        """How many documents match."""
        name = self.body().aggregation
        if name is not None:
            return self.result.integer("aggregations", name, "doc_count")
        self.result.one_of(("eq",), "hits", "total", "relation")
        return self._hits()

    def at_least(self) -> int:
        """The same, also where Elasticsearch stopped counting at some ten thousand."""
        if self.body().aggregation is not None:
            return self.found()
        self.result.one_of(("eq", "gte"), "hits", "total", "relation")
        return self._hits()

    def has_lines(self) -> bool:
        """Whether any document matches."""
        return self.at_least() > 0

    def has_lines_since(self, moment: datetime) -> bool:
        """By the time in each document, as far as documents came back with one."""
        for index in range(self.result.length("hits", "hits")):
            place = ("hits", "hits", index)
            if self.result.has(*place, "_source") is not True:
                continue
            for name in sorted(TIMES & self.result.keys(*place, "_source")):
                if self.result.instant(*place, "_source", name, units=moments.MILLISECONDS) >= moment:
                    return True
        return False

    def says_scanned(self) -> bool:
        """Only where the error is counted among all lines."""
        return self.body().aggregation is not None

    def scanned(self) -> int:
        """How many lines there were, of which the error was counted."""
        if self.says_scanned() is not True:
            why = "the answer does not say how many lines were looked at; count the error by an aggregation `filter`."
            raise Unreadable("", why, "not said")
        self.result.one_of(("eq", "gte"), "hits", "total", "relation")
        return self._hits()

    def _hits(self) -> int:
        total, listed = self.result.integer("hits", "total", "value"), self.result.length("hits", "hits")
        if listed > total:
            raise Unreadable("/hits", f"{listed} documents are listed and {total} counted.", f"{total}")
        return total
