"""Every mark by which a tool of logs, metrics or alerts says that an answer is not all there is makes it unreadable."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from gate.triage import recorded_cases
from gate.triage.cases import RecordedCall
from gate.triage.readers import (
    alertmanager,
    cloudwatch_alarms,
    cloudwatch_metrics,
    elastic,
    error_counts,
    esql,
    grafana_alert_test,
    insights,
    loki,
    loki_wrapped,
    pod_logs,
    prometheus_range,
    rds_events,
)
from gate.triage.readers.document import Unreadable
from tests.triage.rules import cases, log_cases, metric_cases
from tests.triage.rules.cases import DROP
from tests.triage.rules.log_cases import Case, call

Path = tuple[str | int, ...]


def pods() -> Case:
    args = {"pod_name": "a", "namespace": "b", "start_time": log_cases.BEGINS, "end_time": log_cases.ENDS}
    result: dict[str, Any] = {"status": "success", "error": None, "return_code": 0, "data": "line", "params": {}}
    logs = call("a1", "fetch_pod_logs", args, result)
    return log_cases.no_errors(logs, {**logs, "id": "a2"})


# Module, reader, an answer that is whole, and for each mark the place of it and what it is when the answer is not.
MARKS: list[tuple[ModuleType, str, Case, str, Mapping[Any, tuple[Path, Any]]]] = [
    (loki, "LokiAnswer", log_cases.loki(), "a1", {
        ("warnings",): (("warnings",), ["one ingester did not answer"]),
        ("data", "warnings"): (("data", "warnings"), ["x"]),
        ("error",): (("error",), "timeout"),
        ("errorType",): (("errorType",), "timeout"),
    }),
    (loki_wrapped, "WrappedLokiAnswer", log_cases.loki_wrapped(), "a1", {
        ("metadata", "resultsTruncated"): (("metadata", "resultsTruncated"), True),
        ("hints",): (("hints",), {"summary": "x"}),
    }),
    (insights, "InsightsResults", log_cases.insights(), "a1", {
        status: (("status",), status) for status in insights.INCOMPLETE
    }),
    (elastic, "ElasticSearch", log_cases.elastic(), "a1", {
        ("timed_out",): (("timed_out",), True),
        ("terminated_early",): (("terminated_early",), True),
        ("_shards", "failed"): (("_shards", "failed"), 1),
        ("_shards", "successful"): (("_shards", "successful"), 4),
        ("hits", "total", "relation"): (("hits", "total", "relation"), "gte"),
        ("_clusters", "successful"): (("_clusters",), {"total": 2, "successful": 1}),
        ("error",): (("error",), {"type": "x"}),
    }),
    (esql, "EsqlCount", log_cases.esql(), "a1", {
        ("is_partial",): (("is_partial",), True),
        ("is_running",): (("is_running",), True),
        ("_clusters", "successful"): (("_clusters",), {"total": 2, "successful": 1}),
        ("error",): (("error",), {"type": "x"}),
    }),
    (error_counts, "ErrorCount", log_cases.count_errors(), "a1", {("complete",): (("complete",), False)}),
    (pod_logs, "PodLogs", pods(), "a1", {status: (("status",), status) for status in pod_logs.INCOMPLETE}),
    (prometheus_range, "PrometheusRange", metric_cases.prometheus(), "a1", {
        ("warnings",): (("warnings",), ["a store did not answer"]),
        ("isPartial",): (("isPartial",), True),
        ("error",): (("error",), "timeout"),
        ("errorType",): (("errorType",), "timeout"),
        ("error_message",): (("error_message",), "timeout"),
        ("data", "warnings"): (("data", "warnings"), ["x"]),
    }),
    (cloudwatch_metrics, "MetricData", metric_cases.cloudwatch(), "a1", {
        ("NextToken",): (("NextToken",), "x"),
        ("Messages",): (("Messages",), [{"Code": "x"}]),
        ("MetricDataResults", 0, "StatusCode"): (("MetricDataResults", 0, "StatusCode"), "PartialData"),
        ("MetricDataResults", 0, "Messages"): (("MetricDataResults", 0, "Messages"), [{"Code": "x"}]),
    }),
    (cloudwatch_alarms, "CloudwatchAlarms", metric_cases.cloudwatch(), "a2", {
        ("NextToken",): (("NextToken",), "x"),
        ("MetricAlarms", 0, "EvaluationState"): (("MetricAlarms", 0, "EvaluationState"), "PARTIAL_DATA"),
        ("MetricAlarms", 0, "StateReason"): (
            ("MetricAlarms", 0, "StateReason"),
            "Threshold Crossed: no datapoints were received for 1 period and 1 missing datapoint was treated as "
            "[NonBreaching].",
        ),
    }),
    (alertmanager, "AlertmanagerAlerts", metric_cases.prometheus_executed(), "a2", {
        ("status",): (("status",), "error"),
        ("error",): (("error",), "x"),
        ("nextToken",): (("nextToken",), "x"),
        ("truncated",): (("truncated",), True),
    }),
    (grafana_alert_test, "GrafanaAlertTest", metric_cases.prometheus_listed(), "a2", {
        state: (("state",), state) for state in grafana_alert_test.INCOMPLETE
    }),
    (rds_events, "RdsEvents", metric_cases.autoscaled(), "a1", {("Marker",): (("Marker",), "x")}),
]  # fmt: skip
ROWS = [
    (module, reader, case, ref, path, bad) for module, reader, case, ref, marks in MARKS for path, bad in marks.values()
]


def recorded(case: Case, ref: str) -> RecordedCall:
    return next(found for found in recorded_cases.parse(case).calls if found.audit_id == ref)


def read_whole(module: ModuleType, reader: str, entry: RecordedCall) -> None:
    """All that shows an answer to be whole; what belongs to one count or one alarm is looked at with it."""
    answer = getattr(module, reader)(entry)
    assert answer.complete() is True
    if reader == "ElasticSearch":
        answer.found()
    if reader == "CloudwatchAlarms":
        answer.state(answer.places()[0])


@pytest.mark.parametrize(
    ("module", "marks"), [(row[0], row[4]) for row in MARKS], ids=lambda row: getattr(row, "__name__", "")
)
def test_each_mark_that_a_reader_states_is_tried(module: ModuleType, marks: Mapping[Any, Any]) -> None:
    assert set(marks) == set(module.INCOMPLETE)


@pytest.mark.parametrize(
    ("module", "reader", "case", "ref", "path", "bad"), ROWS,
    ids=[f"{row[1]}: {'.'.join(str(step) for step in row[4])} {row[5]}" for row in ROWS],
)  # fmt: skip
def test_a_mark_makes_the_answer_unreadable(
    module: ModuleType, reader: str, case: Case, ref: str, path: Path, bad: Any
) -> None:
    read_whole(module, reader, recorded(case, ref))
    steps = tuple(str(step) for step in path)
    with pytest.raises(Unreadable):
        read_whole(module, reader, recorded(cases.replaced(case, ref, steps, bad), ref))


def test_a_text_of_a_pod_is_never_a_count() -> None:
    """Its lines are not searched: who writes them would decide."""
    logs = pod_logs.PodLogs(recorded(pods(), "a1"))
    assert logs.complete() is True
    assert logs.has_lines() is True
    with pytest.raises(Unreadable, match="nothing was counted"):
        logs.found()
    with pytest.raises(Unreadable):
        pod_logs.PodLogs(recorded(cases.replaced(pods(), "a1", ("data",), DROP), "a1")).complete()
