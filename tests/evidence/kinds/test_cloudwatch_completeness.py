"""An answer of CloudWatch or RDS is whole only when every mark on it says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evidence.kinds.cloudwatch import running
from evidence.kinds.cloudwatch.completeness import CODES, incomplete
from tests.evidence.kinds.recorded import GONE, changed, records

NOW = datetime(2026, 3, 9, 15, 0, tzinfo=UTC)
STATISTICS = {"recordsMatched": 1.0, "recordsScanned": 9.0, "bytesScanned": 99.0}
ROW = [{"field": "@message", "value": "ERROR"}]
NOTHING = {"Id": "m1", "StatusCode": "Complete"}
WHOLE: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "alarms": ("DescribeAlarms", {"MaxRecords": 2}, {"MetricAlarms": [{"AlarmName": "a"}], "CompositeAlarms": []}),
    "metrics": (
        "GetMetricData",
        {"MetricDataQueries": [{"Id": "m1"}, {"Id": "m2", "ReturnData": False}]},
        {
            "MetricDataResults": [{"Id": "m1", "StatusCode": "Complete", "Timestamps": ["t"], "Values": [1.5]}],
            "Messages": [],
        },
    ),
    "insights": (
        "StartQuery",
        {"queryString": "filter @message like /ERROR/", "limit": 2},
        {"status": "Complete", "results": [ROW], "statistics": STATISTICS},
    ),
    "counts": (
        "StartQuery",
        {"queryString": "filter @message like /ERROR/ | stats count(*) as n | limit 1", "limit": 1},
        {"status": "Complete", "results": [ROW], "statistics": {**STATISTICS, "recordsMatched": 5.0}},
    ),
    "events": (
        "FilterLogEvents",
        {"limit": 2},
        {"events": [{}], "searchedLogStreams": [{"logStreamName": "s", "searchedCompletely": True}]},
    ),
    "rds": (
        "DescribeEvents",
        {"StartTime": NOW - timedelta(days=14), "asked_at": NOW, "MaxRecords": 20},
        {"Events": []},
    ),
}
MARKS: tuple[tuple[str, str, Any, str], ...] = (
    ("alarms", "NextToken", "x", "next_page"),
    ("alarms", "MetricAlarms", GONE, "no_list"),
    ("alarms", "MetricAlarms", None, "no_list"),
    ("alarms", "CompositeAlarms", [{}], "limit_reached"),
    ("alarms", "MetricAlarms.0.EvaluationState", "PARTIAL_DATA", "partial_evaluation"),
    ("metrics", "NextToken", "x", "next_page"),
    ("metrics", "Messages", [{"Code": "MaxMetricsExceeded", "Value": "x"}], "message"),
    ("metrics", "MetricDataResults.0.Messages", [{"Code": "ArithmeticError"}], "message"),
    ("metrics", "MetricDataResults.0.StatusCode", "PartialData", "partial_data"),
    ("metrics", "MetricDataResults.0.StatusCode", "InternalError", "internal_error"),
    ("metrics", "MetricDataResults.0.StatusCode", "Forbidden", "forbidden"),
    ("metrics", "MetricDataResults.0.StatusCode", "complete", "status_unknown"),
    ("metrics", "MetricDataResults.0.StatusCode", GONE, "status_unknown"),
    ("metrics", "MetricDataResults.0.StatusCode", ["Complete"], "status_unknown"),
    ("metrics", "MetricDataResults.0.Values", [], "unequal_lists"),
    ("metrics", "MetricDataResults.0", {**NOTHING, "Timestamps": [], "Values": []}, "no_samples"),
    ("metrics", "MetricDataResults.0", NOTHING, "no_samples"),
    ("metrics", "MetricDataResults.0.Id", "m3", "results_missing"),
    ("metrics", "MetricDataResults", [], "results_missing"),
    *(("insights", "status", status, "not_finished")
      for status in ("Scheduled", "Running", "Failed", "Cancelled", "Timeout", "Unknown", "complete", None, GONE)),
    ("insights", "nextToken", "x", "next_page"),
    ("insights", "results", [ROW, ROW], "limit_reached"),
    ("insights", "statistics", GONE, "no_statistics"),
    ("insights", "statistics.recordsMatched", GONE, "no_statistics"),
    ("insights", "statistics.recordsScanned", 0.0, "nothing_scanned"),
    ("insights", "statistics.recordsMatched", 2.0, "rows_cut"),
    ("counts", "status", "Running", "not_finished"),
    ("counts", "results", GONE, "no_list"),
    ("events", "nextToken", "x", "next_page"),
    ("events", "events", GONE, "no_list"),
    ("events", "events", 7, "no_list"),
    ("events", "events", [{}, {}], "limit_reached"),
    ("events", "searchedLogStreams.0.searchedCompletely", False, "streams_left_out"),
    ("events", "searchedLogStreams.0.searchedCompletely", GONE, "streams_left_out"),
    ("rds", "Marker", "x", "next_page"),
    ("rds", "Events", GONE, "no_list"),
    ("rds", "Events", {}, "no_list"),
    ("rds", "Events", [{}] * 20, "limit_reached"),
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_answer_is_whole(name: str) -> None:
    assert incomplete(*WHOLE[name]) == ()


@pytest.mark.parametrize(("name", "path", "value", "code"), MARKS)
def test_each_mark_alone_takes_it_away(name: str, path: str, value: Any, code: str) -> None:
    operation, request, answer = WHOLE[name]
    assert incomplete(operation, request, changed(answer, path, value)) == (code,)


def test_events_from_before_they_are_kept_are_missing() -> None:
    operation, request, answer = WHOLE["rds"]
    assert incomplete(operation, {**request, "StartTime": NOW - timedelta(days=15)}, answer) == ("events_expired",)


@pytest.mark.parametrize(
    ("period", "kept"),
    [(1, timedelta(hours=3)), (30, timedelta(hours=3)), (60, timedelta(days=15)), (120, timedelta(days=15)),
     (300, timedelta(days=63)), (900, timedelta(days=63)), (3600, timedelta(days=455)), (86_400, timedelta(days=455))],
)  # fmt: skip
def test_samples_are_kept_for_longer_the_coarser_they_are(period: int, kept: timedelta) -> None:
    operation, _, answer = WHOLE["metrics"]
    asked = {"MetricDataQueries": [{"Id": "m1", "MetricStat": {"Period": period}}], "asked_at": NOW}
    assert incomplete(operation, {**asked, "StartTime": NOW - kept}, answer) == ()
    assert incomplete(operation, {**asked, "StartTime": NOW - kept - timedelta(seconds=1)}, answer) == (
        "samples_expired",
    )


def test_every_code_is_tried() -> None:
    elsewhere = {"events_expired", "samples_expired", running.NOT_STOPPED}
    assert {code for *_, code in MARKS} | elsewhere == set(CODES)


@pytest.mark.parametrize(
    ("query", "rows", "expected"),
    [
        ("stats count(*) by host", 3, ("limit_reached",)),
        ("stats count(*) by host | limit 2", 2, ("limit_reached",)),
        ("stats count(*) by host | limit 3", 2, ()),
        ("fields @message | limit 1", 1, ("limit_reached", "rows_cut")),
        ("stats count(*) as n by host | stats count(*)", 3, ()),
        ("filter @message like 'by stats'", 3, ("limit_reached", "rows_cut")),
    ],
)
def test_rows_at_a_limit_are_doubted_unless_there_can_be_only_one(query: str, rows: int, expected: Any) -> None:
    answer = {"status": "Complete", "results": [ROW] * rows, "statistics": {**STATISTICS, "recordsMatched": 4.0}}
    assert incomplete("StartQuery", {"queryString": query, "limit": 3}, answer) == expected


@pytest.mark.parametrize("record", records("cloudwatch"), ids=lambda record: record["name"])
def test_recorded_answers(record: dict[str, Any]) -> None:
    found = incomplete(record["operation"], record["request"], record["answer"])
    assert found == tuple(record["incomplete"])
