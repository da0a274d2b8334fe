"""no_errors_in_logs: every recorded case and its twins by other tools get their verdict, no corrupted one passes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, log_cases
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.log_cases import BEGINS, ENDS, ENDS_UNIX, Edit, changed, loki_expr

RECORDED = cases.names_of("no_errors_in_logs")
Leaf = tuple[str, str, tuple[str, ...], Any]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_case_gets_its_verdict(name: str) -> None:
    case = cases.recorded(name)
    verdict = cases.decide(case)
    assert isinstance(verdict, Pass if case["actual"] == "pass" else Fail), cases.sentences(verdict)


@pytest.mark.parametrize("name", sorted(log_cases.EARNED))
def test_an_earned_case_passes(name: str) -> None:
    verdict = cases.decide(log_cases.EARNED[name]())
    assert isinstance(verdict, Pass), cases.sentences(verdict)


def later(case: dict[str, Any], **changes: Any) -> None:
    """The search once more, after what is cited, by nobody cited."""
    again = {**cases.entry(case, "a1"), **changes, "id": "a9"}
    again["meta"] = {**again["meta"], "called_at": "2026-05-05T08:25:00Z"}
    case["audit"].append(again)


def of_both(path: str, value: Any) -> cases.Edit:
    return both(put(f"a1 {path}", value), put(f"a2 {path}", value))


ZERO = loki_expr("ETIMEDOUT")
EXPR = "a1 args expr"
MEMBER = "FP-30 one more member that was not searched"
ANY: list[tuple[str, Edit]] = [
    ("FP-09 no control", lambda case: case["findings"].pop()),
    ("FP-09 the search is its own control", lambda case: case["findings"][1].update(audit_id="a1")),
    ("FP-18 the control is the search", lambda case: case["findings"][0].update(audit_id="a2")),
    ("FP-22 the call failed", lambda case: cases.entry(case, "a1")["meta"].update(ok=False)),
    ("FP-06 the answer was cut", lambda case: cases.entry(case, "a2")["meta"].update(truncated=True)),
    ("FP-11 asked before it began", lambda case: cases.entry(case, "a1")["meta"].update(
        called_at="2026-05-05T01:00:00Z")),
    ("FP-15 of another incident", lambda case: cases.entry(case, "a1")["meta"].update(incident_id="INC-8")),
    ("FP-16 no such entry", lambda case: case["findings"][0].update(audit_id="a7")),
    ("FP-13 a longer recurrence", put("incident recurrence_period_s", 22201)),
    ("FP-13 an earlier recovery", put("incident watch_from", "2026-05-05T01:59:59Z")),
    (MEMBER, put("incident members", [{"app": "x", "namespace": "billing"}])),
    ("FP-30 members that the monitor left out", put("incident undelivered", 1)),
]  # fmt: skip
LOKI: list[tuple[str, Edit]] = [
    ("FP-14 another namespace", put(EXPR, loki_expr("ETIMEDOUT", '{namespace="billing2", app="invoices"}'))),
    ("FP-14 one key of the subject left out", put(EXPR, loki_expr("ETIMEDOUT", '{app="invoices"}'))),
    ("FP-14 a further label", put(EXPR, loki_expr("ETIMEDOUT", '{namespace="billing", app="invoices", pod="a"}'))),
    ("FP-14 two labels for one key", put(EXPR, loki_expr("ETIMEDOUT", '{namespace="billing",app="invoices",app="x"}'))),
    ("FP-14 a negative label", put(EXPR, loki_expr("ETIMEDOUT", '{namespace="billing", app!="invoices"}'))),
    ("FP-14 a label by regular expression", put(EXPR, loki_expr("ETIMEDOUT", '{namespace="billing", app=~"inv.*"}'))),
    ("FP-14 no label", put(EXPR, loki_expr("ETIMEDOUT", "{}"))),
    ("FP-13 another error", put(EXPR, loki_expr("ECONNRESET"))),
    ("FP-13 part of the error", put(EXPR, loki_expr("ETIMEDOU"))),
    ("FP-13 more than the error", put(EXPR, loki_expr("ETIMEDOUT "))),
    ("FP-13 in other letters", put(EXPR, loki_expr("etimedout"))),
    ("FP-13 no error", put(EXPR, loki_expr(None))),
    ("FP-13 an empty text", put(EXPR, loki_expr(""))),
    ("FP-13 two texts", put(EXPR, ZERO.replace(" [window]", ' |= "retry" [window]'))),
    ("FP-21 lines without the error", put(EXPR, ZERO.replace("|=", "!="))),
    ("FP-21 a regular expression", put(EXPR, ZERO.replace('|= "', '|~ "^'))),
    ("FP-13 a text as a regular expression, another one", put(EXPR, ZERO.replace('|= "', '|~ "(?i)X'))),
    ("FP-21 a filter on a parsed label", put(EXPR, ZERO.replace(" [window]", ' | json | status="x" [window]'))),
    ("FP-21 a comparison", put(EXPR, ZERO + " > 5")),
    ("FP-21 another value for nothing", put(EXPR, ZERO.replace("vector(0)", "vector(1)"))),
    ("FP-21 a multiple of nothing", put(EXPR, ZERO + " * 0")),
    ("FP-21 a constant", put(EXPR, "vector(0)")),
    ("FP-21 a comment hides the filter", put(EXPR, ZERO.replace("|=", "# |="))),
    ("FP-12 an offset", put(EXPR, ZERO.replace("[window]", "[window] offset 1d"))),
    ("FP-12 a rate", put(EXPR, ZERO.replace("count_over_time", "rate"))),
    ("FP-12 a short range", of_both("args expr", loki_expr("ETIMEDOUT", back="5m"))),
    ("FP-12 a range one second too short", put(EXPR, loki_expr("ETIMEDOUT", back="22199s"))),
    ("FP-20 a range without unit", put(EXPR, loki_expr("ETIMEDOUT", back="22200"))),
    ("FP-13 it begins one second late", of_both("args start", "2026-05-05T02:00:01Z")),
    ("FP-12 another year", of_both("args start", "2027-05-05T02:00:00Z")),
    ("FP-12 a time without zone", of_both("args start", "2026-05-05T02:00:00")),
    ("FP-12 a relative time", of_both("args start", "now-7h")),
    ("FP-12 no start", both(put("a1 args start"), put("a2 args start"))),
    ("FP-12 no end", put("a1 args end")),
    ("FP-20 seconds with too few digits", of_both("args start", 177794640)),
    ("FP-12 two starts", put("a1 args from", BEGINS)),
    ("FP-19 it ends as it is asked", both(of_both("args end", "2026-05-05T08:20:00Z"),
                                          of_both("result data result 0 value 0", 1777969200))),
    ("FP-21 an unknown argument", put("a1 args shards", 1)),
    ("FP-09 nothing was looked at", put("a1 result data stats summary totalLinesProcessed", 0)),
    ("FP-09 the control looked at nothing", put("a2 result data stats summary totalLinesProcessed", 0)),
    ("FP-09 the control found nothing", put("a2 result data result 0 value 1", "0")),
    ("FP-09 the control looked elsewhere", put("a2 args expr", loki_expr(None, '{namespace="other", app="invoices"}'))),
    ("FP-09 the control looked at another time", put("a2 args start", "2026-05-05T01:59:00Z")),
    ("FP-09 the control asked another server", put("a2 args datasourceUid", "other")),
    ("FP-09 the control is of another source", lambda case: cases.entry(case, "a2").update(source="other")),
    ("FP-01 no result", put("a1 result data result", [])),
    ("FP-01 null", put("a1 result data result", None)),
    ("FP-01 no data", put("a1 result data", None)),
    ("one line was found", put("a1 result data result 0 value 1", "1")),
    ("a second series found lines", lambda case: cases.entry(case, "a1")["result"]["data"]["result"].append(
        {"metric": {}, "value": [ENDS_UNIX, "3"]})),
    ("FP-03 a number for a text", put("a1 result data result 0 value 1", 0)),
    ("FP-03 not a number", put("a1 result data result 0 value 1", "NaN")),
    ("FP-03 minus zero", put("a1 result data result 0 value 1", "-0")),
    ("FP-03 zero with a space", put("a1 result data result 0 value 1", "0 ")),
    ("FP-03 full-width zero", put("a1 result data result 0 value 1", "０")),
    ("FP-12 counted a day before", put("a1 result data result 0 value 0", ENDS_UNIX - 86400)),
    ("FP-12 counted in milliseconds", put("a1 result data result 0 value 0", ENDS_UNIX * 1000)),
    ("FP-14 counted of another app", put("a1 result data result 0 metric", {"app": "other"})),
    ("FP-07 an error for an answer", put("a1 result status", "error")),
    ("FP-06 warnings", put("a1 result warnings", ["1 ingester did not answer"])),
    ("FP-06 an error type", put("a1 result errorType", "timeout")),
    ("FP-06 a list of lines for a count", put("a1 result data resultType", "streams")),
    ("FP-29 found later", lambda case: later(case, result=log_cases.loki_result("2"))),
    ("FP-29 listed later", lambda case: later(
        case, args={"expr": '{namespace="billing", app="invoices"} |= "ETIMEDOUT"', "start": BEGINS, "end": ENDS},
        result={"status": "success", "data": {"resultType": "streams", "result": [
            {"stream": {}, "values": [["1777950000000000000", "ETIMEDOUT"]]}]}})),
    ("FP-09 dead later", lambda case: later(
        case, args=cases.entry(case, "a2")["args"], result=log_cases.loki_result("0"))),
]  # fmt: skip
LIKE = 'filter @message like "ETIMEDOUT"'
INSIGHTS: list[tuple[str, Edit]] = [
    ("FP-14 another group", put("a1 args logGroupNames 0", "/aws/lambda/orders")),
    ("FP-14 two groups", put("a1 args logGroupNames", ["/aws/lambda/invoices", "x"])),
    ("FP-14 no group", put("a1 args logGroupNames", [])),
    ("FP-14 group said twice", put("a1 args logGroupName", "/aws/lambda/invoices")),
    ("FP-14 a filter on a stream", put("a1 args queryString", f'filter @logStream = "a" | {LIKE}')),
    ("FP-21 where false", put("a1 args queryString", f"filter 1 = 0 | {LIKE}")),
    ("FP-21 not like", put("a1 args queryString", 'filter @message not like "ETIMEDOUT"')),
    ("FP-21 a pattern of more", put("a1 args queryString", "filter @message like /ETIMEDOUT.*invoice/")),
    ("FP-21 no row", put("a1 args queryString", f"{LIKE} | limit 0")),
    ("FP-21 no row by argument", both(put("a1 args limit", 0), put("a1 args queryString", LIKE))),
    ("FP-21 a filter on the count", put(
        "a1 args queryString", f"{LIKE} | stats count(*) as errors | filter errors > 5")),
    ("FP-21 a count of a field", put("a1 args queryString", f"{LIKE} | stats count(x) as errors")),
    ("FP-21 either of two", put("a1 args queryString", f'{LIKE} or @message like "x"')),
    ("FP-13 another error", put("a1 args queryString", 'filter @message like "ERROR" | stats count(*) as errors')),
    ("FP-21 another language", put("a1 args queryLanguage", "SQL")),
    ("FP-12 the id of a query alone", put("a1 args", {"queryId": "1"})),
    ("FP-19 inside the lag", lambda case: [
        cases.entry(case, ref)["meta"].update(called_at="2026-05-05T08:14:59Z") for ref in ("a1", "a2")]),
    ("FP-07 Running", put("a1 result status", "Running")),
    ("FP-04 an unknown status", put("a1 result status", "Completed")),
    ("FP-09 nothing scanned", put("a1 result statistics recordsScanned", 0)),
    ("FP-01 no statistics", put("a1 result statistics")),
    ("rows and statistics disagree", put("a1 result results 0 0 value", "1")),
    ("statistics and rows disagree", put("a1 result statistics recordsMatched", 1)),
    ("FP-03 a count as text", put("a1 result statistics recordsMatched", "0.0")),
    ("FP-03 negative", put("a1 result statistics recordsScanned", -1)),
    ("FP-18 another column", put("a1 result results 0 0 field", "oks")),
    ("FP-06 a next page", put("a1 result nextToken", "x")),
]  # fmt: skip
ELASTIC: list[tuple[str, Edit]] = [
    ("FP-14 another index for the control", put("a2 args index", "logs-b")),
    ("FP-14 another namespace", put("a1 args body query bool filter 0", {"term": {"namespace": "other"}})),
    ("FP-14 no namespace", put("a1 args body query bool filter 0")),
    ("FP-14 a further term", lambda case: cases.entry(case, "a1")["args"]["body"]["query"]["bool"]["filter"].append(
        {"term": {"pod": "a"}})),
    ("FP-21 must not", put("a1 args body query bool must_not", [{"term": {"level": "info"}}])),
    ("FP-21 either", put("a1 args body query bool should", [{"term": {"level": "info"}}])),
    ("FP-21 ends early", put("a1 args body terminate_after", 1)),
    ("FP-06 no total", put("a1 result hits total")),
    ("FP-21 the line is nothing but the error", put(
        "a1 args body query bool filter 3", {"term": {"message": "ETIMEDOUT"}})),
    ("FP-21 any of several words", put("a1 args body query bool filter 3", {"match": {"message": "ETIMEDOUT x"}})),
    ("FP-21 a wildcard", put("a1 args body query bool filter 3", {"wildcard": {"message": "ETIMEDOUT*"}})),
    ("FP-13 another error", put("a1 args body query bool filter 3", {"match_phrase": {"message": "ERROR"}})),
    ("FP-12 no window", put("a1 args body query bool filter 2")),
    ("FP-12 a relative window", put("a1 args body query bool filter 2 range @timestamp gte", "now-7h")),
    ("FP-12 a window of another field", put(
        "a1 args body query bool filter 2", {"range": {"created": {"gte": BEGINS, "lt": ENDS}}})),
    ("FP-12 an open window", put("a1 args body query bool filter 2", {"range": {"@timestamp": {"gte": BEGINS}}})),
    ("FP-07 timed out", put("a1 result timed_out", True)),
    ("FP-07 timed out is null", put("a1 result timed_out", None)),
    ("FP-06 ended early", put("a1 result terminated_early", True)),
    ("FP-06 a shard failed", put("a1 result _shards failed", 1)),
    ("FP-06 a shard did not answer", put("a1 result _shards successful", 4)),
    ("FP-09 no shard", both(put("a1 result _shards total", 0), put("a1 result _shards successful", 0))),
    ("FP-06 a cluster did not answer", put("a1 result _clusters", {"total": 2, "successful": 1, "skipped": 1})),
    ("FP-06 a lower bound", put("a1 result hits total relation", "gte")),
    ("FP-03 the total as text", put("a1 result hits total value", "0")),
    ("FP-03 the total as one number", put("a1 result hits total", 0)),
    ("one document", put("a1 result hits total value", 1)),
    ("documents are listed that were not counted", put("a1 result hits hits", [{}])),
    ("FP-22 an error body", put("a1 result error", {"type": "x"})),
    ("FP-09 the control found nothing", put("a2 result hits total value", 0)),
]  # fmt: skip
ESQL_FROM = "FROM logs-* | WHERE "
ESQL: list[tuple[str, Edit]] = [
    ("FP-21 where false", lambda case: replace_query(case, ESQL_FROM, ESQL_FROM + "false AND ")),
    ("FP-21 no row", lambda case: replace_query(case, "| STATS", "| LIMIT 0 | STATS")),
    ("FP-21 not like", lambda case: replace_query(case, "message LIKE", "message NOT LIKE")),
    ("FP-21 either", lambda case: replace_query(case, " AND message", " OR message")),
    ("FP-21 begins with", lambda case: replace_query(case, '"*ETIMEDOUT*"', '"ETIMEDOUT*"')),
    ("FP-21 a conditional count", lambda case: replace_query(case, "COUNT(*)", "COUNT(*) WHERE x == 1")),
    ("FP-21 a count of a field", lambda case: replace_query(case, "COUNT(*)", "COUNT(x)")),
    ("FP-21 by a field", lambda case: replace_query(case, "COUNT(*)", "COUNT(*) BY host")),
    ("FP-14 a further term", lambda case: replace_query(case, ESQL_FROM, ESQL_FROM + 'pod == "a" AND ')),
    ("FP-14 another app", lambda case: replace_query(case, '"invoices"', '"orders"')),
    ("FP-14 another index", lambda case: replace_query(case, "logs-*", "logs-b")),
    ("FP-12 a second window", lambda case: replace_query(case, ESQL_FROM, ESQL_FROM + f'@timestamp >= "{ENDS}" AND ')),
    ("FP-06 partial", put("a1 result is_partial", True)),
    ("FP-06 not said whether partial", put("a1 result is_partial")),
    ("FP-07 running", put("a1 result is_running", True)),
    ("FP-06 a cluster skipped", put("a1 result _clusters", {"total": 2, "successful": 1, "skipped": 1})),
    ("FP-18 another column", put("a1 result columns 0 name", "oks")),
    ("FP-03 another type", put("a1 result columns 0 type", "keyword")),
    ("FP-01 no row", put("a1 result values", [])),
    ("FP-01 null", put("a1 result values 0 0", None)),
    ("FP-03 text", put("a1 result values 0 0", "0")),
    ("one line", put("a1 result values 0 0", 1)),
    ("two counts", put("a1 result values 0", [0, 0])),
]  # fmt: skip
WRAPPED: list[tuple[str, Edit]] = [
    ("FP-06 cut off", put("a1 result metadata resultsTruncated", True)),
    ("FP-09 nothing scanned", put("a1 result metadata totalLinesScanned", 0)),
    ("FP-01 scanned is not known", put("a1 result metadata totalLinesScanned", None)),
    ("FP-08 hints", put("a1 result hints", {"summary": "no data"})),
    ("FP-01 nothing", put("a1 result data", [])),
    ("FP-01 no value", put("a1 result data 0 value")),
    ("FP-01 null", put("a1 result data 0 value", None)),
    ("FP-03 text", put("a1 result data 0 value", "0")),
    ("one line", put("a1 result data 0 value", 1)),
    ("FP-12 another moment", put("a1 result data 0 timestamp", f"{ENDS_UNIX - 3600}.000")),
    ("FP-12 the default hour", both(put("a1 args endRfc3339"), put("a2 args endRfc3339"))),
    ("a list for a count", put("a1 args logql", '{namespace="billing", app="invoices"} |= "ETIMEDOUT"')),
]  # fmt: skip
STEPS: list[tuple[str, Edit]] = [
    ("one count is not zero", put("a1 result data result 0 values 3 1", "1")),
    ("FP-02 no count", put("a1 result data result 0 values", [])),
    ("FP-02 a count is missing", put("a1 result data result 0 values 3")),
    ("FP-02 the last is missing", put("a1 result data result 0 values 6")),
    ("FP-12 a day before", put("a1 result data result 0 values 0 0", ENDS_UNIX - 90000)),
    ("FP-13 each looks back less than a step", of_both("args query", loki_expr("ETIMEDOUT", back="30m"))),
    ("FP-13 how far it looks back is not said", put("a1 args query", loki_expr("ETIMEDOUT"))),
    ("one count for many", put("a1 args step")),
]  # fmt: skip
COUNTS: list[tuple[str, Edit]] = [
    ("one line", put("a1 result count", 1)),
    ("FP-01 no count", put("a1 result count")),
    ("FP-07 unfinished", put("a1 result complete", False)),
    ("FP-09 nothing scanned", put("a1 result scanned", 0)),
    ("FP-13 another error", both(put("a1 args error", "x"), put("a1 result error", "x"))),
    ("FP-12 another window counted", put("a1 result window from", ENDS)),
    ("FP-14 another kind counted", put("a1 result job_kind", "x")),
    ("FP-14 another kind", both(put("a1 args job_kind", "x"), put("a1 result job_kind", "x"))),
    ("FP-21 a further argument", put("a1 args limit", 5)),
    ("FP-01 the incident does not say its error", put("incident error")),
]  # fmt: skip
TABLES = {
    "loki": LOKI, "insights": INSIGHTS, "elastic": ELASTIC, "esql": ESQL, "loki wrapped": WRAPPED,
    "loki by step": STEPS, "count_errors": COUNTS,
}  # fmt: skip
CORRUPTED = [
    *((name, what, edit) for name, table in TABLES.items() for what, edit in table),
    # The demo's tool counts the lines of all jobs of a kind, and so of every member.
    *(
        (name, what, edit)
        for name in sorted(log_cases.EARNED)
        for what, edit in ANY
        if (name, what) != ("count_errors", MEMBER)
    ),
]


def replace_query(case: dict[str, Any], old: str, new: str) -> None:
    args = cases.entry(case, "a1")["args"]
    assert old in args["query"]
    args["query"] = args["query"].replace(old, new)


@pytest.mark.parametrize(("name", "what", "edit"), CORRUPTED, ids=[f"{name}: {what}" for name, what, _ in CORRUPTED])
def test_one_corruption_takes_the_pass_away(name: str, what: str, edit: Edit) -> None:
    assert isinstance(cases.decide(changed(log_cases.EARNED[name](), edit)), Fail)


HARMLESS: list[tuple[str, str, Edit]] = [
    ("loki", "another spelling of the label", lambda case: [
        cases.entry(case, ref)["args"].update(expr=cases.entry(case, ref)["args"]["expr"].replace(
            "namespace=", "kubernetes_namespace_name=")) for ref in ("a1", "a2")]),
    ("loki", "an empty list of warnings", put("a1 result warnings", [])),
    ("loki", "an earlier window found the incident's own errors", lambda case: later(
        case, args={**cases.entry(case, "a1")["args"], "start": "2026-05-05T01:00:00Z"},
        result=log_cases.loki_result("4"))),
    ("loki", "another question found lines", lambda case: later(
        case, args={**cases.entry(case, "a1")["args"], "expr": loki_expr("started")},
        result=log_cases.loki_result("4"))),
    ("loki", "another question found none", lambda case: later(
        case, args={**cases.entry(case, "a1")["args"], "expr": loki_expr("stopped")},
        result=log_cases.loki_result("0"))),
    ("loki", "the pod's log was looked at, and had no data", lambda case: later(
        case, tool="fetch_pod_logs", args={"pod_name": "invoices-1", "namespace": "billing", "filter": "ETIMEDOUT"},
        result={"status": "no_data", "error": None, "data": None})),
    ("loki", "findings in another order", lambda case: case["findings"].reverse()),
    ("insights", "a literal between slashes", put(
        "a1 args queryString", "fields @message | filter @message like /ETIMEDOUT/ | stats count(*) as errors")),
    ("insights", "no row for nothing", put("a1 result results", [])),
    ("elastic", "shards skipped that cannot match", put("a1 result _shards skipped", 3)),
    ("elastic", "it was not ended early", put("a1 result terminated_early", False)),
    ("elastic", "each in its zone", put(
        "a1 args body query bool filter 2 range @timestamp gte", "2026-05-05T04:00:00+02:00")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "edit"), HARMLESS, ids=[f"{name}: {what}" for name, what, _ in HARMLESS])
def test_what_does_not_matter_does_not_take_the_pass_away(name: str, what: str, edit: Edit) -> None:
    verdict = cases.decide(changed(log_cases.EARNED[name](), edit))
    assert isinstance(verdict, Pass), cases.sentences(verdict)


# Where the incident does not say its error

SILENT: list[tuple[str, str, bool]] = [
    ("errors in invoices", "ERROR", True),
    ("errors in invoices", "ETIMEDOUT", True),
    ("errors in invoices", "connection refused", True),
    ("errors in invoices", "Heartbeat", False),
    ("errors in invoices", "ETIMEDOUTX", False),
    ("errors in invoices", "OOMKilled", False),
    ("errors in invoices", "zzz", False),
    ("Net::ReadTimeout in InvoiceSync", "Net::ReadTimeout", True),
    ("Net::ReadTimeout in InvoiceSync", "ReadTimeout", True),
    ("Net::ReadTimeout in InvoiceSync", "ETIMEDOUT", False),
    ("Net::ReadTimeout in InvoiceSync", "ERROR", False),
    ("CheckoutTimeout checkout-1", "ERROR", True),
    ("OperationalError in invoices", "OperationalError", True),
    ("errors in invoices", "OperationalError", False),
]


@pytest.mark.parametrize(("title", "text", "passes"), SILENT)
def test_an_incident_without_its_error_is_searched_for_a_known_word(title: str, text: str, passes: bool) -> None:
    case = log_cases.loki()
    case["incident"]["title"] = title
    del case["incident"]["subject"]["pattern"]
    cases.entry(case, "a1")["args"]["expr"] = loki_expr(text)
    cases.entry(case, "a2")["args"]["expr"] = loki_expr(None)
    assert isinstance(cases.decide(case), Pass if passes else Fail)


JOB = "7b0e2f64-9a35-4c2e-8d2f-3d6c0f5a1b77"
BY_ID: list[tuple[str, bool]] = [
    (f'{{app="worker"}} |= "{JOB} ERROR"', True),
    (f'{{app="worker"}} |= "{JOB}"', True),
    (f'{{app="worker"}} |= "{JOB}" |= "ERROR"', True),
    (f'{{app="worker"}} |= "{JOB} raised"', True),
    (f'{{app="worker"}} |= "{JOB} zzz"', False),
    (f'{{app="worker"}} |= "{JOB}x"', False),
    (f'{{app="worker"}} |= "{JOB[:-1]}"', False),
    (f'{{app="worker", pod="a"}} |= "{JOB}"', False),
    (f'{{filename="/dev/null"}} |= "{JOB}"', False),
    ('{app="worker"} |= "ERROR"', False),
]


@pytest.mark.parametrize(("lines", "passes"), BY_ID)
def test_a_job_that_is_an_id_is_searched_for_by_its_id(lines: str, passes: bool) -> None:
    case = log_cases.loki()
    case["incident"]["subject"] = {"job_id": JOB}
    cases.entry(case, "a1")["args"]["expr"] = f"sum(count_over_time({lines} [window])) or vector(0)"
    labels = lines.split(" |=")[0]
    control = f'sum(count_over_time({labels} |= "{JOB}" |= "performed" [window])) or vector(0)'
    cases.entry(case, "a2")["args"]["expr"] = control
    assert isinstance(cases.decide(case), Pass if passes else Fail)


def test_a_label_is_no_text() -> None:
    """A namespace that is searched for in the lines says nothing of whose lines they are."""
    case = log_cases.loki()
    case["incident"]["subject"] = {"job_id": JOB, "namespace": "billing-west"}
    lines = f'{{app="worker"}} |= "{JOB}" |= "billing-west"'
    cases.entry(case, "a1")["args"]["expr"] = f"sum(count_over_time({lines} [window])) or vector(0)"
    cases.entry(case, "a2")["args"]["expr"] = f'sum(count_over_time({lines} |= "x" [window])) or vector(0)'
    assert isinstance(cases.decide(case), Fail)


# Every value that a check reads is needed

LEAVES: list[Leaf] = [
    (name, ref, steps, value)
    for name in sorted(log_cases.EARNED)
    for ref, steps, value in cases.read_leaves(log_cases.EARNED[name]())
]


def fails_with(leaf: Leaf, value: Any) -> bool:
    name, ref, steps, _ = leaf
    return isinstance(cases.decide(cases.replaced(log_cases.EARNED[name](), ref, steps, value)), Fail)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: f"{leaf[0]}:{leaf[1]}/{'/'.join(leaf[2])}")
def test_no_pass_without_a_value_that_was_read(leaf: Leaf) -> None:
    assert fails_with(leaf, DROP)
    if leaf[3] is not None:
        assert fails_with(leaf, None)


scalars = st.none() | st.booleans() | st.text(max_size=12) | st.floats() | st.lists(st.integers(), max_size=2)


@settings(max_examples=150, deadline=None)
@given(leaf=st.sampled_from(LEAVES), value=scalars)
def test_no_pass_with_a_value_of_another_type(leaf: Leaf, value: Any) -> None:
    if type(value) is not type(leaf[3]):
        assert fails_with(leaf, value)
