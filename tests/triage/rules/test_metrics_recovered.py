"""metric_recovered and capacity_autoscaled: recorded cases and twins get their verdict, no corrupted one passes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, metric_cases
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.log_cases import Case, Edit, call, changed
from tests.triage.rules.metric_cases import ENDS, LATENCY, STARTS, STARTS_UNIX

RECORDED = cases.names_of("metric_recovered", "capacity_autoscaled")
Leaf = tuple[str, str, tuple[str, ...], Any]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_case_gets_its_verdict(name: str) -> None:
    case = cases.recorded(name)
    verdict = cases.decide(case)
    assert isinstance(verdict, Pass if case["actual"] == "pass" else Fail), cases.sentences(verdict)


@pytest.mark.parametrize("name", sorted(metric_cases.EARNED))
def test_an_earned_case_passes(name: str) -> None:
    verdict = cases.decide(metric_cases.EARNED[name]())
    assert isinstance(verdict, Pass), cases.sentences(verdict)


def uncited(tool: str, args: Any, result: Any) -> Edit:
    """One more call, after what is cited, that nobody cites."""
    return lambda case: case["audit"].append(call("a9", tool, args, result, "2026-05-05T02:32:00Z"))


ANY: list[tuple[str, Edit]] = [
    ("FP-18 the first answer for both", lambda case: case["findings"][1].update(audit_id="a1")),
    ("FP-18 the second answer for both", lambda case: case["findings"][0].update(audit_id="a2")),
    ("FP-01 one fact", lambda case: case["findings"].pop()),
    ("FP-22 the call failed", lambda case: cases.entry(case, "a2")["meta"].update(ok=False, error="x")),
    ("FP-06 the answer was cut", lambda case: cases.entry(case, "a1")["meta"].update(truncated=True)),
    ("FP-15 of another incident", lambda case: cases.entry(case, "a1")["meta"].update(incident_id="INC-8")),
    ("FP-13 a longer recurrence", put("incident recurrence_period_s", 1201)),
    ("FP-13 an earlier recovery", put("incident watch_from", "2026-05-05T01:49:59Z")),
    ("FP-20 no condition", put("incident metric_good")),
    ("FP-20 a condition in words", put("incident metric_good", "low")),
    ("FP-30 one more member", put("incident members", [{"pod": "invoices-1", "namespace": "billing"}])),
    ("FP-30 members that the monitor left out", put("incident undelivered", 1)),
    ("FP-14 a subject of which no answer speaks", put("incident subject cluster", "west")),
    ("FP-14 no subject", put("incident subject", {})),
]  # fmt: skip
SERIES = "a1 result data result 0"
EXPR = "a1 args expr"
PROMETHEUS: list[tuple[str, Edit]] = [
    ("one bad sample since recovery", put(f"{SERIES} values 30 1", "0.5")),
    ("FP-33 over by the last digit", put(f"{SERIES} values 30 1", "0.50000000000000000001")),
    ("the first sample since recovery is bad", put(f"{SERIES} values 20 1", "0.6")),
    ("FP-27 the last sample is bad", put(f"{SERIES} values 40 1", "0.6")),
    ("FP-20 the condition turned round", put("incident metric_good op", ">")),
    ("FP-20 the bound in other units", put("incident metric_good value", Decimal("0.0005"))),
    ("FP-03 not a number", put(f"{SERIES} values 30 1", "NaN")),
    ("FP-03 infinite", put(f"{SERIES} values 30 1", "-Inf")),
    ("FP-03 minus zero", put(f"{SERIES} values 30 1", "-0")),
    ("FP-03 beyond measure", put(f"{SERIES} values 30 1", "1e-400")),
    ("FP-03 a number for a text", put(f"{SERIES} values 30 1", Decimal("0.25"))),
    ("FP-03 a decimal comma", put(f"{SERIES} values 30 1", "0,25")),
    ("FP-01 null", put(f"{SERIES} values 30 1", None)),
    ("FP-01 a sample of a moment alone", put(f"{SERIES} values 30", [STARTS_UNIX + 1800])),
    ("FP-02 no series", put("a1 result data result", [])),
    ("FP-02 no sample", put(f"{SERIES} values", [])),
    ("FP-27 four samples", put(f"{SERIES} values", metric_cases.values()[:24])),
    ("FP-02 a gap", lambda case: series(case).__delitem__(slice(25, 29))),
    ("FP-02 it begins late", lambda case: series(case).__delitem__(slice(0, 24))),
    ("FP-02 it ends early", lambda case: series(case).__delitem__(slice(34, 41))),
    ("FP-12 samples of another day", lambda case: shift(case, 86400)),
    ("FP-12 samples in milliseconds", lambda case: scale(case, 1000)),
    ("FP-12 one sample outside", put(f"{SERIES} values 0 0", STARTS_UNIX - 60)),
    ("FP-12 the same moment twice", put(f"{SERIES} values 30 0", STARTS_UNIX + 60 * 29)),
    ("FP-12 closer together than was asked", put("a1 args step", "2m")),
    ("FP-12 farther apart than was asked", put("a1 args step", "15s")),
    ("FP-20 a step without unit", put("a1 args step", "x")),
    ("FP-12 no step", put("a1 args step")),
    ("FP-12 an instant", put("a1 args queryType", "instant")),
    ("FP-13 it is asked from after recovery", put("a1 args start", "2026-05-05T02:10:01Z")),
    ("FP-13 it is asked to before the end", put("a1 args end", "2026-05-05T02:24:59Z")),
    ("FP-12 the end before the start", both(put("a1 args start", ENDS), put("a1 args end", STARTS))),
    ("FP-12 a time without zone", put("a1 args start", "2026-05-05T01:50:00")),
    ("FP-12 a relative time", put("a1 args start", "now-1h")),
    ("FP-12 another year", put("a1 args start", "2027-05-05T01:50:00Z")),
    ("FP-19 it ends after it was asked", put("a1 args end", "2026-05-05T02:31:00Z")),
    ("FP-14 another pod", put(f"{SERIES} metric pod", "invoices-1")),
    ("FP-14 no pod", put(f"{SERIES} metric pod")),
    ("FP-14 a label as number", put(f"{SERIES} metric pod", 0)),
    ("FP-14 a second pod", lambda case: cases.entry(case, "a1")["result"]["data"]["result"].append(
        {"metric": {"namespace": "billing", "pod": "invoices-1"}, "values": metric_cases.values()})),
    ("FP-14 a second series is bad", lambda case: cases.entry(case, "a1")["result"]["data"]["result"].append(
        {"metric": {"namespace": "billing", "pod": "invoices-0", "le": "1"}, "values": metric_cases.values("1", "1")})),
    ("FP-14 another pod asked for", put(EXPR, LATENCY.replace("invoices-0", "invoices-1"))),
    ("FP-14 a further label", put(EXPR, LATENCY.replace("{", '{code="200", '))),
    ("FP-14 without the subject's pod", put(EXPR, LATENCY.replace("pod=", "pod!="))),
    ("FP-14 a regular expression", put(EXPR, LATENCY.replace("pod=", "pod=~"))),
    ("FP-21 a filter on the value", put(EXPR, f"{LATENCY} < 0.5")),
    ("FP-21 otherwise nothing", put(EXPR, f"{LATENCY} or vector(0)")),
    ("FP-21 times nothing", put(EXPR, f"({LATENCY}) * 0")),
    ("FP-21 less a number", put(EXPR, f"({LATENCY}) - 10")),
    ("FP-21 through a million", put(EXPR, f"({LATENCY}) / 1000000")),
    ("FP-20 in percent of nothing", put(EXPR, 'request_seconds{pod="invoices-0"} * 100')),
    ("FP-21 cut to a bound", put(EXPR, f"clamp_max({LATENCY}, 0.4)")),
    ("FP-21 a constant", put(EXPR, "vector(0.25)")),
    ("FP-21 a number", put(EXPR, "0.25")),
    ("FP-21 the lowest of all", put(EXPR, LATENCY.replace("sum by", "min by"))),
    ("FP-21 the lowest over time", put(EXPR, 'min_over_time(seconds{pod="invoices-0"}[5m])')),
    ("FP-21 how many there are", put(EXPR, LATENCY.replace("sum by", "count by"))),
    ("FP-12 an offset", put(EXPR, LATENCY.replace("[5m]", "[5m] offset 1d"))),
    ("FP-12 a fixed time", put(EXPR, LATENCY.replace("[5m]", "[5m] @ 1777900000"))),
    ("FP-12 a subquery", put(EXPR, LATENCY.replace("[5m]", "[5m:1m]"))),
    ("FP-13 a day in each value", put(EXPR, LATENCY.replace("[5m]", "[1d]"))),
    ("FP-18 the alert's own series", put(EXPR, 'ALERTS{pod="invoices-0",namespace="billing"}')),
    ("FP-21 an unknown argument", put("a1 args limit", 1)),
    ("FP-13 another metric than the incident's", put("incident facts", {"metric": "cpu"})),
    ("FP-07 an error", put("a1 result status", "error")),
    ("FP-04 a vector", put("a1 result data resultType", "vector")),
    ("FP-06 a warning", put("a1 result warnings", ["a store did not answer"])),
    ("FP-06 partial", put("a1 result isPartial", True)),
    ("FP-22 an error message", put("a1 result error_message", "timeout")),
    ("FP-12 the answer repeats another start", put("a1 result start", "2026-05-04T01:50:00Z")),
    ("FP-12 the answer repeats another step", put("a1 result step", Decimal("15.0"))),
    ("FP-29 bad when asked again", uncited(
        "query_prometheus_range", {"expr": LATENCY, "start": STARTS, "end": ENDS, "step": 60},
        metric_cases.matrix(metric_cases.SUBJECT, metric_cases.values("1", "1")))),
    ("FP-29 firing when asked again", uncited("alertmanager_alerts", {}, [
        {"labels": {"pod": "invoices-0", "namespace": "billing"}, "status": {"state": "active"}}])),
    ("FP-10 ALERTS shows it firing", uncited(
        "query_prometheus", {"expr": 'ALERTS{pod="invoices-0"}', "start": STARTS, "end": ENDS, "step": 60},
        metric_cases.matrix({**metric_cases.SUBJECT, "alertstate": "firing"}, metric_cases.values("1", "1")))),
    ("a suppressed alert", put("a2 result", [
        {"labels": {"pod": "invoices-0"}, "status": {"state": "suppressed"}}])),
    ("an alert of unknown state", put("a2 result", [
        {"labels": {"pod": "invoices-0"}, "status": {"state": "resolved"}}])),
    ("an alert without labels", put("a2 result", [{"status": {"state": "active"}}])),
    ("FP-01 null for a list", put("a2 result", None)),
    ("FP-01 an object for a list", put("a2 result", {})),
    ("FP-14 alerts of another pod", put("a2 args filter 0", 'pod="invoices-1"')),
    ("FP-14 alerts of one name", put("a2 args filter 0", 'alertname="Other"')),
    ("FP-14 without the pod's alerts", put("a2 args filter 0", 'pod!="invoices-0"')),
    ("FP-14 alerts by a regular expression", put("a2 args filter 0", 'pod=~"invoices-.*"')),
    ("FP-21 active ones left out", put("a2 args active", False)),
    ("FP-21 silenced ones left out", put("a2 args silenced", False)),
    ("FP-21 inhibited ones left out", put("a2 args inhibited", False)),
    ("FP-21 of one receiver", put("a2 args receiver", "email")),
    ("FP-27 asked too early", lambda case: cases.entry(case, "a2")["meta"].update(called_at="2026-05-05T02:24:59Z")),
]  # fmt: skip
EXECUTED: list[tuple[str, Edit]] = [
    ("one instance is down", put("a1 result data result 1 values 30 1", "0")),
    ("FP-21 one instance asked for", put("a1 args query", 'up{container="api",instance="10.0.0.1:9090"}')),
    ("FP-21 the best of both", put("a1 args query", 'max by (container) (up{container="api"})')),
    ("FP-06 the envelope tells of an error", put("a2 result status", "error")),
    ("FP-06 a next page", put("a2 result nextToken", "x")),
    ("the alert is listed", put("a2 result data 1 labels container", "api")),
    ("the alert is listed by its name alone", put("a2 result data 0 labels alertname", "InvoicesSlow")),
]  # fmt: skip
LISTED: list[tuple[str, Edit]] = [
    ("FP-02 nothing", put("a1 result", [])),
    ("FP-20 a share against percent", put("a1 args expr", 'used_bytes{volume="v1"} / size_bytes{volume="v1"}')),
    ("FP-12 an instant", put("a1 args queryType", "instant")),
    ("firing", put("a2 result firing", True)),
    ("FP-10 no data", put("a2 result state", "no_data")),
    ("FP-10 paused", put("a2 result state", "paused")),
    ("pending", put("a2 result state", "pending")),
    ("FP-04 an unknown state", put("a2 result state", "Normal")),
    ("FP-22 an error", put("a2 result error", "timeout")),
    ("matches", put("a2 result matches", [{"metric": "v1", "value": 99}])),
    ("FP-10 the query returned nothing", put("a2 result logs", [
        {"message": "Condition[0]: Query Result", "data": []}])),
    ("FP-10 no data in the log", put("a2 result logs", [{"message": "Condition[0]: Eval: false, Metric: NoData"}])),
    ("FP-14 another rule", put("a2 args volume", "v2")),
    ("FP-14 no rule", put("a2 args", {})),
    ("FP-21 a rule of one's own", put("a2 args dashboard", {"panels": []})),
]  # fmt: skip
WRAPPED: list[tuple[str, Edit]] = [
    ("FP-08 hints", put("a1 result hints", {"summary": "no data"})),
    ("FP-02 nothing", put("a1 result data", [])),
    ("FP-21 the highest", put("a1 args expr", 'max(workers{namespace="billing"}) by (namespace, pod)')),
    ("FP-21 all together", put("a1 args expr", 'sum(workers{namespace="billing"}) by (namespace, pod)')),
    ("FP-14 another pod left out", put("a1 args expr", 'min(workers{pod!="invoices-0"}) by (namespace, pod)')),
    ("FP-12 two starts", put("a1 args start", STARTS)),
]  # fmt: skip


def asked(old: str, new: str) -> Edit:
    def edit(case: Case) -> None:
        args = cases.entry(case, "a1")["args"]
        assert old in args["query"]
        args["query"] = args["query"].replace(old, new)

    return edit


RATIO: list[tuple[str, Edit]] = [
    ("FP-14 other codes", asked('=~"5.."', '=~"59."')),
    ("FP-14 one code", asked('=~"5.."', '="500"')),
    ("FP-14 no error", asked('=~"5.."', '!~"5.."')),
    ("FP-14 errors by errors", asked('checkout"}', 'checkout", code=~"5.."}')),
    ("FP-14 by requests of another metric", asked('/ sum by (service) (rate(requests', '/ sum by (service) (rate(all')),
    ("FP-14 another label by the same expression", asked('code=~"5.."', 'pod=~"5.."')),
    ("FP-20 in percent", asked('[5m]))', '[5m])) * 100')),
]  # fmt: skip
RESULT = "a1 result MetricDataResults 0"
QUERY = "a1 args MetricDataQueries 0"
CLOUDWATCH: list[tuple[str, Edit]] = [
    ("the newest sample is bad", put(f"{RESULT} Values 0", 80)),
    ("FP-02 one value less", put(f"{RESULT} Values 40")),
    ("FP-02 one timestamp less", put(f"{RESULT} Timestamps 40")),
    ("FP-02 no sample", both(put(f"{RESULT} Values", []), put(f"{RESULT} Timestamps", []))),
    ("FP-03 a value as text", put(f"{RESULT} Values 3", "12")),
    ("FP-01 null", put(f"{RESULT} Values 3", None)),
    ("FP-06 partial", put(f"{RESULT} StatusCode", "PartialData")),
    ("FP-06 an internal error", put(f"{RESULT} StatusCode", "InternalError")),
    ("FP-06 no status", put(f"{RESULT} StatusCode")),
    ("FP-06 a message at the result", put(f"{RESULT} Messages", [{"Code": "x", "Value": "y"}])),
    ("FP-06 a message", put("a1 result Messages", [{"Code": "x", "Value": "y"}])),
    ("FP-06 a next page", put("a1 result NextToken", "x")),
    ("FP-02 no result", put("a1 result MetricDataResults", [])),
    ("FP-14 of another metric", put(f"{RESULT} Label", "FreeableMemory")),
    ("FP-14 of another query", put(f"{RESULT} Id", "m2")),
    ("FP-14 another instance", put(f"{QUERY} MetricStat Metric Dimensions 0 Value", "stock")),
    ("FP-14 another dimension", put(f"{QUERY} MetricStat Metric Dimensions 0 Name", "DatabaseClass")),
    ("FP-14 no dimension", put(f"{QUERY} MetricStat Metric Dimensions", [])),
    ("FP-14 a further dimension", lambda case: dimensions(case).append({"Name": "EngineName", "Value": "postgres"})),
    ("FP-21 the lowest", put(f"{QUERY} MetricStat Stat", "Minimum")),
    ("FP-21 how many samples", put(f"{QUERY} MetricStat Stat", "SampleCount")),
    ("FP-20 in another unit", put(f"{QUERY} MetricStat Unit", "Bytes")),
    ("FP-21 a calculation", put(f"{QUERY} Expression", "m1*0")),
    ("FP-21 two queries", lambda case: queries(case).append(queries(case)[0])),
    ("FP-12 another period", put(f"{QUERY} MetricStat Period", 300)),
    ("FP-12 a time without zone", put("a1 args StartTime", "2026-05-05T01:50:00")),
    ("FP-12 another day", put(f"{RESULT} Timestamps 3", "2026-05-06T02:27:00Z")),
    ("the alarm is on", put("a2 result MetricAlarms 0 StateValue", "ALARM")),
    ("FP-10 the alarm has no data", put("a2 result MetricAlarms 0 StateValue", "INSUFFICIENT_DATA")),
    ("FP-10 OK without data of its metric", put("a2 result MetricAlarms 0 MetricName", "FreeableMemory")),
    ("FP-06 the alarm was evaluated in part", put("a2 result MetricAlarms 0 EvaluationState", "PARTIAL_DATA")),
    ("FP-14 no alarm of the instance", put("a2 result MetricAlarms 0 Dimensions 0 Value", "stock")),
    ("FP-02 no alarm", put("a2 result MetricAlarms", [])),
    ("FP-06 a next page of alarms", put("a2 result NextToken", "x")),
    ("FP-06 as many alarms as were asked for", put("a2 args MaxRecords", 2)),
    ("FP-21 alarms of one state", put("a2 args StateValue", "OK")),
]  # fmt: skip
MESSAGE = "a1 result Events 2 Message"
FINISHED = "Finished applying autoscaling-initiated modification to allocated storage."
UNABLE = "Storage autoscaling is unable to scale the storage for the reason: quota."


def enlarged(name: str, before: int, after: int) -> str:
    return (
        f"Storage autoscaling completed for DB instance {name}. "
        f"Allocated storage has been increased from {before} GB to {after} GB."
    )


EVENTS: list[tuple[str, Edit]] = [
    ("FP-01 an event without category", put("a1 result Events 1 EventCategories", [])),
    ("FP-05 it has only begun", put("a1 result Events 2")),
    ("FP-24 words of it in another sentence", put(MESSAGE, f"Note: {FINISHED}")),
    ("FP-18 a change by hand", put(MESSAGE, "Finished applying modification to allocated storage.")),
    ("FP-14 of another database in the sentence", put(MESSAGE, enlarged("stock", 100, 200))),
    ("it was not enlarged", put(MESSAGE, enlarged("orders", 200, 200))),
    ("a failure by its category", put("a1 result Events 1 EventCategories", ["failure"])),
    ("a failure by its sentence", put("a1 result Events 1 Message", UNABLE)),
    ("low again", lambda case: case["audit"][0]["result"]["Events"].append(
        metric_cases.event("2026-05-05T02:20:00Z", "low", "low storage"))),
    ("FP-04 an unknown category", put("a1 result Events 1 EventCategories", ["trouble"])),
    ("FP-14 of another database", put("a1 result Events 2 SourceIdentifier", "stock")),
    ("FP-14 of a snapshot", put("a1 result Events 2 SourceType", "db-snapshot")),
    ("FP-14 another database asked for", put("a1 args SourceIdentifier", "stock")),
    ("FP-14 no database asked for", put("a1 args SourceIdentifier")),
    ("FP-21 failures left out", put("a1 args EventCategories", ["configuration change"])),
    ("FP-06 a next page", put("a1 result Marker", "x")),
    ("FP-06 as many as were asked for", put("a1 args MaxRecords", 3)),
    ("FP-02 no event", put("a1 result Events", [])),
    ("FP-01 null", put("a1 result Events", None)),
    ("FP-11 done before it began", put("a1 result Events 2 Date", "2026-05-05T01:59:00Z")),
    ("FP-12 an event outside", put("a1 result Events 2 Date", "2026-05-05T02:31:00Z")),
    ("FP-12 a date without zone", put("a1 result Events 2 Date", "2026-05-05T02:09:30")),
    ("FP-13 it ends too early", put("a1 args EndTime", "2026-05-05T02:24:59Z")),
    ("FP-13 it begins too late", put("a1 args StartTime", "2026-05-05T02:00:01Z")),
    ("FP-19 it ends after it was asked", put("a1 args EndTime", "2026-05-05T02:31:00Z")),
    ("FP-29 failed when asked again", uncited("rds_describe_events", {
        "SourceIdentifier": "orders", "StartTime": STARTS, "EndTime": ENDS},
        {"Events": [metric_cases.event("2026-05-05T02:25:00Z", "x", "failure")]})),
    ("the space is not back", put("a2 result MetricDataResults 0 Values 0", 10**10)),
    ("FP-21 the highest of the space", put("a2 args MetricDataQueries 0 MetricStat Stat", "Maximum")),
]  # fmt: skip
TABLES = {
    "prometheus": PROMETHEUS, "prometheus executed": EXECUTED, "prometheus listed": LISTED,
    "prometheus wrapped": WRAPPED, "error ratio": RATIO, "cloudwatch": CLOUDWATCH, "autoscaled": EVENTS,
}  # fmt: skip
CORRUPTED = [
    *((name, what, edit) for name, table in TABLES.items() for what, edit in table),
    *((name, what, edit) for name in sorted(metric_cases.EARNED) for what, edit in ANY),
]


def series(case: Case) -> Any:
    return cases.entry(case, "a1")["result"]["data"]["result"][0]["values"]


def shift(case: Case, seconds: int) -> None:
    for sample in series(case):
        sample[0] += seconds


def scale(case: Case, factor: int) -> None:
    for sample in series(case):
        sample[0] *= factor


def queries(case: Case) -> Any:
    return cases.entry(case, "a1")["args"]["MetricDataQueries"]


def dimensions(case: Case) -> Any:
    return queries(case)[0]["MetricStat"]["Metric"]["Dimensions"]


@pytest.mark.parametrize(("name", "what", "edit"), CORRUPTED, ids=[f"{name}: {what}" for name, what, _ in CORRUPTED])
def test_one_corruption_takes_the_pass_away(name: str, what: str, edit: Edit) -> None:
    assert isinstance(cases.decide(changed(metric_cases.EARNED[name](), edit)), Fail)


HARMLESS: list[tuple[str, str, Edit]] = [
    ("prometheus", "a bad sample before recovery", put(f"{SERIES} values 19 1", "99")),
    ("prometheus", "one sample is missing", lambda case: series(case).__delitem__(25)),
    ("prometheus", "no warning", put("a1 result warnings", [])),
    ("prometheus", "it is not partial", put("a1 result isPartial", False)),
    ("prometheus", "a further label", put(f"{SERIES} metric cluster", "west")),
    ("prometheus", "every alert was listed", put("a2 args", {})),
    ("prometheus", "an alert of another pod", put("a2 result", [
        {"labels": {"pod": "invoices-1", "namespace": "billing"}, "status": {"state": "active"}}])),
    ("prometheus", "alerts of the incident's own alert", put("a2 args filter 0", 'alertname="InvoicesSlow"')),
    ("prometheus", "containers without their sandbox", put(
        EXPR, 'max by (namespace, pod) (used{namespace="billing", container!="", container!="POD"})')),
    ("prometheus", "another metric was looked at later", uncited(
        "query_prometheus", {"expr": 'memory{pod="invoices-0"}', "start": STARTS, "end": ENDS, "step": 60},
        metric_cases.matrix(metric_cases.SUBJECT, metric_cases.values("9", "9")))),
    ("prometheus", "all pods were looked at later, and another one is bad", uncited(
        "query_prometheus",
        {"expr": LATENCY.replace(', pod="invoices-0"', ""), "start": STARTS, "end": ENDS, "step": 60},
        metric_cases.matrix({"namespace": "billing", "pod": "invoices-1"}, metric_cases.values("9", "9")))),
    ("prometheus", "ALERTS shows it pending", uncited(
        "query_prometheus", {"expr": "ALERTS", "start": STARTS, "end": ENDS, "step": 60},
        metric_cases.matrix({**metric_cases.SUBJECT, "alertstate": "pending"}, metric_cases.values("1", "1")))),
    ("cloudwatch", "an alarm that needs data", put("a2 result MetricAlarms 0 TreatMissingData", "missing")),
    ("cloudwatch", "no next page", put("a1 result NextToken", None)),
    ("cloudwatch", "the alarm by its name", both(
        put("a2 args AlarmNames", ["orders-cpu"]), put("a2 result MetricAlarms 1"))),
    ("autoscaled", "the sentence with the sizes", put(MESSAGE, enlarged("orders", 100, 200))),
    ("cloudwatch", "the alarm saw data", put(
        "a2 result MetricAlarms 0 StateReason", "Threshold Crossed: 1 datapoint [12.0] was not greater than 80.0.")),
    ("prometheus listed", "the query returned a series", put("a2 result logs", [
        {"message": "Condition[0]: Query Result", "data": [{"name": "v1", "points": []}]}])),
    ("autoscaled", "no next page", put("a1 result Marker", None)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "edit"), HARMLESS, ids=[f"{name}: {what}" for name, what, _ in HARMLESS])
def test_what_does_not_matter_does_not_take_the_pass_away(name: str, what: str, edit: Edit) -> None:
    verdict = cases.decide(changed(metric_cases.EARNED[name](), edit))
    assert isinstance(verdict, Pass), cases.sentences(verdict)


def test_an_abridged_query_is_one_of_a_record_alone() -> None:
    """No server answers a query with three points in it, so a live call cannot have been one."""
    case = metric_cases.prometheus()
    cases.entry(case, "a1")["args"]["expr"] = "...seconds / requests * 100"
    assert isinstance(cases.decide(case), Pass)
    case["incident"]["id"] = 7
    for entry in case["audit"]:
        entry["meta"]["incident_id"] = 7
    assert isinstance(cases.decide(case), Fail)


def test_four_samples_are_too_few_however_far_apart() -> None:
    case = metric_cases.prometheus()
    cases.entry(case, "a1")["args"]["step"] = "5m"
    whole = metric_cases.values()
    cases.entry(case, "a1")["result"]["data"]["result"][0]["values"] = whole[0::5]
    assert isinstance(cases.decide(case), Pass)
    cases.entry(case, "a1")["result"]["data"]["result"][0]["values"] = whole[0:36:5]
    assert "too few" in cases.sentences(cases.decide(case))


def test_series_of_alerts_never_show_that_nothing_fires() -> None:
    case = metric_cases.prometheus()
    args = {"expr": 'ALERTS{pod="invoices-0"}', "start": STARTS, "end": ENDS, "step": 60}
    case["audit"][1] = call("a2", "query_prometheus", args, [], metric_cases.CALLED)
    assert "no answer of the alert source" in cases.sentences(cases.decide(case))


def test_another_alarm_than_the_incidents_shows_nothing() -> None:
    case = metric_cases.cloudwatch()
    case["incident"]["subject"]["alarm_name"] = "orders-cpu"
    cases.entry(case, "a2")["args"]["AlarmNames"] = ["stock-cpu"]
    assert "another alarm" in cases.sentences(cases.decide(case))


# Every value that a check reads is needed


def matters(steps: tuple[str, ...]) -> bool:
    """Labels besides the subject's say no more about it, whatever they are, and alerts of others may have any state."""
    return not (
        ("metric" in steps and steps[-1] in ("__name__", "instance", "job"))
        or ("labels" in steps and steps[-1] in ("alertname", "container"))
        or (steps[-1] == "StateValue" and steps[-2] == "1")
    )


