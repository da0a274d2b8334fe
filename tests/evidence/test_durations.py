"""Counts of durations add up, and a quantile of them is near the true one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import durations

TIMES = st.lists(st.integers(0, 10_000), min_size=1, max_size=60)


def counted(times: list[int]) -> list[int]:
    counts = durations.none()
    for one in times:
        counts[durations.place(one)] += 1
    return counts


@given(TIMES, st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_lies_in_the_true_ones_bounds(times: list[int], share: float) -> None:
    position = max(0, -(-int(len(times) * share * 100) // 100) - 1)
    true = sorted(times)[min(position, len(times) - 1)]
    told = durations.quantile(counted(times), share)
    assert told is not None
    bounds = (0, *durations.BOUNDS)
    # The quantile's own count, or the neighbor that begins where it ends.
    assert abs(durations.place(told) - durations.place(true)) <= 1 or told in bounds


@given(TIMES, TIMES)
def test_rows_add_up(one: list[int], other: list[int]) -> None:
    assert durations.added(counted(one), counted(other)) == counted([*one, *other])


def test_no_call_has_no_quantile_and_the_longest_are_said_as_the_last_bound() -> None:
    assert durations.quantile(durations.none(), 0.5) is None
    assert durations.quantile(counted([60_000]), 0.95) == 10_000


def test_a_row_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="22 counts"):
        durations.added([1], durations.none())
