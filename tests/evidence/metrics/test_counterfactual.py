"""A counterfactual holds its seven conditions, or says which one failed and gives no number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics import counterfactual
from evidence.metrics.counterfactual import Compared, compare
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.rows import Line
from evidence.metrics.simulations import MODELS
from evidence.metrics.simulations.model import Model, Simulated
from evidence.metrics.simulations.swapped_rate import wilson
from evidence.metrics.status import Code, Status
from evidence.metrics.valuation import Valuation
from tests.evidence.metrics import examples

PRICES = Valuation.of("prices", 3, "", examples.PRICES)
COST = MetricVersion.of("failed_job_cost", 1, "digest", examples.FAILED_JOB_COST)
EXPOSURE = MetricVersion.of("refund_exposure", 1, "digest", examples.REFUND_EXPOSURE)


def cost(attempts: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The formula's rows of recorded attempts, counted here by hand: what the model has to come to as well."""
    rows = []
    for attempt in attempts:
        job, failed = attempt["entity"], attempt["outcome"] == "failed"
        quantity, kind, unit = (attempt["quantity"], "wasted_compute", "slot_s") if failed else (
            attempt["late"], "delay_penalty", "s"
        )  # fmt: skip
        rows.append({"entity": job, "kind": kind, "quantity": quantity, "unit": unit, "error_class": None})
        if failed and attempt["attempt"] == most:
            rows.append({"entity": job, "kind": "permanent_loss", "quantity": 1, "unit": "jobs", "error_class": None})
    return rows


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, list[dict[str, Any]]]:
    """Jobs that each ended: with a success, or lost with their last attempt."""
    most = draw(st.integers(1, 5))
    rows = []
    for job in range(draw(st.integers(1, 4))):
        is_lost = draw(st.booleans())
        made = most if is_lost else draw(st.integers(1, most))
        for attempt in range(1, made + 1):
            rows.append({
                "entity": f"j{job}", "attempt": attempt, "quantity": draw(st.integers(0, 500)), "unit": "slot_s",
                "outcome": "failed" if is_lost or attempt < made else "succeeded", "late": draw(st.integers(0, 500)),
                "late_unit": "s", "lost_unit": "jobs", "max_attempts": most,
            })  # fmt: skip
    return most, draw(st.permutations(rows))


def of_attempts(attempts: list[dict[str, Any]], most: int, value: int) -> Compared:
    explained = explain(COST, Reading(cost(attempts, most)), PRICES)
    return compare(explained, "max_attempts", str(value), Reading(attempts), PRICES)


