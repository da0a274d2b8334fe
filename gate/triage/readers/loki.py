"""loki_query, query_loki_logs: Loki's own answer of /query and /query_range."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gate.triage.cases import RecordedCall
from gate.triage.grammars import logql, moments
from gate.triage.grammars.logql import LineQuery
from gate.triage.readers.document import Document, Step, Unreadable
from gate.triage.readers.log_search import ENDS, STARTS, Asked, LogSearch, nothing_unknown, the_one

TOOLS = ("loki_query", "query_loki_logs")
QUERIES = ("expr", "query", "logql")
PLACES = ("datasourceUid", "datasource_uid", "datasource", "tenant", "org_id")
STEPS = ("step", "stepSeconds")
MOMENTS = (*ENDS, "time")  # a single count is made at one moment, which is its end
# They turn or cut a list of lines, and leave a count as it is.
HARMLESS = ("limit", "direction", "queryType", "format", "interval")
KNOWN = frozenset((*QUERIES, *STARTS, *MOMENTS, *PLACES, *STEPS, *HARMLESS))
LISTED_UNASKED = 100  # what Loki lists where no limit is said
RESULT_TYPES = ("vector", "matrix", "streams")
# What Loki, or a proxy before it, adds to an answer that is not all there is.
INCOMPLETE = (("warnings",), ("data", "warnings"), ("error",), ("errorType",))
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
AS_THE_END = timedelta(seconds=1)  # an instant query takes whole seconds


@dataclass(frozen=True)
class Window:
    """The time that a count looked at."""

    begins: datetime
    ends: datetime


def asked_of_loki(args: Document) -> tuple[LineQuery, frozenset[tuple[str, str]]]:
    """The query and the data source that were asked for. Raises Unreadable."""
    nothing_unknown(args, KNOWN)
    if args.has("limit") and args.integer("limit") < 1:
        raise Unreadable("", "a limit of nothing makes any answer empty.", "0")
    text = args.text(the_one(args, QUERIES, "the query"))
    query = logql.parse(text)
    if query is None:
        raise Unreadable("", "the query is not a plain count of lines with a text in them.", text)
    used = [key for key in PLACES if key in frozenset(args.keys())]
    return query, frozenset((key, args.text(key)) for key in used)


def has_step(args: Document) -> bool:
    """Whether many counts were asked for, one at each step."""
    return len([key for key in STEPS if key in frozenset(args.keys())]) > 0


def asked_window(args: Document, query: LineQuery) -> Window:
    """The time that was asked for. A single count looks back from the end over its own range, whatever the start."""
    ends = args.instant(the_one(args, MOMENTS, "the end"), units=moments.SECONDS_OR_NANOSECONDS)
    if query.range_ms is not None and has_step(args) is False:
        return Window(ends - timedelta(milliseconds=query.range_ms), ends)
    begins = args.instant(the_one(args, STARTS, "the start"), units=moments.SECONDS_OR_NANOSECONDS)
    return Window(begins, ends)


class LokiAnswer(LogSearch):
    """The native answer: status, data.resultType, data.result and data.stats."""

    tools = TOOLS

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """The wrapped answer has `metadata` where this one has `status`."""
        return call.tool in frozenset(TOOLS) and type(call.result) is dict and "status" in frozenset(call.result)

    def asked(self) -> Asked:
        """What was asked."""
        query, place = asked_of_loki(self.args)
        window = asked_window(self.args, query)
        return Asked(place, query.selector, query.patterns, window.begins, window.ends)

    def complete(self) -> bool:
        """True. Raises Unreadable where the answer says that it is not whole, or is about another moment."""
        self.result.one_of(("success",), "status")
        for path in INCOMPLETE:
            if len(path) > 1:
                self.result.keys(path[0])
            if self.result.has(*path):
                self._check_empty(path)
        return True

    def _check_empty(self, path: tuple[str, ...]) -> None:
        if path[-1] == "warnings" and self.result.length(*path) == 0:
            return
        name = ".".join(path)
        raise Unreadable("/" + "/".join(path), f"`{name}` says that the answer is not whole.", "not whole")

    def found(self) -> int:
        """The counts of all series. A list of lines, and a count that is not there, are no count."""
        query, _ = asked_of_loki(self.args)
        kind = self.result.one_of(RESULT_TYPES, "data", "resultType")
        if (query.is_count, kind == "streams") != (True, False):
            raise Unreadable("", "lines were listed, not counted at the source.", kind)
        if (kind == "matrix") is not has_step(self.args):
            raise Unreadable("", "one count was asked for and many came, or the other way round.", kind)
        series = self.result.length("data", "result")
        if series == 0:
            raise Unreadable("", "the count is not in the answer; ask with `or vector(0)`.", "no count")
        total = 0
        for index in range(series):
            total += self._instant(index) if kind == "vector" else self._range(index, query)
        return total

    def at_least(self) -> int:
        """Lines that were listed count where each is the asked stream's and of the asked time, in a list not cut."""
        if self.result.one_of(RESULT_TYPES, "data", "resultType") != "streams":
            return self.found()
        total = 0
        for index in range(self.result.length("data", "result")):
            total += self._listed(index)
        limit = self.args.integer("limit") if self.args.has("limit") else LISTED_UNASKED
        if total >= limit:
            raise Unreadable("/data/result", f"the list is as long as its limit of {limit}.", "at its limit")
        return total

    def _listed(self, index: int) -> int:
        """How many lines of one stream are listed. Raises Unreadable for one of another stream or time."""
        place: tuple[Step, ...] = ("data", "result", index)
        self._check_labels(*place, "stream")
        asked, lines = self.asked(), self.result.length(*place, "values")
        for number in range(lines):
            at = self.result.unix_nanos_text(*place, "values", number, 0)
            if not asked.begins <= at <= asked.ends:
                raise Unreadable("", "a line lies outside the asked time.", f"{at:%d %b %H:%M:%S}")
        return lines

    def has_lines(self) -> bool:
        """Lines that were listed show that there are some, however many more were cut off."""
        if self.result.one_of(RESULT_TYPES, "data", "resultType") != "streams":
            return self.found() > 0
        streams = range(self.result.length("data", "result"))
        listed = [index for index in streams if self.result.length("data", "result", index, "values") > 0]
        return len(listed) > 0

    def has_lines_since(self, moment: datetime) -> bool:
        """By the time of each line, or of each count that looks back over no more than the time since then."""
        kind = self.result.one_of(RESULT_TYPES, "data", "resultType")
        series = range(self.result.length("data", "result"))
        if kind == "streams":
            return len([index for index in series if self._latest(index) >= moment]) > 0
        return len([index for index in series if kind == "matrix" and self._counts_since(index, moment) > 0]) > 0

    def _latest(self, index: int) -> datetime:
        place: tuple[Step, ...] = ("data", "result", index, "values")
        times = [self.result.unix_nanos_text(*place, number, 0) for number in range(self.result.length(*place))]
        return sorted(times)[-1] if len(times) > 0 else LONG_AGO

    def _counts_since(self, index: int, moment: datetime) -> int:
        """How many of the counts that begin no earlier are not 0."""
        place: tuple[Step, ...] = ("data", "result", index, "values")
        range_ms = asked_of_loki(self.args)[0].range_ms
        if range_ms is None:
            raise Unreadable("", "how far back each count looks is not said in a duration.", "no duration")
        back = timedelta(milliseconds=range_ms)
        found = 0
        for number in range(self.result.length(*place)):
            is_since = self.result.unix_seconds(*place, number, 0) - back >= moment
            if is_since is True and self.result.count_text(*place, number, 1) > 0:
                found += 1
        return found

    def scanned(self) -> int:
        """How many lines Loki looked at."""
        return self.result.integer("data", "stats", "summary", "totalLinesProcessed")

    def _check_labels(self, *place: Step) -> None:
        """A sum has no labels; where there are any, they are those that were asked for."""
        labels, query = self.result.texts(*place), asked_of_loki(self.args)[0]
        for label, value in sorted(query.selector):
            if label in frozenset(labels) and labels[label] != value:
                raise Unreadable("", f"lines of {label} {labels[label]} were counted, not of {value}.", labels[label])

    def _instant(self, index: int) -> int:
        """One count, made at the end of the asked window."""
        place: tuple[Step, ...] = ("data", "result", index)
        self._check_labels(*place, "metric")
        at, ends = self.result.unix_seconds(*place, "value", 0), self.asked().ends
        if not ends - AS_THE_END < at <= ends:
            raise Unreadable("", "the count was made at another moment than the asked end.", f"{at:%d %b %H:%M:%S}")
        return self.result.count_text(*place, "value", 1)

    def _range(self, index: int, query: LineQuery) -> int:
        """The counts of one series over the asked window, each looking back at least to the one before it."""
        place: tuple[Step, ...] = ("data", "result", index)
        self._check_labels(*place, "metric")
        if query.range_ms is None:
            raise Unreadable("", "how far back each count looks is not said in a duration.", "no duration")
        back, window = timedelta(milliseconds=query.range_ms), asked_window(self.args, query)
        seen, total = window.begins, 0
        for number in range(self.result.length(*place, "values")):
            at = self.result.unix_seconds(*place, "values", number, 0)
            if not (at - back <= seen and window.begins <= at <= window.ends):
                raise Unreadable("", "the counts leave out a part of the asked window.", f"{at:%d %b %H:%M:%S}")
            seen, total = at, total + self.result.count_text(*place, "values", number, 1)
        if seen <= window.ends - AS_THE_END:
            raise Unreadable("", "the counts stop before the asked end.", f"{seen:%d %b %H:%M:%S}")
        return total
