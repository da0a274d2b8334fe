"""The endpoints of Prometheus's HTTP API that read, and nothing else of it (prometheus.io, "HTTP API", v1).

Thanos, Mimir and VictoriaMetrics have the same. With every query it is asked, each in its own word, for no partial
answer, none out of a cache, and none whose times were rounded for one; a server that does not know a word leaves it be.
"""

from __future__ import annotations

from evidence.kinds.http.endpoints import Api, Endpoint

WHOLE = (("partial_response", "false"), ("deny_partial_response", "1"))
COUNTED = (*WHOLE, ("nocache", "1"), ("stats", "all"))  # what was looked at is counted in the answer

API = Api(
    endpoints={
        "query": Endpoint("/api/v1/query", ("query",), ("time", "timeout", "limit"), COUNTED),
        "query_range": Endpoint(
            "/api/v1/query_range", ("query", "start", "end", "step"), ("timeout", "limit"), COUNTED
        ),
        "series": Endpoint("/api/v1/series", ("match[]",), ("start", "end", "limit"), WHOLE),
        "labels": Endpoint("/api/v1/labels", (), ("match[]", "start", "end", "limit"), WHOLE),
        "label_values": Endpoint(
            "/api/v1/label/{label}/values", ("label",), ("match[]", "start", "end", "limit"), WHOLE
        ),
        "rules": Endpoint(
            "/api/v1/rules", (), ("type", "rule_name[]", "rule_group[]", "file[]", "match[]", "exclude_alerts"), WHOLE
        ),
        "alerts": Endpoint("/api/v1/alerts", (), (), WHOLE),
        "targets": Endpoint("/api/v1/targets", (), ("state", "scrapePool")),
        "metadata": Endpoint("/api/v1/metadata", (), ("metric", "limit", "limit_per_metric")),
        "alertmanagers": Endpoint("/api/v1/alertmanagers"),
    },
    queries=frozenset(("query", "match[]")),
    spellings={
        "query": ("query", "expr", "promql"),
        "match[]": ("match", "matchers", "selector"),
        "start": ("start", "start_time", "from"),
        "end": ("end", "end_time", "to"),
        "step": ("step", "step_seconds"),
        "rule_name[]": ("rule_name", "rule_names", "alertname"),
        "scrapePool": ("scrape_pool",),
    },
    headers=(("Cache-Control", "no-store"),),
)
