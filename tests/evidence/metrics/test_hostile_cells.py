"""Whatever a source puts into a cell or into a column: an answer that its tool promises, and that a page can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from evidence import arguments
from evidence.exact_json import dumps
from evidence.metrics import answers, schemas
from evidence.metrics.counterfactual import compare
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.reading_answers import Compared, Explained
from evidence.metrics.reading_traces import Traced
from evidence.metrics.status import Code
from evidence.metrics.trace import trace
from evidence.metrics.valuation import Valuation
from tests.evidence.metrics import examples
from tests.evidence.metrics.test_answers import FROM
from tests.evidence.metrics.test_measures import BODIES, stages, traffic

Rows = list[dict[str, Any]]
PRICES = Valuation.of("prices", 3, "", examples.PRICES)
ODD = [
    None, True, "", "40", "NaN", "\x00", 0, -1, 1.5, float("nan"), Decimal("NaN"), Decimal("-Infinity"),
    Decimal("9e39"), -(10**39), Decimal("1e-40"), Decimal("1e-41"), Decimal("0E+100"), Decimal("-0"), 10**3999, [], {},
]  # fmt: skip
CASES: dict[str, Rows] = {
    "failed_job_cost": examples.COST_AT_400,
    "queue_wait": examples.WAITS["j4"],
    "error_budget_burn": examples.burnt(0, 3),
    "refund_exposure": examples.claimed(examples.CLAIMS),
    "time_to_decision": [*stages("1", 0, 60, 120, 660), *stages("2", 0, 60, 120, 660, is_open=True)],
    "error_share_change": traffic(v1_before=(9, 900), v2_before=(5, 100), v1_after=(1, 100), v2_after=(45, 900)),
}
WORLDS: dict[str, tuple[Rows, str, str]] = {
    "failed_job_cost": (examples.ATTEMPTS_AT_400, "max_attempts", "2"),
    "queue_wait": (examples.QUEUED, "slots", "3"),
    "error_budget_burn": (examples.served(0, 3), "version", "v1"),
    "refund_exposure": (examples.keyed(examples.CLAIMS), "idempotency_key", "on"),
}
VERSIONS = {name: MetricVersion.of(name, 1, "", body) for name, body in {**examples.EXAMPLES, **BODIES}.items()}
CHECKERS = {kind: arguments.checker(schema) for kind, schema in schemas.ANSWERED.items()}


def spoilt(rows: Rows) -> Iterator[tuple[Rows, str, object]]:
    """The rows with one hostile cell, with a column of them, and with one row twice that differs in a cell."""
    for column in sorted(rows[0]):
        for odd in ODD:
            first, *others = rows
            yield [{**first, column: odd}, *others], column, odd
            yield [{**row, column: odd} for row in rows], column, odd
            yield [*rows, {**first, column: odd}], column, odd


def value_of(name: str, rows: Sequence[dict[str, Any]]) -> Explanation:
    return explain(VERSIONS[name], Reading(rows), PRICES if name == "failed_job_cost" else None)


def promised(kind: str, answer: dict[str, Any]) -> dict[str, Any]:
    assert arguments.misfit(CHECKERS[kind], answer) == ""
    assert dumps(answer)
    return answer


@pytest.mark.parametrize("name", CASES)
def test_a_value_adds_up_or_is_not_known(name: str) -> None:
    for rows, column, odd in spoilt(CASES[name]):
        found = value_of(name, rows)
        page = Explained(promised("explain", answers.explained(found, FROM)))
        assert (page.plot is None) == (not found.components), (column, odd)
        parts = sum((one.amount for one in found.components), Fraction(0))
        assert parts + found.residual == (found.standing.value or 0), (column, odd)
        assert not found.residual or found.standing.status == "partial"


@pytest.mark.parametrize("name", WORLDS)
def test_what_would_have_been_is_bounded_or_not_known(name: str) -> None:
    rows, variable, value = WORLDS[name]
    factual = value_of(name, CASES[name])
    for world, column, odd in spoilt(rows):
        found = compare(factual, variable, value, Reading(world), PRICES)
        Compared(promised("compare", answers.compared(found, "s", FROM)))
        if found.standing.value is not None:
            assert found.bounds is not None
            assert found.bounds[0] <= found.standing.value <= found.bounds[1], (column, odd)


def test_a_trace_is_in_order_or_not_known() -> None:
    rows = [{**row, "tick": tick, "first_tick": 0, "last_tick": 4} for tick, row in enumerate(examples.TRACE_OF_J1)]
    for spoiled, column, odd in spoilt(rows):
        for is_cut in (False, True):
            found = trace(Reading(spoiled, is_truncated=is_cut))
            page = Traced(promised("trace_entity", answers.traced(found, FROM)))
            times = [one.at for one in page.items if one.kind == "event" and one.at]
            assert times == sorted(times), (column, odd)


def test_what_is_longer_than_any_number_that_is_read_is_not_known() -> None:
    rows = [{**row, "quantity": Decimal("9e39")} for row in examples.COST_AT_400]
    found = value_of("failed_job_cost", rows)
    assert (found.standing.value, [one.code for one in found.standing.reasons]) == (None, [Code.TOO_LONG])
