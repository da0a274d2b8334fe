"""Secrets in results are masked where they stand, and the shape that checks read stays."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.masking import NAMES
from evidence.result_secrets import MOST_LINES, PLACES, masked

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


PEM = [
    "-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAx7" + "Ab3+/" * 9, "zz" + "Qw9/+" * 12 + "==",
    "-----END RSA PRIVATE KEY-----",
]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])  # logs come newest first as well
@pytest.mark.parametrize("line", [
    lambda text: text, lambda text: [1_700_000_000, text], lambda text: {"ts": "2026-11-30T10:00:00Z", "line": text},
    lambda text: f"10:00:00 app[3]: {text}", lambda text: f'{{"msg": "{text}\\\\n"}}',
])  # fmt: skip
def test_a_key_that_comes_line_by_line_is_masked_in_each(line: Callable[[str], Any], order: int) -> None:
    around = ["the job failed", "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    lines = [*map(line, around), *map(line, PEM[::order]), *map(line, around)]
    told = masked({"lines": lines})["lines"]
    assert not any(body.strip("=") in repr(told) for body in PEM[1:3])
    assert (told[:2], told[-2:]) == (lines[:2], lines[-2:])  # what stands around it is no key
    assert masked(told) == told


def test_a_mark_of_a_key_that_never_ends_hides_no_words() -> None:
    states = [{"state": "failed", "error": "RuntimeError"}] * 3
    assert masked(["no -----BEGIN PRIVATE KEY----- was found", *states])[1:] == states
    assert masked(["-----BEGIN PRIVATE KEY-----", *["x"] * MOST_LINES, PEM[1]])[-1] == PEM[1]


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\x00", "\u202e", "\U000e0041"])
@pytest.mark.parametrize("secret", ["AKIAIOSFODNN7EXAMPLE", "password=hunter2hunter2", "ghp_" + "a1" * 18])
def test_what_cannot_be_seen_hides_no_secret(hidden: str, secret: str) -> None:
    for at in range(1, len(secret)):
        told = repr(masked({"line": f"{secret[:at]}{hidden}{secret[at:]}"}))
        assert "[masked: " in told
        assert secret[-6:] not in told
    harmless = f"an ordinary{hidden} line"
    assert masked(harmless) == harmless


@pytest.mark.parametrize("around", [lambda inner: inner, lambda inner: {"password": [inner]}])
def test_two_keys_that_differ_in_a_secret_alone_are_not_made_one(around: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="Two keys"):
        masked(around({"Bearer abcdefghijkl": 1, "Bearer mnopqrstuvwx": 2}))
