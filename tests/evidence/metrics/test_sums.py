"""What is added up by columns is what is added up row by row, to the last digit and the last reason."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.exact_json import dumps
from evidence.metrics import answers, sums
from evidence.metrics.definition import MetricVersion
from evidence.metrics.exact import LIMIT, shown, shown_all
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.valuation import Valuation
from tests.evidence.metrics import examples
from tests.evidence.metrics.test_answers import FROM

COST = MetricVersion.of("failed_job_cost", 1, "", examples.FAILED_JOB_COST)
BURN = MetricVersion.of("error_budget_burn", 1, "", examples.ERROR_BUDGET_BURN)
EXPOSURE = MetricVersion.of("refund_exposure", 1, "", examples.REFUND_EXPOSURE)
PRICES = Valuation.of("prices", 3, "", examples.PRICES)
NUMBER = st.one_of(
    st.integers(-(10**6), 10**6),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=6),
)
ODD = st.sampled_from([None, True, "40", 1.5, LIMIT, -LIMIT, Decimal("1e-41"), Decimal("1e41"), Decimal("NaN"), "", 0])
TEXT = st.sampled_from(["j1", "j2", 1, "1"])
COST_ROW = st.fixed_dictionaries(
    {
        "entity": TEXT, "kind": st.sampled_from(["wasted_compute", "delay_penalty", "permanent_loss"]),
        "error_class": st.one_of(st.none(), TEXT), "quantity": NUMBER, "is_open": st.just(False),
    }
)  # fmt: skip
CLAIM = st.fixed_dictionaries(
    {
        "entity": st.sampled_from(["ch1", "ch2", "ch3"]),
        "kind": st.sampled_from(["dispute_open", "refund_failed", "refund_pending"]),
        "quantity": st.sampled_from([100, 100, 100, 250]), "unit": st.sampled_from(["EUR_minor", "EUR_minor", "EUR"]),
    }
)  # fmt: skip
UNITS = {"wasted_compute": "slot_s", "delay_penalty": "s", "permanent_loss": "jobs"}
BURN_ROW = st.fixed_dictionaries(
    {"kind": TEXT, "numerator": NUMBER, "denominator": st.integers(1, 900) | NUMBER, "tick": st.just(0),
     "first_tick": st.just(0), "last_tick": st.just(0)}
)  # fmt: skip
DRAWN = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def by_cells(version: MetricVersion, rows: list[dict[str, Any]], how: str) -> Explanation:
    """The explanation with no column that is plain."""
    with patch.object(sums, "column", lambda rows, name, types: None):
        return explain(version, Reading(rows), PRICES if version is COST else None, how)


def spoilt(data: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, sometimes with one cell that is not what it should be, or missing."""
    if not rows or data.draw(st.booleans()):
        return rows
    place, name = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.sampled_from(sorted(rows[0])))
    changed = {**rows[place], name: data.draw(ODD)}
    if data.draw(st.booleans()):
        del changed[name]
    return [*rows[:place], changed, *rows[place + 1 :]]


@DRAWN
@given(st.lists(COST_ROW, max_size=8), st.sampled_from(["by_cost_kind", "by_job", "by_error_class"]), st.data())
def test_a_sum_by_columns_is_the_sum_by_cells(rows: list[dict[str, Any]], how: str, data: Any) -> None:
    rows = spoilt(data, [{**row, "unit": UNITS[row["kind"]]} for row in rows])
    found, slowly = explain(COST, Reading(rows), PRICES, how), by_cells(COST, rows, how)
    assert found == slowly
    assert dumps(answers.explained(found, FROM)) == dumps(answers.explained(slowly, FROM))


@DRAWN
@given(st.lists(BURN_ROW, max_size=8), st.data())
def test_a_ratio_by_columns_is_the_ratio_by_cells(rows: list[dict[str, Any]], data: Any) -> None:
    rows = spoilt(data, rows)
    assert explain(BURN, Reading(rows)) == by_cells(BURN, rows, "by_version")


@DRAWN
@given(st.lists(CLAIM, max_size=8), st.sampled_from(["by_bucket", "by_charge"]), st.data())
def test_buckets_by_columns_are_the_buckets_by_cells(rows: list[dict[str, Any]], how: str, data: Any) -> None:
    rows = spoilt(data, rows)
    assert explain(EXPOSURE, Reading(rows), None, how) == by_cells(EXPOSURE, rows, how)


@settings(max_examples=30)
@given(st.lists(st.fractions(max_denominator=10**6), max_size=8))
def test_a_total_is_the_sum(numbers: list[Fraction]) -> None:
    assert sums.total(numbers) == sum(numbers, Fraction(0))


@settings(max_examples=40)
@given(
    st.lists(st.integers() | st.integers(-(10**170), 10**170), max_size=6),
    st.builds(lambda twos, fives, other: 2**twos * 5**fives * other, st.integers(0, 45), st.integers(0, 9),
              st.sampled_from([1, 1, 3])),
)  # fmt: skip
def test_numbers_over_one_denominator_are_written_as_each_is(numerators: list[int], denominator: int) -> None:
    found = shown_all(numerators, denominator)
    if denominator % 3 and denominator < 2**40 and all(abs(one) < 10**90 for one in numerators):
        assert found is not None
    if found is not None:
        each = [shown(Fraction(one, denominator)) for one in numerators]
        assert [(str(value), None) for value in found] == [(str(one.value), one.fraction) for one in each]


@pytest.mark.parametrize(
    "odd", [None, True, "40", 1.5, Decimal("1e-41"), Decimal("1e41"), Decimal("NaN"), Decimal("Infinity"), ""]
)
def test_a_column_with_one_odd_value_has_no_sum(odd: object) -> None:
    assert sums.numbers([{"quantity": 1}, {"quantity": odd}], "quantity") is None
    assert sums.numbers([{"quantity": 1}, {}], "quantity") is None
