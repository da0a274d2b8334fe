"""Earned cases of searches of logs, one per tool and spelling, as data that a test can break in one place."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

Case = dict[str, Any]
Edit = Callable[[Case], object]
BEGINS, ENDS, CALLED = "2026-05-05T02:00:00Z", "2026-05-05T08:10:00Z", "2026-05-05T08:20:00Z"
ENDS_UNIX = 1777968600
SUBJECT = {"namespace": "billing", "app": "invoices", "pattern": "ETIMEDOUT"}


def call(ref: str, tool: str, args: Any, result: Any, called_at: str = CALLED) -> dict[str, Any]:
    """A recorded call that went well."""
    meta = {
        "incident_id": "INC-7", "called_at": called_at, "ok": True, "error": None, "truncated": False, "took_ms": 180,
    }  # fmt: skip
    return {"id": ref, "tool": tool, "args": args, "result": result, "meta": meta}


def changed(case: Case, edit: Edit) -> Case:
    """The case with an edit."""
    edit(case)
    return case


def no_errors(search: dict[str, Any], control: dict[str, Any], subject: dict[str, Any] | None = None) -> Case:
    """A case of no_errors_in_logs with a search and its positive control."""
    return {
        "name": "made", "kind": "incident", "hypothesis": "no_errors_in_logs",
        "findings": [
            {"fact": "log_search_zero", "audit_id": "a1"}, {"fact": "log_source_alive", "audit_id": "a2"},
        ],
        "audit": [search, control], "actual": "pass", "outcome": "harmless", "why": "", "source": "",
        "incident": {
            "id": "INC-7", "title": "errors in invoices", "subject": dict(SUBJECT) if subject is None else subject,
            "began_at": BEGINS, "watch_from": BEGINS, "decided_at": "2026-05-05T08:30:00Z",
            "recurrence_period_s": 21600, "freshness_s": 1800,
        },
    }  # fmt: skip


def loki_result(count: str, scanned: int = 41822) -> dict[str, Any]:
    summary = {"totalLinesProcessed": scanned, "totalEntriesReturned": 1}
    vector = [{"metric": {}, "value": [ENDS_UNIX, count]}]
    return {"status": "success", "data": {"resultType": "vector", "result": vector, "stats": {"summary": summary}}}


def loki_expr(pattern: str | None, labels: str = '{namespace="billing", app="invoices"}', back: str = "window") -> str:
    line_filter = "" if pattern is None else f' |= "{pattern}"'
    return f"sum(count_over_time({labels}{line_filter} [{back}])) or vector(0)"


def loki() -> Case:
    window = {"start": BEGINS, "end": ENDS}
    return no_errors(
        call("a1", "loki_query", {"expr": loki_expr("ETIMEDOUT"), **window}, loki_result("0")),
        call("a2", "loki_query", {"expr": loki_expr(None), **window}, loki_result("41822")),
    )


def loki_of_another_server() -> Case:
    """The native answer under the other name; the range as a duration, nanoseconds, a data source."""
    window = {"datasourceUid": "loki", "start": 1777946400000000000, "end": ENDS_UNIX * 10**9, "limit": 10}
    quoted = "sum(count_over_time({app=`invoices`,namespace='billing'} |= `ETIMEDOUT`[6h10m])) or vector(0)"
    return no_errors(
        call("a1", "query_loki_logs", {"logql": quoted, **window}, loki_result("0")),
        call("a2", "query_loki_logs", {"logql": loki_expr("heartbeat", back="370m"), **window}, loki_result("12")),
    )


def loki_at_a_moment() -> Case:
    """An instant query takes its one moment, and looks back over the range."""
    return no_errors(
        call("a1", "loki_query", {"query": loki_expr("ETIMEDOUT", back="6h10m"), "time": ENDS_UNIX}, loki_result("0")),
        call("a2", "loki_query", {"query": loki_expr(None, back="6h10m"), "time": ENDS}, loki_result("41822")),
    )


def loki_by_step() -> Case:
    """Many counts, one at each step, which together look at the whole window."""

    def result(counts: list[str]) -> dict[str, Any]:
        answer = loki_result("0")
        values = [[ENDS_UNIX - 3600 * (6 - number), count] for number, count in enumerate(counts)]
        answer["data"] |= {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}
        return answer

    window = {"start": "2026-05-05T02:00:00Z", "end": ENDS, "step": 3600}
    return no_errors(
        call("a1", "loki_query", {"query": loki_expr("ETIMEDOUT", back="1h"), **window}, result(["0"] * 7)),
        call("a2", "loki_query", {"query": loki_expr(None, back="1h"), **window}, result(["5"] * 7)),
    )


def loki_wrapped() -> Case:
    """As Grafana's MCP server hands it on."""

    def result(count: Any) -> dict[str, Any]:
        entry = {"timestamp": f"{ENDS_UNIX}.000", "value": count, "labels": {}}
        metadata = {
            "linesReturned": 1, "maxLinesAllowed": 10, "resultsTruncated": False, "totalLinesScanned": 41822,
            "startTime": BEGINS, "endTime": ENDS,
        }  # fmt: skip
        return {"data": [entry], "metadata": metadata}

    window = {"datasourceUid": "loki", "startRfc3339": BEGINS, "endRfc3339": ENDS, "queryType": "instant"}
    return no_errors(
        call("a1", "query_loki_logs", {"logql": loki_expr("ETIMEDOUT", back="6h10m"), **window}, result(0)),
        call("a2", "query_loki_logs", {"logql": loki_expr(None, back="6h10m"), **window}, result(41822)),
    )


