"""A status is decided by code: nothing that is missing, open or left over is ever resolved."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics.status import PARTIAL, UNRESOLVED, Code, Reason, Status, because, settle

REASONS = st.lists(st.builds(Reason, st.sampled_from(Code)), max_size=6)
VALUE = st.fractions(max_denominator=1000)


@given(VALUE, REASONS, VALUE, st.frozensets(st.sampled_from(sorted(PARTIAL))))
def test_resolved_has_no_reason_and_no_residual(value, reasons, residual, raised) -> None:
    found = settle(value, reasons, residual=residual, raised=raised)
    assert (found.status == Status.RESOLVED) == (not reasons and not residual)
    assert (found.value is None) == (found.status == Status.UNRESOLVED)
    is_lost = any(reason.code in UNRESOLVED | raised for reason in found.reasons)
    assert is_lost == (found.status == Status.UNRESOLVED)
    assert found.value in (None, value)


@given(REASONS)
def test_a_missing_value_is_unresolved_or_a_fault_of_the_program(reasons) -> None:
    if any(reason.code in UNRESOLVED for reason in reasons):
        assert settle(None, reasons).status == Status.UNRESOLVED
    else:
        with pytest.raises(ValueError, match="no reason says why"):
            settle(None, reasons)


@given(VALUE, REASONS, st.builds(Reason, st.sampled_from(Code)))
def test_one_more_reason_never_raises_a_status(value, reasons, another) -> None:
    order = [Status.UNRESOLVED, Status.PARTIAL, Status.RESOLVED]
    before, after = settle(value, reasons), settle(value, [*reasons, another])
    assert order.index(after.status) <= order.index(before.status)


def test_a_residual_is_shown_and_not_rounded_away() -> None:
    found = settle(Fraction(1), [], residual=Fraction(1, 3 * 10**30))
    assert found.status == Status.PARTIAL
    assert found.reasons == (because(Code.RESIDUAL, amount=Fraction(1, 3 * 10**30)),)
    assert dict(found.reasons[0].parameters) == {"amount": f"1/{3 * 10**30}"}


def test_each_code_is_of_one_status() -> None:
    assert set(Code) == PARTIAL | UNRESOLVED
    assert not PARTIAL & UNRESOLVED
