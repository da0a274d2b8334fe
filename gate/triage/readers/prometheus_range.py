"""query_prometheus, query_prometheus_range, execute_prometheus_range_query: series with samples."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.cases import RecordedCall
from gate.triage.grammars import durations, promql
from gate.triage.grammars.promql import Expression
from gate.triage.readers.document import Document, Step, Unreadable
from gate.triage.readers.log_search import ENDS, STARTS, nothing_unknown, the_one
from gate.triage.readers.samples import Metric, Range, Sample, Samples

TOOLS = ("query_prometheus", "query_prometheus_range", "execute_prometheus_range_query")
QUERIES = ("expr", "query", "promql")
STEPS = ("step", "stepSeconds", "step_seconds")
KINDS = ("queryType", "query_type")
# They say which server, why, or how long to wait; none of them changes what the query means.
HARMLESS = ("datasourceUid", "datasource_uid", "datasource", "description", "output_type", "timeout")
KNOWN = frozenset((*QUERIES, *STARTS, *ENDS, *STEPS, *KINDS, *HARMLESS))
# Thanos, Mimir and VictoriaMetrics answer with what they have when a store is down, and say so here.
INCOMPLETE = (("warnings",), ("isPartial",), ("error",), ("errorType",), ("error_message",), ("data", "warnings"))


def expression_of(args: Document) -> Expression:
    """The query that was asked. Raises Unreadable for any other shape."""
    nothing_unknown(args, KNOWN)
    text = args.text(the_one(args, QUERIES, "the query"))
    found = promql.parse(text)
    if found is None:
        raise Unreadable("", "the query is not a plain metric of plain labels.", text)
    return found


class PrometheusRange(Samples):
    """The native answer: status, data.resultType `matrix`, data.result."""

    tools = TOOLS

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """The native answer is an object with `status`."""
        return call.tool in frozenset(TOOLS) and type(call.result) is dict and "status" in frozenset(call.result)

    def metric(self) -> Metric:
        """What was asked for."""
        told = expression_of(self.args)
        found = [m for selector in told.selectors for m in selector.matchers if m.operator != "=~"]
        demands = [(m.label, m.operator, m.value) for m in found]
        names = [selector.metric for selector in told.selectors]
        is_average = len(names) == 2 and names[0][-4:] == "_sum" and names[1][-6:] == "_count"
        return Metric(
            names=tuple(names),
            demands=tuple(demands),
            taken=frozenset(told.taken),
            looks_back=timedelta(milliseconds=told.longest_ms),
            is_plain_ratio=told.is_ratio is True and told.is_percent is False and is_average is False,
            is_abridged=told.is_abridged,
        )

    def asked(self) -> Range:
        """Over which time it was asked. An instant has no range."""
        for key in sorted(frozenset(KINDS) & self.args.keys()):
            self.args.one_of(("range",), key)
        begins = self.args.instant(the_one(self.args, STARTS, "the start"))
        ends = self.args.instant(the_one(self.args, ENDS, "the end"))
        return Range(begins, ends, self._step(self.args, the_one(self.args, STEPS, "the step")))

    def _step(self, document: Document, key: str) -> timedelta:
        said = document.scalar(key)
        step = durations.parse(said)
        if step is None:
            raise Unreadable("", f"the step {said} is no duration for certain.", f"{said}")
        return step

    def complete(self) -> bool:
        """True. Raises Unreadable where the answer says that it is not whole, or repeats another question."""
        self.result.one_of(("success",), "status")
        self.result.one_of(("matrix",), "data", "resultType")
        for path in INCOMPLETE:
            if self.result.has(*path):
                self._check_harmless(path)
        self._check_repeated()
        return True

    def _check_harmless(self, path: tuple[str, ...]) -> None:
        name = ".".join(path)
        if path[-1] == "warnings" and self.result.length(*path) == 0:
            return
        if path[-1] == "isPartial" and self.result.flag(*path) is False:
            return
        if path[-1] == "error_message" and self.result.is_null(*path):
            return
        raise Unreadable("/" + "/".join(path), f"`{name}` says that the answer is not whole.", "not whole")

    def _check_repeated(self) -> None:
        """Some tools repeat the question in the answer; then it must be the same."""
        asked = self.asked()
        for key, moment in (("start", asked.begins), ("end", asked.ends)):
            if self.result.has(key) is True and self.result.instant(key) != moment:
                raise Unreadable(f"/{key}", f"the answer's `{key}` is not the one that was asked for.", "another time")
        if self.result.has("step") and self._step(self.result, "step") != asked.step:
            raise Unreadable("/step", "the answer's `step` is not the one that was asked for.", "another step")

    def place(self) -> tuple[Step, ...]:
        """Where the series stand."""
        return ("data", "result")

    def series(self) -> int:
        """How many series there are."""
        return self.result.length(*self.place())

    def labels(self, index: int) -> dict[str, str]:
        """The labels of one series."""
        return self.result.texts(*self.place(), index, "metric")

    def samples(self, index: int) -> tuple[Sample, ...]:
        """The samples of one series, oldest first, as Prometheus lists them."""
        place = (*self.place(), index, "values")
        found = []
        for number in range(self.result.length(*place)):
            if self.result.length(*place, number) != 2:
                raise Unreadable("", "a sample is not a moment and a value.", "not a sample")
            at = self.result.unix_seconds(*place, number, 0)
            found.append(Sample(at, self.result.decimal_text(*place, number, 1)))
        return tuple(found)


class PrometheusWrapped(PrometheusRange):
    """The answer of Grafana's MCP server: the series in `data`, and `hints` where there are none."""

    tools = TOOLS

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """It has `data` and no `status`."""
        return (
            call.tool in frozenset(TOOLS)
            and type(call.result) is dict
            and "data" in frozenset(call.result)
            and "status" not in frozenset(call.result)
        )

    def complete(self) -> bool:
        """True. Raises Unreadable where the tool hints or warns of something."""
        for key in ("hints", "warnings", "error"):
            if self.result.has(key):
                raise Unreadable(f"/{key}", f"the answer has `{key}`, so it is not whole.", key)
        return self.result.length("data") >= 0

    def place(self) -> tuple[Step, ...]:
        """Where the series stand."""
        return ("data",)


class PrometheusSeries(PrometheusRange):
    """The answer of tools that hand on the bare list of series; they raise where Prometheus tells of an error."""

    tools = TOOLS

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """A list is never the native answer."""
        return call.tool in frozenset(TOOLS) and type(call.result) is list

    def complete(self) -> bool:
        """True: such a tool has no mark of its own, and its series are judged sample by sample."""
        return self.result.length() >= 0

    def place(self) -> tuple[Step, ...]:
        """The list itself."""
        return ()
