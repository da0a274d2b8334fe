"""The endpoints of Loki's HTTP API that read, and nothing else of it (grafana.com, "Loki HTTP API")."""

from __future__ import annotations

from evidence.kinds.http.endpoints import Api, Endpoint

API = Api(
    endpoints={
        "query": Endpoint("/loki/api/v1/query", ("query",), ("time", "limit", "direction")),
        "query_range": Endpoint(
            "/loki/api/v1/query_range", ("query", "start", "end"), ("limit", "step", "interval", "direction")
        ),
        "labels": Endpoint("/loki/api/v1/labels", (), ("start", "end", "query")),
        "label_values": Endpoint("/loki/api/v1/label/{label}/values", ("label",), ("start", "end", "query")),
        "series": Endpoint("/loki/api/v1/series", ("match[]",), ("start", "end")),
        "index_stats": Endpoint("/loki/api/v1/index/stats", ("query", "start", "end")),
        # Rules of the ruler in Prometheus's form. Its own form is YAML, behind the path by which rules are written.
        "rules": Endpoint("/prometheus/api/v1/rules", (), ("type", "rule_name[]", "rule_group[]", "file[]")),
        "alerts": Endpoint("/prometheus/api/v1/alerts"),
    },
    queries=frozenset(("query", "match[]")),
    spellings={
        "query": ("query", "expr", "logql"),
        "match[]": ("match", "matchers", "selector"),
        "start": ("start", "start_time", "from"),
        "end": ("end", "end_time", "to"),
        "rule_name[]": ("rule_name", "rule_names", "alertname"),
    },
    headers=(("Cache-Control", "no-cache"),),  # this very word keeps its results cache out
)