def test_each_row_is_looked_at_as_often_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call counts them while other calls wait: with each entity among all rows, ten thousand would take minutes."""
    looked, text = [0], Line.text

    def counted(line: Line, column: str) -> str:
        looked[0] += 1
        return text(line, column)

    def looks_at(jobs: int) -> int:
        looked[0] = 0
        attempts = [{**examples.ATTEMPTS_AT_400[0], "entity": f"j{job}", "max_attempts": 1} for job in range(jobs)]
        assert of_attempts(attempts, 1, 1).standing.status == Status.RESOLVED
        return looked[0]

    monkeypatch.setattr(Line, "text", counted)
    assert looks_at(200) == 2 * looks_at(100)


@given(worlds())
def test_set_to_what_it_was_it_gives_exactly_what_was(world) -> None:
    most, attempts = world
    found = of_attempts(attempts, most, most)
    assert (found.standing.status, found.delta) == (Status.RESOLVED, 0)
    assert found.bounds == (found.factual, found.factual)


@given(worlds(), st.integers(1, 5))
def test_fewer_attempts_are_recounted_and_more_are_not_invented(world, value: int) -> None:
    most, attempts = world
    found = of_attempts(attempts, most, value)
    is_any_lost = any(row["outcome"] == "failed" and row["attempt"] == most for row in attempts)
    if value > most and is_any_lost:
        assert (found.standing.value, [one.code for one in found.standing.reasons]) == (None, [Code.NO_DATA])
        return
    kept = [row for row in attempts if row["attempt"] <= value]
    recounted = explain(COST, Reading(cost(kept, min(value, most))), PRICES)
    assert found.standing.value == recounted.standing.value
    assert found.bounds is not None
    assert found.bounds[0] <= found.standing.value <= found.bounds[1]
    assert (found.standing.status == Status.RESOLVED) == (found.bounds[0] == found.bounds[1])


def test_what_is_freed_could_have_made_the_others_less_late_and_no_more() -> None:
    row = {"unit": "slot_s", "quantity": 10, "late": 500, "late_unit": "s", "lost_unit": "jobs", "max_attempts": 2}
    attempts = [
        {**row, "entity": "lost", "attempt": 1, "outcome": "failed"},
        {**row, "entity": "lost", "attempt": 2, "outcome": "failed"},
        {**row, "entity": "late", "attempt": 1, "outcome": "succeeded"},
    ]
    found = of_attempts(attempts, 2, 1)
    assert (found.standing.status, found.standing.value) == (Status.PARTIAL, Fraction("30.02"))
    assert found.bounds == (Fraction("25.02"), Fraction("30.02"))  # without the delay of 5.00 at best
    assert codes(found) == {Code.WIDE_BOUNDS}


def exposed() -> Explanation:
    return explain(EXPOSURE, Reading(examples.claimed(examples.CLAIMS)))


def with_model(monkeypatch: pytest.MonkeyPatch, run: Any, **how: bool) -> Compared:
    model = Model(run, frozenset(), **how)
    monkeypatch.setattr(counterfactual, "MODELS", {**MODELS, "enforced_key": model})
    return compare(exposed(), "idempotency_key", "on", Reading(examples.keyed(examples.CLAIMS)))


def codes(found: Compared) -> set[Code]:
    return {reason.code for reason in found.standing.reasons}


def value(number: int) -> Simulated:
    return Simulated(Fraction(number), Fraction(number), Fraction(number))


def test_a_model_that_cannot_give_the_factual_value_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_model(monkeypatch, lambda *_: value(15601))
    assert (found.standing.status, found.standing.value, found.bounds) == (Status.UNRESOLVED, None, None)
    assert codes(found) == {Code.IDENTITY_FAILED}
    assert found.fidelity is not None
    assert (found.fidelity.off, found.fidelity.holds) == (1, False)


def test_what_is_left_out_without_a_bound_leaves_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_model(monkeypatch, lambda *_: replace(value(15600), low=None))
    assert (codes(found), found.standing.value) == ({Code.UNBOUNDED}, None)


def test_bounds_that_do_not_hold_the_value_are_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_model(monkeypatch, lambda *_: replace(value(15600), high=Fraction(3)))
    assert (codes(found), found.standing.value) == ({Code.CONTRADICTION}, None)


def test_wide_bounds_are_partial_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_model(monkeypatch, lambda *_: replace(value(15600), low=Fraction(3)))
    assert (codes(found), found.standing.status) == ({Code.WIDE_BOUNDS}, Status.PARTIAL)
    assert found.bounds == (3, 15600)


def test_a_sample_without_an_interval_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_model(monkeypatch, lambda *_: value(15600), is_sampled=True)
    assert (codes(found), found.standing.value) == ({Code.NO_INTERVAL}, None)


def test_a_variable_without_a_list_of_what_is_held_is_not_compared() -> None:
    variables = tuple(replace(one, held_fixed=()) for one in EXPOSURE.supported_counterfactuals)
    bare = replace(exposed(), version=replace(EXPOSURE, supported_counterfactuals=variables))
    assert codes(compare(bare, "idempotency_key", "on", Reading(examples.keyed(examples.CLAIMS)))) == {Code.NOT_HELD}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"is_repeated": None}, Code.UNREADABLE),
        ({"keys": None}, Code.UNREADABLE),
        ({"keys": "on"}, Code.CONTRADICTION),
        ({"quantity": "4200"}, Code.UNREADABLE),
        ({"has_history": False}, Code.HISTORY_MISSING),
    ],
)
def test_rows_of_a_model_are_read_as_strictly(change: dict[str, Any], code: Code) -> None:
    rows = examples.keyed(examples.CLAIMS)
    found = compare(exposed(), "idempotency_key", "on", Reading([{**rows[0], **change}, *rows[1:]]))
    assert (found.standing.status, found.standing.value) == (Status.UNRESOLVED, None)
    assert code in codes(found)


@pytest.mark.parametrize("reading", [Reading(), Reading(failed="timeout"),
                                     Reading(examples.keyed(examples.CLAIMS), is_truncated=True)])  # fmt: skip
def test_what_was_not_read_whole_is_not_compared(reading: Reading) -> None:
    assert compare(exposed(), "idempotency_key", "on", reading).standing.value is None


def test_it_is_never_better_known_than_what_it_is_compared_with() -> None:
    rows = [{**row, "is_open": True} for row in examples.claimed(examples.CLAIMS)]
    found = compare(explain(EXPOSURE, Reading(rows)), "idempotency_key", "on", Reading(examples.keyed(examples.CLAIMS)))
    assert (found.standing.status, codes(found)) == (Status.PARTIAL, {Code.STILL_OPEN})
    lost = compare(explain(EXPOSURE, Reading()), "idempotency_key", "on", Reading(examples.keyed(examples.CLAIMS)))
    assert Code.FACTUAL_NOT_RESOLVED in codes(lost)
    assert (lost.standing.value, lost.factual, lost.delta) == (None, None, None)


def test_what_a_key_kept_away_was_never_recorded() -> None:
    rows = [{**row, "keys": "on"} for row in examples.keyed(examples.CLAIMS)]
    found = compare(exposed(), "idempotency_key", "off", Reading(rows))
    assert (codes(found), found.standing.value) == ({Code.NO_DATA}, None)


@given(st.integers(1, 10**6).flatmap(lambda served: st.tuples(st.integers(0, served), st.just(served))))
def test_wilsons_interval_holds_the_share_and_solves_its_equation(counts) -> None:
    bad, served = counts
    low, high = wilson(bad, served)
    share, z = Fraction(bad, served), Fraction(1959963984540054, 10**15)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        # An end is where the share is z standard errors away, up to the root's rounding and the ends of the scale.
        off = (share - end) ** 2 - z * z * end * (1 - end) / served
        assert abs(off) < Fraction(1, 10**15)


def test_wilsons_interval_at_known_points() -> None:
    """Of 10 in 9000; and of 0 in 10, where the upper end is z² / (n + z²)."""
    low, high = wilson(10, 9000)
    assert (round(float(low), 6), round(float(high), 6)) == (0.000604, 0.002044)
    low, high = wilson(0, 10)
    assert low == 0
    assert round(float(high), 4) == 0.2775
