"""Approval policies: which can be used, what their digest covers, and which seats approvers leave open."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.writes import policy
from tests.writes.conftest import POLICY

OTHER: dict[str, list[Any]] = {
    "approvers": [{"on_call": 2}, {"admin": 1}, {"admin": 1, "on_call": 1}], "method": ["passkey"],
    "expiry_seconds": [60], "row_cap": [9], "binding": ["touched"], "proposers": [["agent"], ["admin"]],
    "risk": ["high"], "break_glass": [True],
}  # fmt: skip


def test_a_whole_policy_is_taken() -> None:
    policy.check(POLICY)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("approvers", {}), ("approvers", {"viewer": 1}), ("approvers", {"on_call": 0}), ("approvers", {"on_call": 6}),
        ("approvers", {"on_call": True}), ("approvers", 1), ("approvers", {"on_call": 1, "nobody": 1}),
        ("method", "none"), ("method", None), ("expiry_seconds", 0), ("expiry_seconds", 10**9), ("row_cap", 0),
        ("row_cap", 1_001),
        ("row_cap", True), ("row_cap", "10"), ("binding", "loose"), ("proposers", []), ("proposers", "agent"),
        ("proposers", ["agent", "agent"]), ("proposers", ["viewer"]), ("risk", "low"), ("break_glass", 1),
    ],
)  # fmt: skip
def test_a_policy_that_cannot_be_used_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        policy.check({**POLICY, key: value})


@pytest.mark.parametrize("body", [None, [], {}, {**POLICY, "more": 1}, {key: POLICY[key] for key in list(POLICY)[1:]}])
def test_a_policy_has_exactly_its_keys(body: Any) -> None:
    with pytest.raises(ValueError, match="exactly these keys"):
        policy.check(body)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in OTHER.items() for value in values])
def test_the_digest_covers_every_part(key: str, value: Any) -> None:
    assert policy.of({**POLICY, key: value}).digest != policy.of(POLICY).digest


def test_every_key_has_another_value_here() -> None:
    assert set(OTHER) == policy.KEYS


@given(st.permutations(POLICY["proposers"]))
def test_the_order_of_proposers_means_nothing(proposers: list[str]) -> None:
    assert policy.of({**POLICY, "proposers": proposers}).digest == policy.of(POLICY).digest


@given(st.lists(st.sampled_from(["on_call", "admin", "auditor"]), max_size=8))
def test_seats_are_filled_by_their_own_role_alone(roles: list[str]) -> None:
    seats = {"on_call": 2, "admin": 1}
    left = policy.of({**POLICY, "approvers": seats}).open_seats(roles)
    assert left == Counter({role: max(0, n - roles.count(role)) for role, n in seats.items() if n > roles.count(role)})
