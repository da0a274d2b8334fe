"""A program's canonical form is RFC 8785, and its digest is over that and nothing else."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.admission import canonical, layout
from tests.admission.programs import case

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=300)
@given(NUMBERS | st.integers(-400, 400).map(lambda exponent: float(f"1.5e{max(-300, min(300, exponent))}")))
def test_a_number_is_written_as_the_standard_says(number: float) -> None:
    assert canonical.number_text(number) == rfc8785.dumps(number).decode()


@settings(max_examples=200)
@given(VALUES)
def test_a_value_is_written_as_the_standard_says(value: Any) -> None:
    assert canonical.text(value).encode() == rfc8785.dumps(value)


def test_the_order_of_keys_and_the_spelling_of_numbers_are_no_other_policy() -> None:
    program = case("dev-r01")["program"]
    turned = json.loads(json.dumps(dict(reversed(program.items()))).replace("0.7", "7e-1"))
    assert canonical.digest(turned) == canonical.digest(program)
    assert canonical.digest(program) == hashlib.sha256(rfc8785.dumps(program)).hexdigest()
    assert canonical.digest({**program, "otherwise": "block"}) != canonical.digest(program)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 2**53, -(2**53), "\ud800", {1: 2}, {"\udfff": 1}, b"x"])
def test_what_has_no_canonical_form_is_refused(odd: Any) -> None:
    with pytest.raises(ValueError):
        canonical.text({"value": odd} if not isinstance(odd, dict) else odd)


@settings(max_examples=100)
@given(VALUES)
def test_the_layout_for_people_says_the_same(value: Any) -> None:
    assert rfc8785.dumps(json.loads(layout.text(value))) == rfc8785.dumps(value)
