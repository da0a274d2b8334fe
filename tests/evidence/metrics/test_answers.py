"""Answers carry exact numbers, codes and provenance; what is not known is null, and nothing in them is advice."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from evidence.exact_json import dumps
from evidence.metrics import answers
from evidence.metrics.counterfactual import compare
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.trace import trace
from tests.evidence.metrics import examples

BURN = MetricVersion.of("error_budget_burn", 2, "abc", examples.ERROR_BUDGET_BURN)
FROM = answers.Provenance("call-1", "2026-05-01T00:00:00Z", "error_budget_burn", 2, "abc", None, None, ("A-48213",))


def burnt(first: int, last: int) -> Explanation:
    return explain(BURN, Reading(examples.burnt(first, last)))


def test_a_metric_is_answered_with_its_components_and_where_it_is_from() -> None:
    answer = answers.explained(burnt(0, 14), FROM)
    assert (answer["value"], answer["value_exact"]) == (Decimal("23.133333333333"), "347/15")
    assert (answer["unit"], answer["decomposition_type"], answer["mechanism_status"]) == (
        "times", "partition", "resolved",
    )  # fmt: skip
    assert [one["name"] for one in answer["components"]] == ["v1", "v2"]
    assert (answer["residual"], answer["reasons"]) == (Decimal(0), [])
    assert answer["provenance"]["entries"] == ["A-48213"]
    assert answer["provenance"]["formula_digest"] == "abc"


def test_what_is_not_known_is_null_and_says_why() -> None:
    answer = answers.explained(burnt(15, 20), FROM)
    assert (answer["value"], answer["components"], answer["residual"]) == (None, [], None)
    assert answer["mechanism_status"] == "unresolved"
    assert answer["reasons"] == [{"code": "no_rows", "parameters": {}}]


def test_a_comparison_is_answered_with_all_that_bounds_it() -> None:
    found = compare(burnt(0, 9), "version", "v1", Reading(examples.served(0, 9)))
    answer = answers.compared(found, "times", FROM)
    assert answer["held_fixed"]
    assert answer["not_modelled"]
    assert answer["interval"]["low"] < answer["value"] < answer["interval"]["high"]
    assert answer["bounds"]["low"] == answer["bounds"]["high"] == answer["value"]
    assert answer["fidelity"] == {"off": Decimal(0), "tolerance": None}
    lost = answers.compared(compare(burnt(0, 9), "version", "v9", Reading()), "times", FROM)
    assert [lost[key] for key in ("value", "delta", "bounds", "interval", "fidelity")] == [None] * 5
    assert lost["reasons"][0]["code"] == "not_listed"


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


@pytest.mark.parametrize("span", [(0, 9), (0, 14), (10, 14), (15, 20)])
def test_no_float_is_in_an_answer_and_its_numbers_survive_json(span: tuple[int, int]) -> None:
    found = burnt(*span)
    other = compare(found, "version", "v1", Reading(examples.served(*span)))
    for answer in (answers.explained(found, FROM), answers.compared(other, "times", FROM)):
        assert not [leaf for leaf in leaves(answer) if isinstance(leaf, float)]
        assert dumps(answer)


def test_a_trace_is_answered_item_by_item() -> None:
    ticks = zip((0, 1, 4), examples.TRACE_OF_J1, strict=True)
    rows = [{**row, "tick": tick, "first_tick": 0, "last_tick": 9} for tick, row in ticks]
    answer = answers.traced(trace(Reading(rows, is_truncated=True)), FROM)
    assert [one["item"] for one in answer["items"]] == ["event", "event", "gap", "event", "cut"]
    assert answer["items"][0] == {
        "item": "event", "at": 40, "recorded_at": 40, "what": "ReadTimeout", "actor": "a", "relation": "attempt_end",
        "id": "a1",
    }  # fmt: skip
    assert answer["items"][2] == {"item": "gap", "since": 2, "until": 3}
    assert answer["items"][4] == {"item": "cut", "rows": 3, "until": answer["items"][3]["at"]}
    assert answer["mechanism_status"] == "unresolved"