def insights_result(matched: int, rows: list[Any], scanned: int = 18231) -> dict[str, Any]:
    statistics = {
        "recordsMatched": Decimal(f"{matched}.0"), "recordsScanned": Decimal(f"{scanned}.0"),
        "bytesScanned": Decimal("5219033.0"),
    }  # fmt: skip
    return {"results": rows, "statistics": statistics, "status": "Complete"}


def insights() -> Case:
    """Each spelling that AWS has for the group and the window."""
    search = {
        "logGroupNames": ["/aws/lambda/invoices"], "startTime": 1777946400, "endTime": ENDS_UNIX,
        "queryString": 'fields @timestamp, @message | filter @message like "ETIMEDOUT" | stats count(*) as errors',
    }  # fmt: skip
    control = {
        "logGroupIdentifiers": ["arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/invoices"],
        "startTime": 1777946400, "endTime": ENDS, "queryString": "stats count(*)",
    }  # fmt: skip
    counted = [[{"field": "errors", "value": "0"}]]
    return no_errors(
        call("a1", "cloudwatch_get_query_results", search, insights_result(0, counted)),
        call("a2", "cloudwatch_get_query_results", control, insights_result(
            18231, [[{"field": "count(*)", "value": "18231"}]])),
        {"log_group": "/aws/lambda/invoices", "pattern": "ETIMEDOUT"},
    )  # fmt: skip


def elastic_body(pattern: str | None, *, counted_apart: bool = False) -> dict[str, Any]:
    demands: list[Any] = [
        {"term": {"kubernetes.namespace.keyword": "billing"}},
        {"match_phrase": {"app": {"query": "invoices"}}},
        {"range": {"@timestamp": {"gte": BEGINS, "lt": ENDS}}},
    ]
    text = {"match_phrase": {"message": pattern}}
    body: dict[str, Any] = {"size": 0, "track_total_hits": True}
    if counted_apart:
        body["aggs"] = {"errors": {"filter": text}}
    elif pattern is not None:
        demands.append(text)
    return {**body, "query": {"bool": {"filter": demands}}}


def elastic_result(total: int, relation: str = "eq") -> dict[str, Any]:
    return {
        "took": 12, "timed_out": False, "_shards": {"total": 5, "successful": 5, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": total, "relation": relation}, "max_score": None, "hits": []},
    }  # fmt: skip


def elastic() -> Case:
    return no_errors(
        call("a1", "es_search", {"index": "logs-*", "body": elastic_body("ETIMEDOUT")}, elastic_result(0)),
        call("a2", "es_search", {"index": "logs-*", "body": elastic_body(None)}, elastic_result(10000, "gte")),
    )


def elastic_inline() -> Case:
    """The body's parts as arguments, a query string, and the errors counted among all lines."""
    counted = {**elastic_result(41822), "aggregations": {"errors": {"doc_count": 0}}}
    return no_errors(
        call("a1", "es_search", {"index": "logs-*", **elastic_body("ETIMEDOUT", counted_apart=True)}, counted),
        call("a2", "es_search", {
            "index": "logs-*",
            "q": f'kubernetes.namespace:"billing" AND app:invoices AND @timestamp:[{BEGINS} TO {ENDS}]',
        }, elastic_result(41822)),
    )  # fmt: skip


def elastic_by_level() -> Case:
    """The window beside a query string, and the level in a field of its own."""
    window = {"start": BEGINS, "end": ENDS, "index": "logs-*"}
    where = "namespace:billing AND app:invoices"
    return no_errors(
        call("a1", "es_search", {"query": f"{where} AND level:ERROR", **window}, elastic_result(0)),
        call("a2", "es_search", {"query": where, **window}, elastic_result(41822)),
        {"namespace": "billing", "app": "invoices", "pattern": "ERROR"},
    )


def esql() -> Case:
    def query(pattern: str) -> str:
        return (
            f'FROM logs-* | WHERE @timestamp >= "{BEGINS}" AND @timestamp < "{ENDS}" AND namespace == "billing" '
            f'| WHERE app == "invoices"{pattern} | STATS errors = COUNT(*)'
        )

    def result(count: int) -> dict[str, Any]:
        columns = [{"name": "errors", "type": "long"}]
        return {"took": 5, "is_partial": False, "documents_found": count, "columns": columns, "values": [[count]]}

    return no_errors(
        call("a1", "es_esql", {"query": query(' AND message LIKE "*ETIMEDOUT*"')}, result(0)),
        call("a2", "es_esql", {"query": query("")}, result(41822)),
    )


def count_errors() -> Case:
    """The demo's own tool."""

    def args(error: str | None) -> dict[str, Any]:
        return {"error": error, "job_kind": "invoices", "from": BEGINS, "to": ENDS}

    def result(error: str | None, count: int) -> dict[str, Any]:
        window = {"from": BEGINS, "to": ENDS}
        return {
            "error": error, "job_kind": "invoices", "window": window, "count": count, "scanned": 41822,
            "complete": True,
        }  # fmt: skip

    case = no_errors(
        call("a1", "count_errors", args("ETIMEDOUT"), result("ETIMEDOUT", 0)),
        call("a2", "count_errors", args(None), result(None, 41822)),
        {"job_id": 90412},
    )
    case["incident"] |= {"error": "ETIMEDOUT", "job_kind": "invoices"}
    return case


EARNED: dict[str, Callable[[], Case]] = {
    "loki": loki, "loki of another server": loki_of_another_server, "loki at a moment": loki_at_a_moment,
    "loki by step": loki_by_step, "loki wrapped": loki_wrapped, "insights": insights, "elastic": elastic,
    "elastic inline": elastic_inline, "elastic by level": elastic_by_level, "esql": esql,
    "count_errors": count_errors,
}  # fmt: skip
