"""Answers that contradict themselves, the question, or each other; and questions that people spell otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases
from tests.triage.rules.cases import DROP, Case, Edit, both, edited, put

METRIC = "result data result 0 metric"
RULE = "a1 result data groups 0 rules 1"


def other(name: str) -> Case:
    return cases.recorded(f"other/{name}")


def replaced(path: str, was: str, becomes: str) -> Edit:
    """An edit of a part of a text, which must be there."""
    ref, _, last = path.split()

    def edit(case: Case) -> None:
        args = cases.entry(case, ref)["args"]
        assert was in args[last]
        args[last] = args[last].replace(was, becomes)

    return edit


def of_metric(ref: str, name: str, place: str) -> Edit:
    """Another metric asked for, and answered as asked."""
    return both(put(f"{ref} args MetricName", name), put(f"{ref} result MetricDataResults 0 Label", name),
                put(f"{ref} args Namespace", place))  # fmt: skip


def counted(*counts: Any) -> Edit:
    return put("a2 result values", [list(counts)])


ESQL = "esql_counts_errors_and_lines"
ONE = "esql_says_what_it_looked_at"
QUERY = "a2 args query"
FALSE_TWINS: list[tuple[str, str, Edit]] = [
    (ESQL, "the error is there", counted(1, 41822)),
    (ESQL, "no line at all", counted(0, 0)),
    (ESQL, "one count is missing", counted(0)),
    (ESQL, "a count that is null", counted(None, 41822)),
    (ESQL, "a count as text", counted("0", 41822)),
    (ESQL, "lines as true", counted(0, True)),
    (ESQL, "no row", put("a2 result values", [])),
    (ESQL, "two rows", put("a2 result values", [[0, 41822], [0, 1]])),
    (ESQL, "columns the other way round", put("a2 result columns", [{"name": "total", "type": "long"},
                                                                     {"name": "errors", "type": "long"}])),
    (ESQL, "an unknown type", put("a2 result columns 0 type", "double")),
    (ESQL, "a part was not read", put("a2 result is_partial", True)),
    (ESQL, "whether all was read is not said", put("a2 result is_partial")),
    (ESQL, "it still runs", put("a2 result is_running", True)),
    (ESQL, "one cluster did not answer", put("a2 result _clusters", {"total": 2, "successful": 1})),
    (ESQL, "both counts are narrowed",
     replaced(QUERY, "total = COUNT(*)", 'total = COUNT(*) WHERE message LIKE "*x*"')),
    (ESQL, "the lines were narrowed to the error before",
     replaced(QUERY, "| STATS", '| WHERE message:"ECONNRESET" | STATS')),
    (ESQL, "a level beside the error", replaced(QUERY, 'message LIKE', 'level == "FATAL" AND message LIKE')),
    (ESQL, "another error", replaced(QUERY, "ECONNRESET", "ECONNRESETS")),
    (ESQL, "groups", replaced(QUERY, "total = COUNT(*)", "total = COUNT(*) BY host")),
    (ESQL, "a sample of the lines", replaced(QUERY, "| STATS", "| SAMPLE 0.1 | STATS")),
    (ESQL, "one value of a field", replaced(QUERY, "errors = COUNT(*)", "errors = COUNT(error.code)")),
    (ESQL, "not the error", replaced(QUERY, "message LIKE", "NOT message LIKE")),
    (ESQL, "options of MATCH",
     replaced(QUERY, 'message LIKE "*ECONNRESET*"', 'MATCH(message, "ECONNRESET", {"fuzziness": 1})')),
    (ESQL, "a line that is the text", replaced(QUERY, '"*ECONNRESET*"', '"ECONNRESET"')),
    (ESQL, "the same name twice", replaced(QUERY, "total =", "errors =")),
    (ESQL, "a limit of nothing", replaced(QUERY, "total = COUNT(*)", "total = COUNT(*) | LIMIT 0")),
    (ONE, "how much was looked at is not said", put("a2 result documents_found")),
    (ONE, "how much as text", put("a2 result documents_found", "41822")),
    ("dwh_run_with_all_its_fields", "it has not ended", put("a1 result end_date", None)),
    ("dwh_run_with_all_its_fields", "the end was taken away", put("a1 result end_date")),
    ("dwh_run_with_all_its_fields", "it ended before", put("a1 result end_date", "2026-02-11T02:19:59Z")),
    ("dwh_run_with_all_its_fields", "it ends after the answer", put("a1 result end_date", "2026-02-11T03:20:01Z")),
    ("refund_in_capital_currency", "the money came back",
     put("a1 result data 0 failure_balance_transaction", "txn_9")),
    ("refund_in_capital_currency", "not refunded, it says", put("a2 result refunded", False)),
    ("refund_in_capital_currency", "not paid, it says", put("a2 result paid", False)),
    ("refund_in_capital_currency", "one flag was taken away", put("a2 result paid")),
    ("refund_in_capital_currency", "the answer in capitals", put("a1 result data 0 currency", "USD")),
    ("refund_in_capital_currency", "another currency in capitals", put("incident subject currency", "EUR")),
    ("refund_in_capital_currency", "mixed letters are no code", put("incident subject currency", "Usd")),
    ("refund_in_capital_currency", "of one merchant of several", put("incident subject merchant", "m-1")),
    ("order_by_its_own_id", "only a part was taken", put("a1 result data 0 amount_received", 100)),
    ("order_by_its_own_id", "how much was taken away", put("a1 result data 0 amount_received")),
    ("order_by_its_own_id", "the cart of another", both(
        replaced("a2 args sql", "o.current_state", "o.cart_id, o.current_state"),
        put("a2 result rows 0 cart_id", "c-81"))),
    ("order_by_its_own_id", "asked by another cart", replaced("a2 args sql", "where", "where cart_id = 'c-81' and")),
    ("lambda_errors_in_its_region", "samples of another region", put("a1 args region", "us-east-1")),
    ("lambda_errors_in_its_region", "an alarm of another region", put("a2 args region", "us-east-1")),
    ("lambda_errors_in_its_region", "an alarm of no region", put("a2 args region")),
    ("lambda_errors_in_its_region", "another metric", of_metric("a1", "Invocations", "AWS/Lambda")),
    ("lambda_errors_in_its_region", "the metric of another service", of_metric("a1", "Errors", "Custom/Shop")),
    ("lambda_errors_in_its_region", "alarms of other names", put("a2 args AlarmNamePrefix", "check-")),
    ("storage_autoscaled_in_its_region", "events of another region", put("a1 args region", "us-east-1")),
    ("storage_autoscaled_in_its_region", "events of no region", put("a1 args region")),
    ("storage_autoscaled_in_its_region", "memory", of_metric("a2", "FreeableMemory", "AWS/RDS")),
    ("storage_autoscaled_in_its_region", "the disk of a machine", of_metric("a2", "FreeStorageSpace", "AWS/EC2")),
    ("probe_series_with_its_name", "a series of another metric", put(f"a1 {METRIC} __name__", "up")),
    ("probe_series_with_its_name", "another metric was asked for", replaced("a1 args query", "probe_success", "up")),
    ("probe_series_with_its_name", "asked from a year before", put("a1 args start", "2025-03-03T12:00:00Z")),
    ("dead_mans_switch_with_its_alert", "its alert is critical", put(f"{RULE} alerts 0 labels severity", "critical")),
    ("dead_mans_switch_with_its_alert", "its alert has no severity", put(f"{RULE} alerts 0 labels severity")),
    ("deployment_by_a_part_of_its_name", "a part of another name", put("a1 args keyword", "card")),
    ("deployment_by_a_part_of_its_name", "a part of nothing", put("a1 args keyword", "")),
    ("deployment_by_a_part_of_its_name", "a name is whole", both(
        put("a1 args keyword"), put("a1 args name", "cart"))),
    ("deployment_by_a_part_of_its_name", "another version of the API", put("a1 args apiVersion", "extensions/v1beta1")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "edit"), FALSE_TWINS, ids=[f"{row[0]}: {row[1]}" for row in FALSE_TWINS])
def test_what_contradicts_something_fails(name: str, what: str, edit: Edit) -> None:
    earned = other(name)
    assert isinstance(cases.decide(earned), Pass), cases.sentences(cases.decide(earned))
    assert isinstance(cases.decide(edited(earned, edit)), Fail), what


def asked_in_loki(operator: str, text: str) -> Edit:
    return replaced("a2 args expr", '|= "ETIMEDOUT"', f'{operator} "{text}"')


JOB = "k8s_job_completed_after_failed_pod"
STREAM = '{namespace="billing",job_name="invoice-export-28561320"}'
BEFORE, AFTER = ("2026-05-05T02:01:00Z", "1777946460"), ("2026-05-05T05:00:00Z", "1777957200")


def asked_later(tool: str, args: Case, result: Any) -> Edit:
    """An answer that nobody cites, of a window that begins before recovery."""

    def edit(case: Case) -> None:
        meta = {**case["audit"][1]["meta"], "called_at": "2026-05-05T08:18:00Z"}
        case["audit"].append({"id": "a9", "tool": tool, "args": args, "result": result, "meta": meta})

    return edit


def in_loki(kind: str, query: str, entry: Case, **args: Any) -> Edit:
    result = {"status": "success", "data": {"resultType": kind, "result": [entry], "stats": {}}}
    return asked_later("loki_query", {"query": query, "start": "2026-05-05T02:00:00Z", "end": "2026-05-05T08:00:00Z",
                                      **args}, result)  # fmt: skip


def lines_in_loki(moment: tuple[str, str]) -> Edit:
    return in_loki("streams", f'{STREAM} |= "ETIMEDOUT"', {"stream": {}, "values": [[f"{moment[1]}000000000", "x"]]})


def counts_in_loki(moment: tuple[str, str]) -> Edit:
    query = f'sum(count_over_time({STREAM} |= "ETIMEDOUT" [1m]))'
    return in_loki("matrix", query, {"metric": {}, "values": [[int(moment[1]), "2"]]}, step="1m")


def lines_in_grafana(moment: tuple[str, str]) -> Edit:
    line = {"timestamp": f"{moment[1]}000000000", "line": "x ETIMEDOUT", "labels": {}}
    args = {"logql": f'{STREAM} |= "ETIMEDOUT"', "startRfc3339": "2026-05-05T02:00:00Z",
            "endRfc3339": "2026-05-05T08:00:00Z"}  # fmt: skip
    return asked_later("query_loki_logs", args, {"data": [line], "metadata": {"resultsTruncated": False}})


def documents(moment: tuple[str, str]) -> Edit:
    window = {"range": {"@timestamp": {"gte": "2026-05-05T02:00:00Z", "lt": "2026-05-05T08:00:00Z"}}}
    terms = [
        {"term": {"kubernetes.namespace": "billing"}},
        {"term": {"kubernetes.job.name": "invoice-export-28561320"}},
    ]
    error = {"match_phrase": {"message": "ETIMEDOUT"}}
    hits = [{"_source": {"message": "x"}}, {"_id": "2"}, {"_source": {"@timestamp": moment[0], "message": "x"}}]
    result = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0},
              "hits": {"total": {"value": 3, "relation": "eq"}, "hits": hits}}  # fmt: skip
    return asked_later("es_search", {"index": "logs", "body": {"query": {"bool": {"filter": [*terms, window, error]}}}},
                       result)  # fmt: skip


@pytest.mark.parametrize("found", [lines_in_loki, counts_in_loki, lines_in_grafana, documents])
def test_a_wider_window_contradicts_by_the_times_of_what_it_lists(found: Callable[[tuple[str, str]], Edit]) -> None:
    """The incident's own errors lie in it too, and these contradict nothing."""
    case = cases.recorded(JOB)
    verdict = cases.decide(edited(case, found(BEFORE)))
    assert isinstance(verdict, Pass), cases.sentences(verdict)
    assert "after recovery" in cases.sentences(cases.decide(edited(case, found(AFTER))))


