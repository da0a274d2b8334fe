"""Golden values are held against what was found, exactly, with how far it is known."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics import golden
from evidence.metrics.asking import Golden


def answer(value: str | None, status: str, *codes: str, **more: Any) -> dict[str, Any]:
    number = None if value is None else Decimal(value)
    reasons = [{"code": code, "parameters": {}} for code in codes]
    return {"value": number, "mechanism_status": status, "reasons": reasons, **more}


def wanted(value: str | None, status: str) -> Golden:
    return Golden("jobs", "2026-05-01T00:06:40Z", {}, None if value is None else Fraction(value), status)


@pytest.mark.parametrize(
    ("value", "status", "found", "matches"),
    [
        ("28.33", "resolved", answer("28.330", "resolved"), True),
        ("28.33", "resolved", answer("28.331", "resolved"), False),
        ("28.33", "resolved", answer("28.33", "partial"), False),
        ("28.33", "resolved", answer(None, "unresolved"), False),
        ("0", "resolved", answer(None, "unresolved"), False),
        ("347/15", "resolved", answer("23.133333333333", "resolved", value_exact="347/15"), True),
        ("23.133333333333", "resolved", answer("23.133333333333", "resolved", value_exact="347/15"), False),
        (None, "unresolved", answer(None, "unresolved", "zero_denominator"), True),
        (None, "unresolved", answer(None, "unresolved", "read_failed"), False),
        (None, "unresolved", answer(None, "unresolved", "no_rows", "stale_replica"), False),
    ],
)
def test_what_is_given_is_exactly_what_is_found(
    value: str | None, status: str, found: dict[str, Any], matches: bool
) -> None:
    line = golden.held(wanted(value, status), found, "A-1")
    assert line.matches is matches
    assert (golden.failing({"golden": [line.said()]}, [line.golden]) == "") is matches


def test_what_could_not_be_read_matches_nothing_not_even_what_is_not_known() -> None:
    line = golden.Held(wanted(None, "unresolved"), None, "unresolved", problem="The source is dark.")
    assert not line.matches


def test_a_replica_that_was_behind_is_said_and_not_that_two_unknown_values_differ() -> None:
    line = golden.held(wanted(None, "unresolved"), answer(None, "unresolved", "stale_replica"), "A-1")
    assert golden.failing({"golden": [line.said()]}, [line.golden]) == (
        "jobs at 2026-05-01T00:06:40Z could not be read: The replica that answered was too far behind."
    )


@given(st.fractions())
def test_a_number_is_written_so_that_it_can_be_read_back(number: Fraction) -> None:
    assert Fraction(str(golden.text(number))) == number
