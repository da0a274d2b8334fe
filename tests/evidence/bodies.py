"""Definitions that the tests draft."""

from typing import Any


def source(**changes: Any) -> dict[str, Any]:
    body = {
        "kind": "postgresql",
        "reader_env": "SCRATCH_READER_DSN",
        "doctor_env": "SCRATCH_DOCTOR_DSN",
        "environment": "test",
        "schema": "app_ro",
    }
    return {**body, **changes}


JOB = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "state": {"enum": ["completed", "failed", "queued", "running"]}},
    "required": ["id", "state"],
    "additionalProperties": False,
}


def tool(**changes: Any) -> dict[str, Any]:
    """find_job: one job of the scratch database, or null."""
    body = {
        "purpose": "The state of one job.",
        "source": "scratch",
        "query_type": "state",
        "input_schema": {
            "type": "object",
            "properties": {"job_id": {"type": "integer", "minimum": 1}},
            "required": ["job_id"],
        },
        "output_schema": {
            "type": "object",
            "properties": {"job": {"anyOf": [JOB, {"type": "null"}]}},
            "required": ["job"],
            "additionalProperties": False,
        },
        "sql": "select jsonb_build_object('job', (select jsonb_build_object('id', id, 'state', state)"
        " from app_ro.jobs where id = $1::bigint)) as result",
        "parameters": ["job_id"],
        "shape": "object",
        "read_only": True,
        "returns_action_recommendations": False,
        "visibility_scope": "live",
        "limitations": ["Jobs older than a year are gone."],
    }
    return {**body, **changes}


def any_tool(sql: str, *names: str, **changes: Any) -> dict[str, Any]:
    """A tool of any SELECT, whose parameters and results may be anything."""
    anything: dict[str, Any] = {"type": "object"}
    given = {"type": "object", "properties": {name: {} for name in names}}
    own = {"sql": sql, "parameters": list(names), "input_schema": given, "output_schema": anything, "shape": "rows"}
    return tool(**{**own, **changes})
