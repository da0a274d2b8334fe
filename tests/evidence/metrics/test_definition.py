"""A definition states everything, reads what it says, answers what has a meaning, and is never changed."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from evidence.metrics import checking
from evidence.metrics.definition import KEYS, MetricVersion, check
from tests.evidence.metrics.examples import EXAMPLES

NAME = "failed_job_cost"
BODY = EXAMPLES[NAME]


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_part_of_a_definition_may_be_missing(key: str) -> None:
    with pytest.raises(ValueError, match=f"says its {key}"):
        check(NAME, {name: value for name, value in BODY.items() if name != key})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"unit": "euro"}, "is not a unit"),
        ({**EXAMPLES["queue_wait"], "unit": "EUR"}, "has a unit of time; EUR is none"),
        ({**EXAMPLES["error_budget_burn"], "unit": "s"}, "has a unit of share; s is none"),
        ({"measure": "average"}, "measure is one of"),
        ({"grain": "A job"}, "grain is a name"),
        ({"scope": {}}, "scope is an object"),
        ({"scope": {"job_id": "number"}}, "scope: job_id is one of"),
        ({"source_fields": {"job.id": "integer"}}, "source_fields: job.id is one of"),
        ({"source_fields": {"id": "key"}, "parameters": {}}, "relation.column"),
        ({"source_fields": {"job.id": "key"}, "parameters": {}}, "source_fields has job.recorded_at"),
        ({"parameters": {"max_attempts": "agent"}}, "from nowhere else"),
        ({"valuation": "prices"}, "as prices@3"),
        ({"valuation": "prices@0"}, "as prices@3"),
        ({"null_policy": {"no_rows": "zero", "still_open": "partial", "zero_denominator": "unresolved"}},
         "null_policy: no_rows is one of unresolved"),
        ({"null_policy": {"no_rows": "unresolved"}}, "null_policy says its"),
        ({"decomposers": []}, "at least one"),
        ({"decomposers": [{"name": "x", "type": "partition", "key": "entity"}]}, "The first decomposer"),
        ({"decomposers": [{"name": "x", "type": "rate_mix"}]}, "is one of additive, partition"),
        ({"decomposers": [{"name": "x", "type": "additive", "kinds": ["a", "a"]}]}, "a name twice"),
        ({"decomposers": BODY["decomposers"] * 2}, "have one name"),
        ({"visibility_scope": "live"}, "visibility_scope is one of"),
        ({"limitations": []}, "at least one text"),
        ({"golden": []}, "at least one value"),
        ({"golden": [{**BODY["golden"][0], "value": None}]}, "null when its status is unresolved"),
        ({"golden": [{**BODY["golden"][0], "value": 28.33}]}, "a number as a text"),
        ({"golden": [{**BODY["golden"][0], "value": "1/0"}]}, "divided by nothing"),
        ({"review_by": "next year"}, "is a day"),
        ({"owner": ""}, "owner is a text"),
        ({"formula": None}, "the text of a SELECT"),
        ({"higher_is_worse": True}, "is nothing that"),
    ],
)  # fmt: skip
def test_a_part_that_does_not_fit_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check(NAME, {**BODY, **change})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"values": []}, "1 to 1,000 texts"),
        ({"values": [3]}, "1 to 1,000 texts"),
        ({"model": "imagined"}, "model is one of"),
        ({"held_fixed": []}, "at least one text"),
        ({"not_modelled": []}, "at least one text"),
        ({"fidelity": "good"}, "fidelity"),
        ({"fidelity": {"tolerance": "-1"}}, "a number from 0"),
        ({"rows": "select 1 as a"}, "answers no column"),
        ({"rows": BODY["supported_counterfactuals"][0]["rows"].replace("as late_unit", "as late_unit, j.id as why")},
         "a column why, which has no meaning"),
    ],
)  # fmt: skip
def test_a_variable_says_what_is_held_and_what_is_left_out(change: dict[str, Any], sentence: str) -> None:
    body = copy.deepcopy(BODY)
    body["supported_counterfactuals"][0].update(change)
    with pytest.raises(ValueError, match=sentence):
        checking.check(NAME, body)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("e.outcome as outcome", "e.reason as outcome", "reads attempt_end.reason, which source_fields does not name"),
        ("j.kind = :scope ->> 'job_kind'", "j.kind = :scope ->> 'kind'", "reads kind of the scope"),
        ("j.kind = :scope ->> 'job_kind'", "j.due_at < (:scope ->> 'job_kind')::text::timestamptz",
         "reads job_kind of the scope as a moment, so its kind is instant"),
        ("k.is_open as is_open", "k.is_open as is_openish", "is_openish"),
        (" where a.recorded_at <= :decision_point", " where a.id is not null", "not bound by the decision point"),
    ],
)  # fmt: skip
def test_a_statement_reads_what_the_body_says(old: str, new: str, sentence: str) -> None:
    assert old in BODY["formula"]
    with pytest.raises(ValueError, match=sentence):
        checking.check(NAME, {**BODY, "formula": BODY["formula"].replace(old, new)})


def test_sources_that_nothing_reads_are_no_sources() -> None:
    fields = {**BODY["source_fields"], "job.owner": "text"}
    with pytest.raises(ValueError, match=r"names job\.owner, which nothing reads"):
        checking.check(NAME, {**BODY, "source_fields": fields})


def test_a_version_is_never_changed() -> None:
    body = copy.deepcopy(BODY)
    version = MetricVersion.of(NAME, 1, "digest", body)
    with pytest.raises(FrozenInstanceError):
        version.formula = "select 1"  # type: ignore[misc]
    with pytest.raises(TypeError):
        version.source_fields["job.x"] = "key"  # type: ignore[index]
    body["golden"][0]["scope"]["job_kind"] = "another"
    body["scope"]["more"] = "key"
    assert dict(version.golden[0].scope) == {"job_kind": "payout"}
    assert dict(version.scope) == {"job_kind": "text"}


def test_a_decomposition_is_one_of_the_versions_own() -> None:
    version = MetricVersion.of(NAME, 1, "digest", BODY)
    assert version.decomposer(None).name == "by_cost_kind"
    assert version.decomposer("by_job").key == "entity"
    with pytest.raises(ValueError, match="has the decompositions by_cost_kind, by_job, by_error_class"):
        version.decomposer("by_weather")
