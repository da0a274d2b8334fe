"""Earned cases of metrics and alerts, one per tool and spelling, as data that a test can break in one place."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.triage.rules.log_cases import Case, call

BEGAN, RECOVERED = "2026-05-05T02:00:00Z", "2026-05-05T02:10:00Z"
STARTS, ENDS, CALLED = "2026-05-05T01:50:00Z", "2026-05-05T02:30:00Z", "2026-05-05T02:31:00Z"
STARTS_UNIX = 1777945800
SAMPLES = 41  # one a minute; the first twenty before recovery
SUBJECT = {"namespace": "billing", "pod": "invoices-0"}


def case_of(hypothesis: str, calls: dict[str, dict[str, Any]], subject: dict[str, Any], good: Any) -> Case:
    """A case with one call for each fact."""
    refs = [f"a{number}" for number in range(1, len(calls) + 1)]
    return {
        "name": "made", "kind": "incident", "hypothesis": hypothesis,
        "findings": [{"fact": fact, "audit_id": ref} for fact, ref in zip(calls, refs, strict=True)],
        "audit": [{**entry, "id": ref} for entry, ref in zip(calls.values(), refs, strict=True)],
        "actual": "pass", "outcome": "harmless", "why": "", "source": "",
        "incident": {
            "id": "INC-7", "title": "InvoicesSlow invoices-0", "subject": dict(subject), "began_at": BEGAN,
            "watch_from": RECOVERED, "decided_at": "2026-05-05T02:35:00Z", "recurrence_period_s": 900,
            "freshness_s": 1800, "metric_good": dict(good),
        },
    }  # fmt: skip


def recovered(metric: dict[str, Any], alert: dict[str, Any], subject: dict[str, Any], good: Any) -> Case:
    return case_of("metric_recovered", {"metric_in_range": metric, "alert_not_firing": alert}, subject, good)


def values(bad: str = "7.5", good: str = "0.25") -> list[Any]:
    return [[STARTS_UNIX + 60 * number, bad if number < 20 else good] for number in range(SAMPLES)]


def matrix(labels: dict[str, str], samples: list[Any]) -> dict[str, Any]:
    found = [{"metric": dict(labels), "values": samples}]
    return {"status": "success", "data": {"resultType": "matrix", "result": found}}


def nothing_listed() -> dict[str, Any]:
    args = {"filter": ['pod="invoices-0"', "namespace='billing'"], "active": True, "silenced": True}
    return call("", "alertmanager_alerts", args, [], CALLED)


LATENCY = (
    'sum by (namespace, pod) (rate(request_seconds_sum{namespace="billing", pod="invoices-0"}[5m])) '
    '/ sum by (namespace, pod) (rate(request_seconds_count{namespace="billing", pod="invoices-0"}[5m]))'
)
GOOD = {"op": "<", "value": Decimal("0.5")}


def prometheus() -> Case:
    metric = call(
        "", "query_prometheus_range", {"expr": LATENCY, "start": STARTS, "end": ENDS, "step": "1m"},
        matrix(dict(SUBJECT), values()), CALLED,
    )  # fmt: skip
    return recovered(metric, nothing_listed(), SUBJECT, GOOD)


def prometheus_executed() -> Case:
    """A plain metric with further labels, numbers for the window, the question repeated in the answer, other alerts."""
    args = {"query": 'up{container="api"}', "start": STARTS_UNIX, "end": STARTS_UNIX + 2400, "step": 60}
    labels = {"__name__": "up", "container": "api", "instance": "10.0.0.1:9090", "job": "kubelet"}
    other = {**labels, "instance": "10.0.0.2:9090"}
    answer = {
        **matrix(labels, values("0", "1")), "error_message": None, "start": STARTS, "end": ENDS,
        "step": Decimal("60.0"), "warnings": [],
    }  # fmt: skip
    answer["data"]["result"].append({"metric": other, "values": values("0", "1")})
    alerts = {
        "status": "success",
        "data": [
            {"labels": {"alertname": "Watchdog"}, "status": {"state": "active"}},
            {"labels": {"alertname": "Down", "container": "db"}, "status": {"state": "suppressed"}},
        ],
    }
    return recovered(
        call("", "execute_prometheus_range_query", args, answer, CALLED),
        call("", "alertmanager_alerts", {}, alerts, CALLED), {"container": "api"}, {"op": "==", "value": 1},
    )  # fmt: skip


def prometheus_listed() -> Case:
    """The bare list of an older Grafana server."""
    args = {
        "datasourceUid": "p", "expr": '100 * avg_over_time(used_bytes{volume="v1"}[2m]) / size_bytes{volume="v1"}',
        "startRfc3339": STARTS, "endRfc3339": ENDS, "stepSeconds": 60, "queryType": "range",
    }  # fmt: skip
    answer = [{"metric": {"volume": "v1"}, "values": values("98", "60")}]
    alert = {"firing": False, "state": "ok", "conditionEvals": "false = false", "timeMs": "3ms", "matches": None}
    tested = call("", "grafana_alert_test", {"volume": "v1"}, alert, CALLED)
    metric = call("", "query_prometheus", args, answer, CALLED)
    return recovered(metric, tested, {"volume": "v1"}, {"op": "<=", "value": 90})


def prometheus_wrapped() -> Case:
    """The list in an object of a newer Grafana server."""
    args = {
        "datasourceUid": "p", "expr": 'min(workers{namespace="billing",pod!="invoices-1"}) by (namespace, pod)',
        "startTime": STARTS, "endTime": ENDS, "stepSeconds": 60, "queryType": "range",
    }  # fmt: skip
    answer = {"data": [{"metric": dict(SUBJECT), "values": values("1", "3")}]}
    metric = call("", "query_prometheus", args, answer, CALLED)
    return recovered(metric, nothing_listed(), SUBJECT, {"op": ">=", "value": 3})


def error_ratio() -> Case:
    """Failed requests by all requests, each with the subject's label."""
    part = 'sum by (service) (rate(requests_total{{service="checkout"{0}}}[5m]))'
    expr = part.format(', code=~"5.."') + " / " + part.format("")
    args = {"query": expr, "start": STARTS, "end": ENDS, "step": 60}
    metric = call(
        "", "execute_prometheus_range_query", args, matrix({"service": "checkout"}, values("0.2", "0.001")), CALLED
    )
    listed = call("", "alertmanager_alerts", {"filter": ['service="checkout"']}, [], CALLED)
    return recovered(metric, listed, {"service": "checkout"}, {"op": "<", "value": Decimal("0.05")})