def test_events_of_a_wider_window_contradict_by_their_times() -> None:
    case = cases.recorded("insights_query_complete_and_zero")
    for moment, kind in (("2020-05-18 05:30:00.000", Pass), ("2020-05-18 07:00:00.250", Fail)):
        later = cases.edited(case, lambda _: None)["audit"][0]
        later |= {"id": "a9", "args": {**later["args"], "startTime": "2020-05-18T05:00:00Z"}}
        row = [{"field": "@timestamp", "value": moment}, {"field": "@message", "value": "ERROR"}]
        later["result"] = {
            **later["result"],
            "results": [row],
            "statistics": {"recordsMatched": 1, "recordsScanned": 9},
        }
        assert isinstance(cases.decide(edited(case, lambda one, more=later: one["audit"].append(more))), kind)


def test_a_window_of_no_length_shows_nothing() -> None:
    case = edited(cases.recorded(JOB), put("incident recurrence_period_s", 0))
    assert isinstance(cases.decide(case), Pass)
    empty = edited(case, put("a2 args end", cases.entry(case, "a2")["args"]["start"]))
    assert "the window is empty" in cases.sentences(cases.decide(empty))


@pytest.mark.parametrize(("title", "pattern", "kind"), [
    ("KubeJobFailed", "ETIMEDOUT", Pass), ("KubeJobFailed: HTTP 502", "502", Pass),
    ("KubeJobFailed: HTTP 502", "EPIPE", Fail),
    ("KubeJobFailed: rate limit exceeded", "ETIMEDOUT", Fail), ("NullPointerException", "ETIMEDOUT", Fail),
    ("dns lookup failed", "ETIMEDOUT", Fail), ("KubeJobFailed", "INFO", Fail),
])  # fmt: skip
def test_what_is_searched_for_is_the_error_that_the_title_tells_of(title: str, pattern: str, kind: Any) -> None:
    edit = both(put("incident title", title), replaced("a2 args expr", "ETIMEDOUT", pattern))
    assert isinstance(cases.decide(edited(cases.recorded(JOB), edit)), kind)


