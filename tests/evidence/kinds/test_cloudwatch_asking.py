"""Nothing reaches AWS but a listed operation with listed parameters, of log groups that the source exposes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.cloudwatch import asking, insights
from evidence.kinds.cloudwatch.operations import OPERATIONS
from tests.evidence.kinds import native

SOURCE = {"region": "eu-west-1", "log_groups": ["/aws/lambda/shop-*", "orders"]}
LIMITS = Limits(rows=500, seconds=5)
BEGINS, ENDS = "2026-02-18T10:00:00Z", "2026-02-18T11:02:00+00:00"
SECONDS = int(datetime(2026, 2, 18, 10, 0, tzinfo=UTC).timestamp())
STAT = {
    "Metric": {"Namespace": "AWS/RDS", "MetricName": "FreeStorageSpace", "Dimensions": [{"Name": "a", "Value": "b"}]},
    "Period": 60, "Stat": "Minimum",
}  # fmt: skip
METRICS = {"MetricDataQueries": [{"Id": "m1", "MetricStat": STAT}], "StartTime": BEGINS, "EndTime": ENDS}
QUERY = {"logGroupName": "orders", "queryString": "stats count(*)", "startTime": BEGINS, "endTime": ENDS}
EVENTS = {"logGroupName": "orders", "startTime": BEGINS, "endTime": ENDS}
GOOD = {
    "DescribeAlarms": {},
    "GetMetricData": METRICS,
    "StartQuery": QUERY,
    "FilterLogEvents": EVENTS,
    "DescribeEvents": {},
}


def request(name: str) -> dict[str, Any]:
    """A request of which the agent gives every parameter, and the region."""
    taken = {key: {"argument": key} for key in OPERATIONS[name].parameters}
    return {"operation": name, "parameters": taken, "region": {"argument": "region"}}


def asked(name: str, source: dict[str, Any] = SOURCE, **values: Any) -> dict[str, Any]:
    return asking.compose(request(name), source, values, LIMITS).parameters


def refused(name: str, **values: Any) -> str:
    with pytest.raises(Refused) as found:
        asked(name, **values)
    assert found.value.code == "parameters"
    return found.value.sentence


def test_times_are_sent_in_the_unit_that_each_operation_takes() -> None:
    at = datetime(2026, 2, 18, 10, 0, tzinfo=UTC)
    assert asked("GetMetricData", **METRICS)["StartTime"] == at
    assert asked("StartQuery", **QUERY)["startTime"] == SECONDS
    assert asked("StartQuery", **{**QUERY, "startTime": SECONDS})["startTime"] == SECONDS
    assert (
        asked("FilterLogEvents", **{**EVENTS, "startTime": "2026-02-18T10:00:00.25Z"})["startTime"]
        == SECONDS * 1000 + 250
    )
    assert asked("DescribeEvents", StartTime=BEGINS, MaxRecords=20) == {"StartTime": at, "MaxRecords": 20}


def test_what_was_not_given_is_not_sent_and_lists_have_a_limit() -> None:
    assert asked("DescribeAlarms", AlarmNames=["a"], AlarmNamePrefix=None) == {"AlarmNames": ["a"]}
    assert asked("StartQuery", **QUERY)["limit"] == 500
    assert asked("StartQuery", **QUERY, limit=7)["limit"] == 7
    assert asked("FilterLogEvents", **EVENTS, limit=10_000)["limit"] == 500


def test_a_period_may_come_with_its_point() -> None:
    with_point = {"Id": "m1", "MetricStat": {**STAT, "Period": Decimal("60.0")}}
    assert asked("GetMetricData", **{**METRICS, "MetricDataQueries": [with_point]})["MetricDataQueries"][0] == {
        "Id": "m1", "MetricStat": STAT,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        {"Id": "e1", "Expression": "LAMBDA('my-function', 'a')"},
        {"Id": "e1", "Expression": "SEARCH('{AWS/EC2,InstanceId}', 'Average')"},
        {"Id": "m1", "MetricStat": STAT, "Expression": "1"},
        {"Id": "m1", "MetricStat": STAT, "AccountId": "123456789012"},
        {"Id": "m1"}, {"MetricStat": STAT}, {"Id": "M1", "MetricStat": STAT}, "m1", None, [],
        {"Id": "m1", "MetricStat": {**STAT, "Unit": "Bytes"}},
        {"Id": "m1", "MetricStat": {**STAT, "Stat": "LAMBDA('x')"}},
        {"Id": "m1", "MetricStat": {**STAT, "Period": 0}},
        {"Id": "m1", "MetricStat": {**STAT, "Period": True}},
        {"Id": "m1", "MetricStat": {**STAT, "Period": Decimal("1E+999999999999999")}},
        {"Id": "m1", "MetricStat": {**STAT, "Metric": {**STAT["Metric"], "Dimensions": [{"Name": "a"}]}}},  # type: ignore[dict-item]
        {"Id": "m1", "MetricStat": {**STAT, "Metric": {"Namespace": "a\nb", "MetricName": "c"}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_metric_is_named_and_nothing_is_calculated(query: Any) -> None:
    refused("GetMetricData", **{**METRICS, "MetricDataQueries": [query]})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("GetMetricData", {"MetricDataQueries": []}), ("GetMetricData", {"MetricDataQueries": None}),
        ("GetMetricData", {"StartTime": "2026-02-18T10:00:00"}), ("GetMetricData", {"ScanBy": "Sideways"}),
        ("GetMetricData", {"MetricDataQueries": [{"Id": "m1", "MetricStat": STAT}] * 51}),
        ("DescribeAlarms", {"AlarmNames": []}), ("DescribeAlarms", {"AlarmNames": "a"}),
        ("DescribeAlarms", {"AlarmNames": [{"a": 1}]}), ("DescribeAlarms", {"AlarmTypes": ["LogAlarm"]}),
        ("DescribeAlarms", {"MaxRecords": 101}), ("DescribeAlarms", {"AlarmNamePrefix": "a\0"}),
        ("StartQuery", {"queryLanguage": "SQL"}), ("StartQuery", {"queryLanguage": "PPL"}),
        ("StartQuery", {"limit": 0}), ("StartQuery", {"limit": 10_001}), ("StartQuery", {"startTime": SECONDS * 1000}),
        ("StartQuery", {"logGroupName": None}), ("StartQuery", {"queryString": None}),
        ("FilterLogEvents", {"filterPattern": "a\nb"}), ("FilterLogEvents", {"endTime": None}),
        ("DescribeEvents", {"SourceType": "db-proxy"}), ("DescribeEvents", {"Duration": 20_161}),
        ("DescribeEvents", {"SourceIdentifier": ["a"]}),
    ],
    ids=str,
)  # fmt: skip
def test_a_parameter_that_is_something_else_is_refused(name: str, change: dict[str, Any]) -> None:
    refused(name, **{**GOOD[name], **change})


@pytest.mark.parametrize(
    "region", ["us-east-1", "eu-west-1 ", "EU-WEST-1", "", "eu-west-1.evil.example", ["eu-west-1"]]
)
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_the_region_is_the_sources_own(name: str, region: Any) -> None:
    assert "The region is eu-west-1" in refused(name, **GOOD[name], region=region)
    asked(name, **GOOD[name], region="eu-west-1")


@pytest.mark.parametrize(
    "group",
    ["other", "orders2", "order", "/aws/lambda/shop", "*", "", "orders,other",
     "arn:aws:logs:eu-west-1:1:log-group:orders",
     "arn:aws:logs:eu-west-1:999999999999:log-group:/aws/lambda/shop-a", "orders\n", "ORDERS", 7, ["orders"], {"a": 1}],
    ids=str,
)  # fmt: skip
def test_a_log_group_is_one_that_the_source_exposes(group: Any) -> None:
    refused("StartQuery", **{**QUERY, "logGroupName": group})
    refused("StartQuery", **{**QUERY, "logGroupName": None, "logGroupNames": ["orders", group]})
    refused("FilterLogEvents", **{**EVENTS, "logGroupName": group})


def test_a_log_group_may_lie_behind_an_exposed_beginning() -> None:
    assert asked("StartQuery", **{**QUERY, "logGroupName": "/aws/lambda/shop-resize"})["logGroupName"].endswith(
        "resize"
    )


@pytest.mark.parametrize(
    "query",
    [
        "SOURCE logGroups(namePrefix: ['secret']) | fields @message", "source  loggroups(x) | stats count(*)",
        "fields @message | SOURCE logGroups(namePrefix: ['secret'])", "fields @message | source x",
        "fields unmask(@message)", "filter unmask (@message) like /x/", "fields @message | anomaly", "pattern @message",
        "fields @message | diff", "fields 1 / 2 | SOURCE logGroups() | fields 3 / 4",
        "fields a /2| pattern b| fields 3/ 4",
        "fields @message # | stats\n| pattern @message", "fields @message // x | pattern y # z", "", "|", "fields a |",
        "| fields a", "unnest a into b", "lookup a on b", "filterIndex a = 1", "fields a; pattern b",
        "SELECT * FROM `orders`",
        "fields 'a\\' | pattern b", "fields \"a | pattern b", "fields `a | pattern b", "fields @message | limit 5 | \0",
        "filter 'x\\' | SOURCE logGroups(a) | fields '", 7, None, ["fields a"], "fields " + "a" * 10_000,
    ],
    ids=lambda query: str(query)[:60],
)  # fmt: skip
def test_a_query_of_logs_has_no_other_commands(query: Any) -> None:
    refused("StartQuery", **{**QUERY, "queryString": query})


@pytest.mark.parametrize(
    "query",
    [
        "fields @message | filter @message like /ERROR/",
        "stats count(*) as n by bin(5m), host | sort n desc | limit 20",
        "filter @message like /a | pattern b/ and level = 'x | y'", "FIELDS @timestamp, `a|b` | DISPLAY a",
        'parse @message "user=* took *" as u, ms | stats avg(ms)', "parse @message /took (?<ms>\\d+) \\/ s/ | dedup ms",
        "filter source = 'payments' and @message not like /source connection failed/", "filter a =~ /x|y/ | limit 5",
        "filter a / 2 > 1\n| stats pct(a, 99) as p", "fields ispresent(a) as b | filter b = 1",
    ],
    ids=str,
)  # fmt: skip
def test_an_ordinary_query_of_logs_is_sent_as_it_stands(query: str) -> None:
    assert asked("StartQuery", **{**QUERY, "queryString": query})["queryString"] == query


@settings(deadline=None)
@given(st.text(alphabet="fields @a|/'\"`\\like=~parse #SOURCE()pattern", max_size=40))
def test_whatever_is_written_each_command_is_listed_or_it_is_refused(text: str) -> None:
    try:
        insights.check(text)
    except ValueError:
        return
    # However the bars are read, what stands before the first of them is a listed command.
    assert text.split("|")[0].split()[0].lower() in insights.COMMANDS


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"operation": "PutMetricAlarm", "parameters": {}}, "operation is one of"),
        ({"operation": "StopQuery", "parameters": {}}, "operation is one of"),
        ({"operation": ["DescribeAlarms"], "parameters": {}}, "operation is one of"),
        ({"operation": "DescribeAlarms"}, "says exactly"),
        ({"operation": "DescribeAlarms", "parameters": {}, "endpoint": "x"}, "says exactly"),
        ({"operation": "DescribeAlarms", "parameters": {"NextToken": "x"}}, "parameters are of these"),
        ({"operation": "DescribeAlarms", "parameters": {"ActionPrefix": "x"}}, "parameters are of these"),
        ({"operation": "FilterLogEvents", "parameters": {**EVENTS, "unmask": True}}, "parameters are of these"),
        ({"operation": "StartQuery", "parameters": {"queryString": "fields a"}}, "needed is of them"),
        ({"operation": "StartQuery", "parameters": {**QUERY, "queryString": "pattern a"}}, "none of the commands"),
        ({"operation": "GetMetricData", "parameters": {**METRICS, "MetricDataQueries": [{"Id": "a"}]}}, "DataQueries"),
        ({"operation": "DescribeAlarms", "parameters": {"AlarmNames": {"argument": "x"}}}, "no property"),
    ],
)  # fmt: skip
def test_a_contract_that_could_do_more_is_not_taken(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        asking.check(said, {"input_schema": native.schema()})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"operation": "DescribeAlarms", "parameters": {"AlarmNames": ["a"]}}, "AlarmNames narrows the answer"),
        ({"operation": "DescribeAlarms", "parameters": {"AlarmNamePrefix": "a"}}, "AlarmNamePrefix narrows the answer"),
        ({"operation": "DescribeEvents", "parameters": {"SourceType": "db-cluster"}}, "SourceType narrows the answer"),
        ({"operation": "DescribeEvents", "parameters": {"SourceIdentifier": {"argument": "AlarmNames"}}}, "rename it"),
        ({"operation": "DescribeEvents", "parameters": {"EndTime": {"argument": "StartTime"}}}, "rename it"),
        ({"operation": "StartQuery", "parameters": {**QUERY, "limit": {"argument": "query"}}}, "rename it"),
    ],
    ids=str,
)
def test_a_record_says_what_was_asked(said: dict[str, Any], why: str) -> None:
    names = ["AlarmNames", "StartTime", "query"]
    taken = [name for name in names if f"'argument': '{name}'" in str(said)]
    with pytest.raises(ValueError, match=why):
        asking.check(said, {"input_schema": native.schema(*taken)})


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_contract_may_leave_any_parameter_to_the_agent(name: str) -> None:
    asking.check(request(name), {"input_schema": native.schema(*OPERATIONS[name].parameters, "region")})