def cloudwatch_args(stat: str = "Maximum") -> dict[str, Any]:
    named = {"Namespace": "AWS/RDS", "MetricName": "CPUUtilization",
             "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "orders"}]}  # fmt: skip
    query = {"Id": "m1", "MetricStat": {"Metric": named, "Period": 60, "Stat": stat}, "ReturnData": True}
    return {"MetricDataQueries": [query], "StartTime": STARTS, "EndTime": ENDS, "ScanBy": "TimestampDescending"}


def cloudwatch_data(bad: Any = Decimal("99.5"), good: Any = 12, label: str = "CPUUtilization") -> dict[str, Any]:
    """Newest first, as AWS lists samples unless asked otherwise."""
    numbers = range(SAMPLES - 1, -1, -1)
    result = {
        "Id": "m1", "Label": label, "StatusCode": "Complete",
        "Timestamps": [f"2026-05-05T0{1 + (50 + n) // 60}:{(50 + n) % 60:02}:00+00:00" for n in numbers],
        "Values": [bad if number < 20 else good for number in numbers],
    }  # fmt: skip
    return {"MetricDataResults": [result], "Messages": []}


def cloudwatch() -> Case:
    alarm = {
        "AlarmName": "orders-cpu", "StateValue": "OK", "TreatMissingData": "notBreaching", "Namespace": "AWS/RDS",
        "MetricName": "CPUUtilization", "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "orders"}],
    }  # fmt: skip
    other = {**alarm, "StateValue": "ALARM", "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "stock"}]}
    alarms = {"MetricAlarms": [alarm, other], "CompositeAlarms": []}
    return recovered(
        call("", "cloudwatch_get_metric_data", cloudwatch_args(), cloudwatch_data(), CALLED),
        call("", "cloudwatch_describe_alarms", {"MaxRecords": 100}, alarms, CALLED),
        {"db_instance": "orders"}, {"op": "<", "value": 80},
    )  # fmt: skip


def event(at: str, message: str, category: str) -> dict[str, Any]:
    return {
        "Date": at, "Message": message, "SourceIdentifier": "orders", "SourceType": "db-instance",
        "EventCategories": [category],
    }  # fmt: skip


def autoscaled() -> Case:
    """The sentences of RDS-EVENT-0089, 0217 and 0218."""
    events = [
        event(BEGAN, "The free storage capacity for DB instance orders is low at 9% of the provisioned storage.",
              "low storage"),
        event("2026-05-05T02:04:00.123Z", "Applying autoscaling-initiated modification to allocated storage.",
              "configuration change"),
        event("2026-05-05T02:09:30Z", "Finished applying autoscaling-initiated modification to allocated storage.",
              "configuration change"),
    ]  # fmt: skip
    args = {"SourceIdentifier": "orders", "SourceType": "db-instance", "StartTime": STARTS, "EndTime": ENDS}
    free = cloudwatch_args("Minimum")
    free["MetricDataQueries"][0]["MetricStat"]["Metric"]["MetricName"] = "FreeStorageSpace"
    calls = {
        "scaling_completed": call("", "rds_describe_events", args, {"Events": events}, CALLED),
        "metric_back_in_range": call(
            "", "cloudwatch_get_metric_data", free, cloudwatch_data(10**9, 10**11, "orders FreeStorageSpace"), CALLED),
    }  # fmt: skip
    return case_of("capacity_autoscaled", calls, {"db_instance": "orders"}, {"op": ">", "value": 10**10})


EARNED: dict[str, Callable[[], Case]] = {
    "prometheus": prometheus, "prometheus executed": prometheus_executed, "prometheus listed": prometheus_listed,
    "prometheus wrapped": prometheus_wrapped, "error ratio": error_ratio, "cloudwatch": cloudwatch,
    "autoscaled": autoscaled,
}  # fmt: skip
