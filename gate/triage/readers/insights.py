"""cloudwatch_get_query_results: CloudWatch Logs Insights, with the query that was started in the arguments."""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.triage.grammars import insights, log_groups, zoned_times
from gate.triage.grammars.insights import InsightsQuery
from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import ENDS, STARTS, Asked, LogSearch, nothing_unknown, the_one

QUERIES = ("queryString", "query_string", "query")
GROUPS = ("logGroupName", "log_group_name", "logGroupNames", "log_group_names", "logGroupIdentifiers")
LISTS = frozenset(("logGroupNames", "log_group_names", "logGroupIdentifiers"))
REGIONS = ("region", "accountId", "account")
KNOWN = frozenset((*QUERIES, *GROUPS, *STARTS, *ENDS, *REGIONS, "limit", "queryId", "query_id", "queryLanguage"))
# Every status besides Complete: Running and Scheduled have not looked yet, Timeout and Cancelled stopped looking.
INCOMPLETE = ("Scheduled", "Running", "Failed", "Cancelled", "Timeout", "Unknown")
STATUSES = ("Complete", *INCOMPLETE)


class InsightsResults(LogSearch):
    """An answer of GetQueryResults. Counts in `statistics` are written as 18231.0."""

    tools = ("cloudwatch_get_query_results",)
    LAG = timedelta(minutes=5)  # events take minutes from their log stream into the index that Insights reads

    def query(self) -> InsightsQuery:
        """The query that was asked. Raises Unreadable for any other shape."""
        nothing_unknown(self.args, KNOWN)
        if self.args.has("queryLanguage"):
            self.args.one_of(("CWLI",), "queryLanguage")
        text = self.args.text(the_one(self.args, QUERIES, "the query"))
        query = insights.parse(text)
        if query is None:
            raise Unreadable("", "the query is not a plain search for a text in the message.", text)
        return query

    def asked(self) -> Asked:
        """What was asked. The log group is a part of the selector: it is what the incident names."""
        query = self.query()
        place = frozenset((key, self.args.text(key)) for key in sorted(frozenset(REGIONS) & self.args.keys()))
        begins = self.args.instant(the_one(self.args, STARTS, "the start"))
        ends = self.args.instant(the_one(self.args, ENDS, "the end"))
        selector = query.selector | frozenset((("log_group", self._group()),))
        return Asked(place, selector, query.patterns, begins, ends)

    def _group(self) -> str:
        key = the_one(self.args, GROUPS, "the log group")
        if key not in LISTS:
            return log_groups.name(self.args.text(key))
        if self.args.length(key) != 1:
            raise Unreadable("", "not exactly one log group was searched.", f"{self.args.length(key)} groups")
        return log_groups.name(self.args.text(key, 0))

    def complete(self) -> bool:
        """True. Raises Unreadable for any status but Complete, and for a list that is as long as its limit."""
        status = self.result.one_of(STATUSES, "status")
        if status in INCOMPLETE:
            raise Unreadable("/status", f"the query is {status}, so its answer is not final.", status)
        if self.result.has("nextToken"):
            raise Unreadable("/nextToken", "there is a next page.", "a next page")
        limit = self._limit()
        if limit is not None and self.query().count_field is None and self.result.length("results") >= limit:
            raise Unreadable("/results", f"the list is as long as its limit of {limit}.", "at its limit")
        return True

    def _limit(self) -> int | None:
        """The smaller of the two limits that may be given."""
        given = [self.args.integer("limit")] if self.args.has("limit") else []
        inside = self.query().limit
        limits = sorted([*given, inside] if inside is not None else given)
        if len(limits) > 0 and limits[0] < 1:
            raise Unreadable("", "a limit of nothing makes any answer empty.", f"{limits[0]}")
        return limits[0] if len(limits) > 0 else None

    def found(self) -> int:
        """How many events matched. The rows must say the same as the statistics."""
        matched, said = self._statistic("recordsMatched"), self._said()
        if said != matched:
            raise Unreadable("", f"{matched} events matched and the rows say {said}.", f"{matched}")
        return matched

    def _said(self) -> int:
        """What the rows say: one count, or an event each. A count of nothing has no row."""
        rows, column = self.result.length("results"), self.query().count_field
        if column is None:
            return rows
        if rows == 0:
            return 0
        if (rows, self.result.length("results", 0)) != (1, 1):
            raise Unreadable("/results", "the answer is not one count.", "not one count")
        self.result.one_of((column,), "results", 0, 0, "field")
        return self.result.count_text("results", 0, 0, "value")

    def has_lines(self) -> bool:
        """Events that came back show that there are some, however many more were cut off."""
        return self._statistic("recordsMatched") > 0

    def has_lines_since(self, moment: datetime) -> bool:
        """By the time of each event, where it was among the fields that were asked for."""
        for row in range(self.result.length("results")):
            for number in range(self.result.length("results", row)):
                if self.result.text("results", row, number, "field") != "@timestamp":
                    continue
                if zoned_times.parse_utc(self.result.text("results", row, number, "value")) >= moment:
                    return True
        return False

    def scanned(self) -> int:
        """How many events were looked at."""
        return self._statistic("recordsScanned")

    def _statistic(self, name: str) -> int:
        value = self.result.whole("statistics", name)
        if value < 0:
            raise Unreadable(f"/statistics/{name}", f"`{name}` is negative.", f"{value}")
        return value
