"""Loki, or a gateway before it, as a kind of source."""

from __future__ import annotations

from evidence.kinds.http.fixed import FixedEndpoints
from evidence.kinds.loki import completeness, proving, role
from evidence.kinds.loki.endpoints import API

LOKI = FixedEndpoints(
    name="loki",
    title="Loki",
    attacks=proving.ATTACKS,
    source_example={
        "kind": "loki",
        "url": "https://loki.example.com",
        "environment": "production",
        "reader_env": "LOKI_READER_TOKEN",
        "credential": "bearer",
        "addresses": ["10.0.0.5"],
    },
    tool_example={
        "request": {
            "endpoint": "query",
            "parameters": {
                "query": 'sum(count_over_time({app="worker"} | job_id=$job_id |= "error" [1h])) or vector(0)'
            },
        },
    },
    api=API,
    acceptable=proving.ACCEPTABLE,
    incomplete=completeness.incomplete,
    codes=completeness.CODES,
    prove=proving.prove,
    strongest_reader=role.script,
)