@pytest.mark.parametrize(("title", "pattern", "kind"), [
    ("perform_job event", "ERROR", Pass), ("deadlock detected", "raised", Pass),
    ("deadlock detected", "ETIMEDOUT", Fail),
    ("deadlock detected", "deadlock detected", Pass),
])  # fmt: skip
def test_what_follows_an_id_is_the_error_too(title: str, pattern: str, kind: Any) -> None:
    edit = both(put("incident title", title), replaced("a2 args expr", "ERROR", pattern))
    case = cases.recorded("job_succeeded_though_event_says_discarded")
    assert isinstance(cases.decide(edited(case, edit)), kind)


def found_by(pattern: str) -> Edit:
    return replaced("a1 args queryString", "/ERROR/", pattern)


SPELLED: list[tuple[str, Callable[[], Case], Edit]] = [
    ("a count named count", lambda: other(ONE), both(
        replaced(QUERY, "STATS n =", "STATS count ="), put("a2 result columns 0 name", "count"))),
    ("a count without a name", lambda: other(ONE), both(
        replaced(QUERY, "STATS n = COUNT(*)", "STATS count()"), put("a2 result columns 0 name", "count()"))),
    ("MATCH_PHRASE", lambda: other(ONE),
     replaced(QUERY, 'message LIKE "*ECONNRESET*"', '(MATCH_PHRASE(message, "ECONNRESET"))')),
    ("TO_DATETIME", lambda: other(ONE),
     replaced(QUERY, '"2026-09-14T01:12:05Z"', 'TO_DATETIME("2026-09-14T01:12:05Z")')),
    ("a limit after the count", lambda: other(ONE), replaced(QUERY, "COUNT(*)", "COUNT(*) | LIMIT 1")),
    ("every line counted first", lambda: other(ESQL), both(
        replaced(QUERY, 'errors = COUNT(*) WHERE message LIKE "*ECONNRESET*", total = COUNT(*)',
                 'total = COUNT(*), errors = COUNT(*) WHERE message LIKE "*ECONNRESET*"'),
        put("a2 result columns", [{"name": "total", "type": "long"}, {"name": "errors", "type": "long"}]),
        counted(41822, 0))),
    ("a text as a regular expression", lambda: cases.recorded("k8s_job_completed_after_failed_pod"),
     asked_in_loki("|~", "ETIMEDOUT")),
    ("capitals that make no difference in Loki", lambda: cases.recorded("k8s_job_completed_after_failed_pod"),
     asked_in_loki("|~", "(?i)ETIMEDOUT")),
    ("capitals that make no difference in Insights", lambda: cases.recorded("insights_query_complete_and_zero"),
     found_by("/(?i)ERROR/")),
    ("arguments that are null", lambda: cases.recorded("k8s_job_completed_after_failed_pod"),
     both(put("a2 args tenant_hint", None), put("a1 args context", None))),
    ("known arguments that are null", lambda: cases.recorded("throttling_back_in_range"),
     both(*(put(f"a2 args {key}", None) for key in ("filter", "active", "silenced")))),
    ("a limit that is null", lambda: other("order_by_its_own_id"),
     both(put("a1 args limit", None), put("a2 args limit", None))),
    ("a version of the API", lambda: cases.recorded("k8s_job_completed_after_failed_pod"),
     put("a1 args apiVersion", "batch/v1")),
    ("selectors that are empty", lambda: cases.recorded(JOB), both(
        *(put(f"a1 args {key}", "") for key in ("labelSelector", "fieldSelector")))),
    ("a list in an order", lambda: cases.recorded("single_restart_recovered"), put("a2 args sortBy", ".lastTimestamp")),
    ("alarms by the beginning of their names", lambda: other("lambda_errors_in_its_region"), both(
        put("a2 args AlarmNames"), put("a2 args AlarmNamePrefix", "checkout"))),
    ("a run without its times", lambda: other("dwh_run_with_all_its_fields"), both(
        *(put(f"a1 result {key}") for key in ("start_date", "end_date", "logical_date", "run_type")))),
    ("a charge without its flags", lambda: other("refund_in_capital_currency"), both(
        put("a2 result paid"), put("a2 result refunded"))),
    ("an order with its cart", lambda: other("order_by_its_own_id"), both(
        replaced("a2 args sql", "o.current_state", "o.cart_id, o.current_state"),
        put("a2 result rows 0 cart_id", "c-80"))),
    ("a rule without a list of its alerts", lambda: other("dead_mans_switch_with_its_alert"),
     put(f"{RULE} alerts", DROP)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "make", "edit"), SPELLED, ids=[row[0] for row in SPELLED])
def test_what_is_earned_passes_however_it_was_asked(what: str, make: Callable[[], Case], edit: Edit) -> None:
    verdict = cases.decide(edited(make(), edit))
    assert isinstance(verdict, Pass), cases.sentences(verdict)