LEAVES: list[Leaf] = [
    (name, ref, steps, value)
    for name in sorted(metric_cases.EARNED)
    for ref, steps, value in cases.read_leaves(metric_cases.EARNED[name]())
    if matters(steps)
]
# Left out, CloudWatch treats missing data as missing, and Grafana has no series that met the condition.
MAY_BE_LEFT_OUT = ("TreatMissingData", "error_message", "start", "end", "step", "matches")
# A condition met by the value of one sample says nothing of the sample's neighbors.
NULL_IS_GOOD = ("error_message", "matches")
OF_MANY = 7  # samples are alike: one in so many is tried


def is_tried(number: int, leaf: Leaf) -> bool:
    is_sample = any(step in ("values", "Values", "Timestamps") for step in leaf[2])
    return not is_sample or number % OF_MANY == 0


TRIED = [leaf for number, leaf in enumerate(LEAVES) if is_tried(number, leaf)]


def fails_with(leaf: Leaf, value: Any) -> bool:
    name, ref, steps, _ = leaf
    return isinstance(cases.decide(cases.replaced(metric_cases.EARNED[name](), ref, steps, value)), Fail)


@pytest.mark.parametrize("leaf", TRIED, ids=lambda leaf: f"{leaf[0]}:{leaf[1]}/{'/'.join(leaf[2])}")
def test_no_pass_without_a_value_that_was_read(leaf: Leaf) -> None:
    if leaf[2][-1] not in MAY_BE_LEFT_OUT:
        assert fails_with(leaf, DROP)
    if leaf[2][-1] not in NULL_IS_GOOD:
        assert fails_with(leaf, None)


scalars = st.none() | st.booleans() | st.text(max_size=12) | st.floats() | st.lists(st.integers(), max_size=2)


@settings(max_examples=150, deadline=None)
@given(leaf=st.sampled_from(LEAVES), value=scalars)
def test_no_pass_with_a_value_of_another_type(leaf: Leaf, value: Any) -> None:
    if type(value) is not type(leaf[3]) and not (value is None and leaf[2][-1] in NULL_IS_GOOD):
        assert fails_with(leaf, value)
