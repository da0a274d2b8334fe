"""Secrets in results are masked where they stand, and the shape that checks read stays."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.masking import NAMES
from evidence.result_secrets import PLACES, masked

NAMED = st.sampled_from(["password", "api_key", "accessToken", "Cookie", "state", "nextToken", "count", "a"])
VALUES = st.recursive(
    st.one_of(st.text(max_size=12), st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMED, inner, max_size=4)),
    max_leaves=12,
)
SECRET = "hunter2-hunter2"


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(child) for key, child in value.items()}
    return [shape(child) for child in value] if isinstance(value, list) else None


def planted(value: Any, under: bool = False) -> Any:
    """The value with our secret in the place of every text and number under a secret's name."""
    if isinstance(value, dict):
        return {
            key: planted(child, under or bool(NAMES.search(key) and not PLACES.search(key)))
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [planted(child, under) for child in value]
    return SECRET if under and isinstance(value, str | int) and not isinstance(value, bool) and value != "" else value


@given(VALUES)
def test_no_secret_is_left_and_the_shape_stays(value: Any) -> None:
    told = masked(planted(value))
    assert SECRET not in repr(told)
    assert shape(told) == shape(value)
    assert masked(told) == told  # once is enough


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"state": "failed", "attempts": 2}, {"state": "failed", "attempts": 2}),
        ({"password": "x", "pin": 7}, {"password": "[masked: password]", "pin": 7}),
        ({"secret": {"name": "tls", "mode": 420, "ok": True, "none": None}},
         {"secret": {"name": "[masked: secret]", "mode": "[masked: secret]", "ok": True, "none": None}}),
        ({"api_key": Decimal("1.5")}, {"api_key": "[masked: api_key]"}),
        ({"nextToken": "abc", "next_page_token": "d", "NextContinuationToken": "e"},
         {"nextToken": "abc", "next_page_token": "d", "NextContinuationToken": "e"}),
        ({"sessionToken": "abc"}, {"sessionToken": "[masked: token]"}),
        ({"line": "GET / Authorization: Bearer abcdefghijkl"}, {"line": "GET / Authorization: [masked: bearer token]"}),
        ([["postgresql://u:pw@h/d"]], [["postgresql://u:[masked: password]@h/d"]]),
    ],
)  # fmt: skip
def test_what_is_masked_and_what_is_not(value: Any, told: Any) -> None:
    assert masked(value) == told


@pytest.mark.parametrize("around", [lambda inner: inner, lambda inner: {"password": [inner]}])
def test_two_keys_that_differ_in_a_secret_alone_are_not_made_one(around: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="Two keys"):
        masked(around({"Bearer abcdefghijkl": 1, "Bearer mnopqrstuvwx": 2}))
