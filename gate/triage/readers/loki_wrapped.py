"""query_loki_logs as Grafana's MCP server wraps it: entries in `data`, and what they leave out in `metadata`."""

from __future__ import annotations

from datetime import datetime

from gate.triage.cases import RecordedCall
from gate.triage.grammars import moments
from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import Asked, LogSearch
from gate.triage.readers.loki import AS_THE_END, TOOLS, asked_of_loki, asked_window, has_step

# Entries were cut off, or the query ran over a time that nobody asked for.
INCOMPLETE = (("metadata", "resultsTruncated"), ("hints",))


class WrappedLokiAnswer(LogSearch):
    """The wrapped answer. A single count has a value and no line."""

    tools = TOOLS

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """The native answer has `status` where this one has `metadata`."""
        return (
            call.tool in frozenset(TOOLS)
            and type(call.result) is dict
            and "metadata" in frozenset(call.result)
            and "status" not in frozenset(call.result)
        )

    def asked(self) -> Asked:
        """What was asked."""
        query, place = asked_of_loki(self.args)
        window = asked_window(self.args, query)
        return Asked(place, query.selector, query.patterns, window.begins, window.ends)

    def complete(self) -> bool:
        """True. Raises Unreadable where entries were cut off, or the tool hints that it did something else."""
        if self.result.flag("metadata", "resultsTruncated") is True:
            raise Unreadable("/metadata/resultsTruncated", "entries were cut off.", "true")
        if self.result.has("hints"):
            raise Unreadable("/hints", "the tool hints that the query did not run as meant.", "hints")
        return True

    def found(self) -> int:
        """The one count, made at the end of the asked window."""
        query, _ = asked_of_loki(self.args)
        if (query.is_count, has_step(self.args)) != (True, False):
            raise Unreadable("", "no single count was asked for.", "no count")
        if self.result.length("data") != 1:
            raise Unreadable("", "the answer is not one count.", f"{self.result.length('data')} entries")
        self.result.texts("data", 0, "labels")
        at, ends = self.result.instant("data", 0, "timestamp", units=moments.SECONDS_OR_NANOSECONDS), self.asked().ends
        if not ends - AS_THE_END < at <= ends:
            raise Unreadable("", "the count was made at another moment than the asked end.", f"{at:%d %b %H:%M:%S}")
        return self.result.whole("data", 0, "value")

    def has_lines(self) -> bool:
        """Lines that were listed show that there are some."""
        query, _ = asked_of_loki(self.args)
        return self.found() > 0 if query.is_count is True else self.result.length("data") > 0

    def has_lines_since(self, moment: datetime) -> bool:
        """By the time of each listed line. A value is a count, and no line."""
        for index in range(self.result.length("data")):
            if self.result.has("data", index, "line") is True:
                at = self.result.instant("data", index, "timestamp", units=moments.SECONDS_OR_NANOSECONDS)
                if at >= moment:
                    return True
        return False

    def scanned(self) -> int:
        """How many lines Loki looked at."""
        return self.result.integer("metadata", "totalLinesScanned")
