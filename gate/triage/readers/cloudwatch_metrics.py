"""cloudwatch_get_metric_data: the answer of GetMetricData for one metric."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.grammars import durations
from gate.triage.readers.document import Step, Unreadable
from gate.triage.readers.log_search import nothing_unknown
from gate.triage.readers.samples import Metric, Range, Sample, Samples

# The whole call as AWS takes it, or its parts flattened, as tools for one metric take them.
NATIVE = frozenset(("MetricDataQueries", "StartTime", "EndTime", "ScanBy", "region"))
FLAT = frozenset(
    ("Namespace", "MetricName", "Dimensions", "StartTime", "EndTime", "Period", "Stat", "ScanBy", "region")
)
QUERY = frozenset(("Id", "MetricStat", "ReturnData", "Label"))
METRIC_STAT = frozenset(("Metric", "Period", "Stat"))
METRIC = frozenset(("Namespace", "MetricName", "Dimensions"))
STATISTICS = ("Minimum", "Maximum", "Average", "Sum")
# PartialData and InternalError stand at a result, the rest at the whole answer.
INCOMPLETE = (
    ("NextToken",),
    ("Messages",),
    ("MetricDataResults", 0, "StatusCode"),
    ("MetricDataResults", 0, "Messages"),
)
STATUSES = ("Complete", "PartialData", "InternalError", "Forbidden")


class MetricData(Samples):
    """An answer of GetMetricData. Timestamps and Values are two lists, newest first unless asked otherwise."""

    tools = ("cloudwatch_get_metric_data",)

    def _flat(self) -> bool:
        return "MetricDataQueries" not in frozenset(self.args.keys())

    def _metric_at(self) -> tuple[Step, ...]:
        """Where the metric is named. Raises Unreadable unless exactly one is asked for, and nothing is calculated."""
        if self._flat() is True:
            nothing_unknown(self.args, FLAT)
            return ()
        nothing_unknown(self.args, NATIVE)
        if self.args.length("MetricDataQueries") != 1:
            raise Unreadable("", "not exactly one metric was asked for.", f"{self.args.length('MetricDataQueries')}")
        query: tuple[Step, ...] = ("MetricDataQueries", 0)
        self._only(QUERY, *query)
        self._only(METRIC_STAT, *query, "MetricStat")
        self._only(METRIC, *query, "MetricStat", "Metric")
        return (*query, "MetricStat", "Metric")

    def _stat_at(self) -> tuple[Step, ...]:
        return self._metric_at()[:-1]

    def _only(self, known: frozenset[str], *path: Step) -> None:
        unknown = sorted(self.args.keys(*path) - known)
        if len(unknown) > 0:
            raise Unreadable(
                "", f"`{unknown[0]}` was asked for, and what it does to the answer is unknown.", unknown[0]
            )

    def metric(self) -> Metric:
        """What was asked for."""
        place = self._metric_at()
        names = (self.args.text(*place, "Namespace"), self.args.text(*place, "MetricName"))
        demands = []
        for number in range(self.args.length(*place, "Dimensions")):
            here = (*place, "Dimensions", number)
            demands.append((self.args.text(*here, "Name"), "=", self.args.text(*here, "Value")))
        stat = self.args.one_of(STATISTICS, *self._stat_at(), "Stat")
        return Metric(names, tuple(demands), frozenset((stat,)), timedelta(0), is_plain_ratio=False, is_abridged=False)

    def asked(self) -> Range:
        """Over which time it was asked; one sample stands for one period."""
        period = durations.parse(self.args.integer(*self._stat_at(), "Period"))
        if period is None:
            raise Unreadable("", "the period is no duration.", "no duration")
        return Range(self.args.instant("StartTime"), self.args.instant("EndTime"), period)

    def complete(self) -> bool:
        """True. Raises Unreadable for a next page, a message, a partial result, or lists of unequal length."""
        if self.result.has("NextToken") and self.result.is_null("NextToken") is False:
            raise Unreadable("/NextToken", "there is a next page.", "a next page")
        if self.result.length("Messages") != 0:
            raise Unreadable("/Messages", "CloudWatch adds a message about its answer.", "a message")
        for index in range(self.series()):
            self._check_result("MetricDataResults", index)
        return True

    def _check_result(self, *place: Step) -> None:
        status = self.result.one_of(STATUSES, *place, "StatusCode")
        if status != "Complete":
            raise Unreadable("", f"the result is {status}, so samples may be left out.", status)
        if self.result.has(*place, "Messages") and self.result.length(*place, "Messages") != 0:
            raise Unreadable("", "CloudWatch adds a message about its result.", "a message")
        times, values = self.result.length(*place, "Timestamps"), self.result.length(*place, "Values")
        if times != values:
            raise Unreadable("", f"there are {times} timestamps and {values} values.", f"{times} and {values}")

    def series(self) -> int:
        """How many results there are."""
        return self.result.length("MetricDataResults")

    def labels(self, index: int) -> dict[str, str]:
        """The answer names its metric alone; of what it is, only the question says."""
        label, name = self.result.text("MetricDataResults", index, "Label"), self.metric().names[1]
        values = [value for _, _, value in self.metric().demands]
        if self._flat() is False:
            query = ("MetricDataQueries", 0)
            self.result.one_of((self.args.text(*query, "Id"),), "MetricDataResults", index, "Id")
            name = self.args.text(*query, "Label") if self.args.has(*query, "Label") else name
        if label not in frozenset((name, *values, *(f"{value} {name}" for value in values))):
            raise Unreadable("", f"the result is of {label}, not of {name}.", label)
        return {field: value for field, _, value in self.metric().demands} | self._where()

    def _where(self) -> dict[str, str]:
        """The region that was asked: nothing else says where the metric is."""
        return {"region": self.args.text("region")} if self.args.has("region") else {}

    def samples(self, index: int) -> tuple[Sample, ...]:
        """The samples of one result, oldest first."""
        self._check_result("MetricDataResults", index)
        place = ("MetricDataResults", index)
        found = [
            Sample(self.result.instant(*place, "Timestamps", number), self.result.number(*place, "Values", number))
            for number in range(self.result.length(*place, "Timestamps"))
        ]
        return tuple(sorted(found, key=lambda sample: sample.at))
