"""The four metrics give their numbers, at each decision point, with what is not known said and never filled."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from evidence.metrics import checking
from evidence.metrics.counterfactual import Compared, compare
from evidence.metrics.definition import MetricVersion
from evidence.metrics.exact import exact, shown
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.status import Code, because
from evidence.metrics.trace import Cut, Event, Gap, trace
from evidence.metrics.valuation import Valuation
from tests.evidence.metrics import examples

PRICES = Valuation.of("prices", 3, "", examples.PRICES)


def version(name: str) -> MetricVersion:
    return MetricVersion.of(name, 1, "digest", examples.EXAMPLES[name])


def explained(name: str, rows: list[dict[str, Any]], decomposition: str | None = None, **how: bool) -> Explanation:
    prices = PRICES if name == "failed_job_cost" else None
    return explain(version(name), Reading(rows, **how), prices, decomposition)


def parts(found: Explanation) -> dict[str, Decimal]:
    return {component.name: shown(component.amount).value for component in found.components}


def amounts(**named: str) -> dict[str, Decimal]:
    return {name: Decimal(amount) for name, amount in named.items()}


def compared(name: str, rows: list[dict[str, Any]], variable: str, value: str, given: list[dict[str, Any]]) -> Compared:
    prices = PRICES if name == "failed_job_cost" else None
    return compare(explained(name, rows), variable, value, Reading(given), prices)


def codes(found: Explanation | Compared) -> list[Code]:
    return [reason.code for reason in found.standing.reasons]


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_each_example_is_a_definition(name: str) -> None:
    checking.check(name, examples.EXAMPLES[name])


def test_failed_jobs_cost_what_their_kinds_add_up_to() -> None:
    found = explained("failed_job_cost", examples.COST_AT_400)
    assert (found.standing.status, found.standing.value, found.residual) == ("resolved", exact("28.330"), 0)
    assert parts(found) == amounts(wasted_compute="0.330", delay_penalty="3.00", permanent_loss="25")
    assert parts(explained("failed_job_cost", examples.COST_AT_400, "by_job")) == amounts(j1="3.180", j4="25.150")
    by_class = explained("failed_job_cost", examples.COST_AT_400, "by_error_class")
    assert parts(by_class) == amounts(ReadTimeout="0.180", Conflict="25.150", other="3")
    assert by_class.components[-1].part == "other"


def test_a_loss_is_not_known_while_a_job_may_still_succeed() -> None:
    found = explained("failed_job_cost", examples.COST_AT_200)
    assert (found.standing.status, found.standing.value) == ("partial", exact("0.280"))
    assert found.standing.reasons == (because(Code.STILL_OPEN, entities=2),)


def test_fewer_attempts_would_have_cost_more() -> None:
    found = compared("failed_job_cost", examples.COST_AT_400, "max_attempts", "2", examples.ATTEMPTS_AT_400)
    assert (found.standing.status, found.standing.value, found.delta) == ("resolved", exact("50.280"), exact("21.950"))
    assert found.bounds == (exact("50.280"), exact("50.280"))
    assert found.fidelity is not None
    assert (found.fidelity.off, found.fidelity.holds) == (0, True)
    assert found.held_fixed
    assert found.not_modelled


def test_the_factual_value_of_the_variable_gives_the_factual_metric() -> None:
    found = compared("failed_job_cost", examples.COST_AT_400, "max_attempts", "3", examples.ATTEMPTS_AT_400)
    assert (found.standing.status, found.delta) == ("resolved", 0)


def test_attempts_that_never_ran_have_no_outcome() -> None:
    found = compared("failed_job_cost", examples.COST_AT_400, "max_attempts", "5", examples.ATTEMPTS_AT_400)
    assert (found.standing.status, found.standing.value, found.delta) == ("unresolved", None, None)
    assert codes(found) == [Code.NO_DATA]


def test_the_trace_of_a_job_is_in_order() -> None:
    found = trace(Reading(examples.TRACE_OF_J1[::-1]))
    assert [(item.at, item.what, item.actor) for item in found.items if isinstance(item, Event)] == [
        (40, "ReadTimeout", "a"), (150, "ReadTimeout", "a"), (330, "succeeded", "a"),
    ]  # fmt: skip
    assert found.status == "resolved"


def test_a_scheduled_job_is_not_late() -> None:
    found = explained("queue_wait", examples.WAITS["j5"])
    assert (found.standing.status, found.standing.value) == ("resolved", 40)
    assert parts(found) == amounts(not_due="40", all_slots_busy="0", slot_idle="0")


def test_a_busy_queue_accounts_for_its_wait() -> None:
    found = explained("queue_wait", examples.WAITS["j3"])
    assert (found.standing.status, found.standing.value) == ("resolved", 25)


def test_a_slot_that_stood_idle_is_not_explained_away() -> None:
    found = explained("queue_wait", examples.WAITS["j4"])
    assert (found.standing.status, found.standing.value) == ("partial", 58)
    assert parts(found) == amounts(not_due="0", all_slots_busy="28", slot_idle="30")
    assert found.standing.reasons == (because(Code.WITHOUT_REASON, entity="j4", kind="slot_idle", seconds=30),)


def test_a_model_that_cannot_give_what_was_says_nothing_of_what_would_have_been() -> None:
    found = compared("queue_wait", examples.WAITS["j4"], "slots", "3", examples.QUEUED)
    assert (found.standing.status, found.standing.value, found.bounds) == ("unresolved", None, None)
    fidelity = because(Code.FIDELITY_FAILED, condition=4, off=Fraction(30), tolerance=Fraction(5))
    assert fidelity in found.standing.reasons


def test_a_model_that_gives_what_was_is_believed_within_its_error() -> None:
    rows = [{**row, "started": 130 if row["entity"] == "j4" else row["started"]} for row in examples.QUEUED]
    waited = [{**row, "ends": 130, "finishes": 130} for row in examples.WAITS["j4"][:1]]
    found = compared("queue_wait", waited, "slots", "3", rows)
    assert (found.standing.status, found.standing.value, found.bounds) == ("resolved", 0, (-2, 2))


def test_a_budget_is_burnt_by_versions() -> None:
    found = explained("error_budget_burn", examples.burnt(0, 14))
    assert (found.standing.status, found.standing.value) == ("resolved", Fraction(347, 15))
    assert {name: round(amount, 2) for name, amount in parts(found).items()} == amounts(v1="0.67", v2="22.47")
    assert round(shown(Fraction(347, 15)).value, 2) == Decimal("23.13")


def test_minutes_without_a_row_are_not_filled() -> None:
    found = explained("error_budget_burn", examples.burnt(0, 14, recorded=6))
    assert (found.standing.status, found.standing.value) == ("partial", 7)
    assert found.standing.reasons == (because(Code.GAP, since=6, until=14),)


def test_no_traffic_is_not_zero() -> None:
    assert codes(explained("error_budget_burn", examples.burnt(15, 20))) == [Code.NO_ROWS]
    empty = [{**row, "numerator": 0, "denominator": 0} for row in examples.burnt(0, 4)]
    found = explained("error_budget_burn", empty)
    assert (found.standing.status, found.standing.value, found.components) == ("unresolved", None, ())
    assert codes(found) == [Code.ZERO_DENOMINATOR]


def avoided(first: int, last: int) -> tuple[Compared, list[Decimal]]:
    """The errors that would not have been, at the ends of the interval."""
    found = compared("error_budget_burn", examples.burnt(first, last), "version", "v1", examples.served(first, last))
    requests = sum(row["denominator"] * examples.BUDGET for row in examples.minutes(first, last))
    if found.interval is None or found.factual is None:
        return found, []
    low, high = found.interval
    return found, [round(shown((found.factual - end) * Fraction(requests)).value, 1) for end in (high, low)]


def test_the_other_versions_rate_in_minutes_that_both_served() -> None:
    found, errors = avoided(0, 9)
    assert (found.standing.status, errors) == ("resolved", [Decimal("58.0"), Decimal("59.4")])


def test_the_other_versions_rate_beyond_those_minutes_is_an_extension() -> None:
    found, errors = avoided(0, 14)
    assert (found.standing.status, errors) == ("partial", [Decimal("324.7"), Decimal("333.4")])
    assert found.standing.reasons == (because(Code.EXTENDED, group="v1", ticks=5),)


def test_before_and_after_is_no_comparison() -> None:
    found, errors = avoided(10, 14)
    assert (found.standing.status, errors) == ("unresolved", [])
    assert codes(found) == [Code.NO_DATA]


def test_each_charge_is_exposed_once() -> None:
    found = explained("refund_exposure", examples.claimed(examples.CLAIMS))
    assert (found.standing.status, found.standing.value) == ("resolved", 15600)
    assert parts(found) == amounts(
        dispute_open="9900", refund_failed="0", refund_pending="1500", duplicate_charge="4200", undelivered_paid="0"
    )
    assert explained("refund_exposure", examples.claimed(examples.LATER)).standing.value == 18100
    by_charge = explained("refund_exposure", examples.claimed(examples.CLAIMS), "by_charge")
    assert parts(by_charge) == amounts(ch2="4200", ch3="1500", ch4="9900")


def test_an_enforced_key_would_have_kept_the_repeated_charge_away() -> None:
    found = compared(
        "refund_exposure", examples.claimed(examples.CLAIMS), "idempotency_key", "on", examples.keyed(examples.CLAIMS)
    )
    assert (found.standing.status, found.standing.value, found.delta) == ("resolved", 11400, -4200)


def test_only_listed_variables_and_values_are_compared() -> None:
    for variable, value in [("faster_answers", "on"), ("idempotency_key", "maybe")]:
        found = compared("refund_exposure", examples.claimed(examples.CLAIMS), variable, value, [])
        assert found.standing.reasons == (because(Code.NOT_LISTED, condition=1, variable=variable),)


@pytest.mark.parametrize(
    ("how", "code"),
    [({"is_truncated": True}, Code.ROW_LIMIT), ({"is_stale": True}, Code.STALE_REPLICA),
     ({"failed": "timeout"}, Code.READ_FAILED)],
)  # fmt: skip
def test_what_was_not_read_whole_is_not_a_smaller_number(how: dict[str, Any], code: Code) -> None:
    found = explained("failed_job_cost", examples.COST_AT_400, **how)
    assert (found.standing.status, found.standing.value, found.components) == ("unresolved", None, ())
    assert code in codes(found)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"quantity": None}, Code.UNREADABLE), ({"quantity": "40"}, Code.UNREADABLE), ({"quantity": 40.0},
         Code.UNREADABLE), ({"quantity": True}, Code.UNREADABLE), ({"kind": "surcharge"}, Code.NO_PRICE),
        ({"kind": None}, Code.UNREADABLE), ({"unit": "s"}, Code.UNIT_MISMATCH), ({"unit": "slots"},
         Code.UNKNOWN_VALUE), ({"entity": ""}, Code.UNREADABLE), ({"is_open": None}, Code.UNREADABLE),
        ({"has_history": False}, Code.HISTORY_MISSING),
    ],
)  # fmt: skip
def test_a_value_that_is_not_what_its_column_says_is_never_read_as_another(change: dict[str, Any], code: Code) -> None:
    found = explained("failed_job_cost", [{**examples.COST_AT_400[0], **change}, *examples.COST_AT_400[1:]])
    assert (found.standing.status, found.standing.value) == ("unresolved", None)
    assert code in codes(found)


def test_a_value_is_not_made_with_other_prices() -> None:
    other = Valuation.of("prices", 4, "", examples.PRICES)
    for prices in (None, other):
        found = explain(version("failed_job_cost"), Reading(examples.COST_AT_400), prices)
        assert codes(found) == [Code.NO_PRICE]


def test_a_trace_shows_its_gaps_in_their_place_and_its_end() -> None:
    ticks = [0, 1, 4, 5]
    rows = [
        {"at": tick, "recorded_at": tick + 1, "id": tick, "what": "served", "actor": None, "relation": "minute",
         "tick": tick, "first_tick": 0, "last_tick": 8}
        for tick in ticks
    ]  # fmt: skip
    found = trace(Reading(rows))
    assert [item for item in found.items if isinstance(item, Gap)] == [Gap(2, 3), Gap(6, 8)]
    assert [type(item) for item in found.items] == [Event, Event, Gap, Event, Event, Gap]
    assert found.status == "partial"
    cut = trace(Reading(rows, is_truncated=True))
    assert [item for item in cut.items if not isinstance(item, Event)] == [Gap(2, 3), Cut(4, Fraction(5))]
    assert (cut.status, [reason.code for reason in cut.reasons]) == ("unresolved", [Code.ROW_LIMIT])
    others = trace(Reading([], is_truncated=True), Reading(rows, is_truncated=True))
    # What was read is none of it, and what was not read may be.
    assert (others.items, len(others.reasons)) == ((Gap(2, 3), Cut(4, Fraction(5))), 1)
    assert trace(Reading()).status == "unresolved"


def test_events_of_one_moment_are_ordered_by_when_they_became_known() -> None:
    row = {"what": "x", "actor": None, "relation": "r", "at": 5}
    rows = [{**row, "id": "b", "recorded_at": 9}, {**row, "id": "a", "recorded_at": 9}, {**row, "id": "z",
            "recorded_at": 6}]  # fmt: skip
    assert [item.id for item in trace(Reading(rows)).items if isinstance(item, Event)] == ["z", "a", "b"]
