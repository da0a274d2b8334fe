"""Prometheus, and what answers as it does (Thanos, Mimir, VictoriaMetrics), as a kind of source."""

from __future__ import annotations

from evidence.kinds.http.fixed import FixedEndpoints
from evidence.kinds.prometheus import completeness, proving, role
from evidence.kinds.prometheus.endpoints import API

PROMETHEUS = FixedEndpoints(
    name="prometheus",
    title="Prometheus, Thanos, Mimir or VictoriaMetrics",
    attacks=proving.ATTACKS,
    source_example={
        "kind": "prometheus",
        "url": "https://prometheus.example.com",
        "environment": "production",
        "reader_env": "PROMETHEUS_READER_TOKEN",
        "credential": "bearer",
        "addresses": ["10.0.0.5"],
    },
    tool_example={
        "request": {
            "endpoint": "query",
            "parameters": {"query": "sum(rate(job_failures_total{job_id=$job_id}[5m]))"},
        },
    },
    api=API,
    acceptable=proving.ACCEPTABLE,
    incomplete=completeness.incomplete,
    codes=completeness.CODES,
    prove=proving.prove,
    strongest_reader=role.script,
)
