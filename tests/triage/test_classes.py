"""What makes a class a class, and a subject one of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gate.triage import class_forms, classes
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


@pytest.mark.parametrize(
    "changes", [{}, {"metrics": ["failed_job_cost", "queue_wait"]}, {"watch_seconds": 3600}], ids=str
)
def test_the_form_says_what_the_class_says(changes: dict[str, Any]) -> None:
    body = {**JOB_FAILED, **changes}
    form = class_forms.ClassForm({"name": "job_failed", "reason": "For a test.", **class_forms.initial_of(body)})
    assert form.is_valid(), form.errors
    assert classes.parse(form.body()) == classes.parse(body)


def test_a_class_names_each_metric_once() -> None:
    assert classes.parse(JOB_FAILED).metrics == ()
    with pytest.raises(ValueError, match="metrics"):
        classes.parse({**JOB_FAILED, "metrics": ["queue_wait", "queue_wait"]})
