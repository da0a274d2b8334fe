"""What makes a class a class, and a subject one of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gate.triage import classes
from tests.triage.conftest import JOB_FAILED

WRONG: list[dict[str, Any]] = [
    {"kind": "ticket"},
    {"subject_keys": {}},
    {"subject_keys": {"job_id": "number"}},
    {"recurrence_seconds": -1},
    {"recurrence_seconds": 1.5},
    {"recurrence_seconds": True},
    {"freshness_seconds": 0},
    {"watch_seconds": -1},
    {"watch_seconds": "7 d"},
    {"hypotheses": []},
    {"hypotheses": ["Not A Name"]},
    {"tools": ["find_job", "find_job"]},
    {"severity": "bad"},
    {"budget_calls": 0},
    {"deadline_seconds": 1},
    {"surplus": 1},
    {"owner": ...},
]


@pytest.mark.django_db
@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_what_is_no_class_cannot_be_drafted(define: Callable[..., Any], changes: dict[str, Any]) -> None:
    body = {key: value for key, value in {**JOB_FAILED, **changes}.items() if value is not ...}
    with pytest.raises(ValueError):
        define("class", "job_failed", body)


def test_a_subject_is_exactly_what_the_class_says() -> None:
    means = classes.parse({**JOB_FAILED, "subject_keys": {"job_id": "integer", "host": "string"}})
    assert means.misfit({"job_id": 1, "host": "db-1"}) == ""
    for wrong in (
        {"job_id": 1},
        {"job_id": 1, "host": "db-1", "x": 1},
        {"job_id": "1", "host": "db-1"},
        {"job_id": True, "host": "db-1"},
        {"job_id": 1, "host": ""},
        {"job_id": 1, "host": "x" * 201},
    ):
        assert means.misfit(wrong).endswith(".")
