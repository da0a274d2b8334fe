"""Exact numbers, the closed table of units, and tables of prices."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics.exact import MOST_DIGITS, exact, shown
from evidence.metrics.units import UNITS, Quantity, UnlikeUnits, total, unit
from evidence.metrics.valuation import EXAMPLE, Valuation, check

UNIT = st.sampled_from(sorted(UNITS)).map(unit)
AMOUNT = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**6)


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=9, allow_nan=False))
def test_a_decimal_comes_out_as_it_went_in(number: Decimal) -> None:
    out = shown(exact(number))
    assert (out.value, out.fraction) == (number, None)


@given(AMOUNT)
def test_what_has_no_end_says_of_which_fraction_it_is_the_beginning(number: Fraction) -> None:
    out = shown(number)
    if out.fraction is None:
        assert Fraction(out.value) == number
    else:
        assert Fraction(out.fraction) == number
        assert abs(Fraction(out.value) - number) <= Fraction(1, 2 * 10**12)


@pytest.mark.parametrize(
    "value",
    [1.5, True, None, "", "x", " 1", "1 ", "1_0", "1e3", "NaN", "٣", ".5", "5.", "--1", "+1", Decimal("NaN"),
     Decimal("Infinity"), Decimal("1e40"), Decimal("1e-41"), 10**MOST_DIGITS, [1]],
)  # fmt: skip
def test_what_is_no_exact_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        exact(value)


def test_large_and_small_numbers_keep_each_digit() -> None:
    digits = "1234567890123456789012345678901234567890"
    assert shown(exact(digits)).value == Decimal(digits)
    assert shown(exact(f"-0.{digits}")).value == Decimal(f"-0.{digits}")


@given(AMOUNT, AMOUNT, UNIT, UNIT)
def test_unlike_units_are_never_added(one: Fraction, other: Fraction, first, second) -> None:
    if first == second:
        assert (Quantity(one, first) + Quantity(other, second)).amount == one + other
    else:
        with pytest.raises(UnlikeUnits):
            Quantity(one, first) + Quantity(other, second)


@given(AMOUNT, UNIT, UNIT)
def test_a_conversion_stays_in_its_dimension_and_comes_back_exactly(amount: Fraction, first, second) -> None:
    quantity = Quantity(amount, first)
    if first.dimension == second.dimension:
        assert quantity.to(second).to(first) == quantity
    else:
        with pytest.raises(UnlikeUnits):
            quantity.to(second)


@pytest.mark.parametrize(
    ("amount", "of", "to", "expected"),
    [("1", "h", "s", "3600"), ("250", "ms", "s", "0.25"), ("15600", "EUR_minor", "EUR", "156"), ("7", "JPY_minor",
     "JPY", "7"), ("5", "KWD_minor", "KWD", "0.005"), ("1", "percent", "ratio", "0.01"), ("2", "KiB", "byte", "2048"),
     ("90", "slot_s", "slot_min", "1.5")],
)  # fmt: skip
def test_conversions(amount: str, of: str, to: str, expected: str) -> None:
    assert Quantity(exact(amount), unit(of)).to(unit(to)).amount == exact(expected)


def test_currencies_and_counted_things_are_dimensions_of_their_own() -> None:
    for one, other in [("EUR", "USD"), ("errors", "jobs"), ("ratio", "count"), ("s", "slot_s"), ("count", "calls")]:
        with pytest.raises(UnlikeUnits):
            Quantity(Fraction(1), unit(one)).to(unit(other))


def test_a_unit_that_the_table_has_not_is_refused() -> None:
    for name in ("euro", "", None, "seconds", 1):
        with pytest.raises(ValueError, match="is not a unit of the table"):
            unit(name)


def test_a_sum_of_nothing_is_zero_of_its_unit() -> None:
    assert total([], unit("EUR")) == Quantity(Fraction(0), unit("EUR"))


def test_a_price_is_of_its_own_dimension() -> None:
    prices = Valuation.of("prices", 3, "", EXAMPLE)
    assert prices.label == "prices@3"
    price = prices.prices["wasted_compute"]
    assert price.of(Quantity(Fraction(165), unit("slot_s"))) == Quantity(exact("0.330"), unit("EUR"))
    assert price.of(Quantity(Fraction(2), unit("slot_min"))) == Quantity(exact("0.24"), unit("EUR"))
    with pytest.raises(UnlikeUnits):
        price.of(Quantity(Fraction(165), unit("s")))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"owner": None}, "A valuation's owner is a text"),
        ({"owner": " "}, "A valuation's owner is a text"),
        ({"review_by": "soon"}, "is a day"),
        ({"review_by": "20270601"}, "is a day"),
        ({"prices": {}}, "one entry for each kind"),
        ({"prices": {"Wasted": {}}}, "is a name in small letters"),
        ({"prices": {"x": {"price": "1", "unit": "EUR", "per": "s"}}}, "says its source"),
        ({"prices": {"x": {"price": 1, "unit": "EUR", "per": "s", "source": "y"}}}, "written as a text"),
        ({"prices": {"x": {"price": "1", "unit": "euro", "per": "s", "source": "y"}}}, "is not a unit"),
        ({"prices": {"x": {"price": "1,5", "unit": "EUR", "per": "s", "source": "y"}}}, "not a number"),
        ({"more": 1}, "more is nothing that"),
    ],
)
def test_a_valuation_says_who_owns_it_and_where_each_price_is_from(change: dict, sentence: str) -> None:
    check("prices", EXAMPLE)
    with pytest.raises(ValueError, match=sentence):
        check("prices", {**EXAMPLE, **change})


def test_a_valuation_without_an_owner_is_none() -> None:
    with pytest.raises(ValueError, match="says its owner"):
        check("prices", {key: value for key, value in EXAMPLE.items() if key != "owner"})
