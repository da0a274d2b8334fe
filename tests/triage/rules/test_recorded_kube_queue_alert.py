"""Every recorded case of jobs, workloads, nodes, autoscalers and constant alerts gets the verdict that it earned."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, grown

HYPOTHESES = (
    "transient_failure_recovered", "workload_recovered", "benign_condition", "hpa_limited_by_design", "always_on_alert",
)  # fmt: skip
RECORDED = cases.names_of(*HYPOTHESES)


def test_the_recorded_cases_are_there() -> None:
    assert len(RECORDED) == 14


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_case_gets_its_verdict(name: str) -> None:
    case = cases.recorded(name)
    verdict = cases.decide(case)
    assert isinstance(verdict, Pass if case["actual"] == "pass" else Fail), cases.sentences(verdict)


@pytest.mark.parametrize("name", sorted(grown.EARNED))
def test_an_earned_case_passes(name: str) -> None:
    verdict = cases.decide(grown.EARNED[name]())
    assert isinstance(verdict, Pass), cases.sentences(verdict)


Leaf = tuple[str, str, tuple[str, ...], Any]  # case, entry, path, value
LEAVES: list[Leaf] = [
    (name, ref, steps, value)
    for name in sorted(grown.EARNED)
    for ref, steps, value in cases.read_leaves(grown.EARNED[name]())
    if cases.entry(grown.EARNED[name](), ref)["tool"] in grown.TOOLS
]


def fails_with(leaf: Leaf, value: Any) -> bool:
    name, ref, steps, _ = leaf
    return isinstance(cases.decide(cases.replaced(grown.EARNED[name](), ref, steps, value)), Fail)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: f"{leaf[0]}:{leaf[1]}/{'/'.join(leaf[2])}")
def test_no_pass_without_a_value_that_was_read(leaf: Leaf) -> None:
    if leaf[2][-1] not in grown.MAY_BE_LEFT_OUT and (leaf[0], leaf[2][-1]) not in grown.SAID_TWICE:
        assert fails_with(leaf, cases.DROP)
    if leaf[3] is not None and leaf[2][-1] not in grown.MAY_BE_NULL:
        assert fails_with(leaf, None)


scalars = st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=True, allow_infinity=True)
any_json = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(), scalars, max_size=2)


@settings(max_examples=300, deadline=None)
@given(leaf=st.sampled_from(LEAVES), value=any_json)
def test_no_value_of_another_type_passes(leaf: Leaf, value: Any) -> None:
    is_allowed = value is None and leaf[2][-1] in grown.MAY_BE_NULL
    assert type(value) is type(leaf[3]) or is_allowed or fails_with(leaf, value)


@settings(max_examples=300, deadline=None)
@given(leaf=st.sampled_from([leaf for leaf in LEAVES if type(leaf[3]) is str]), value=st.text(min_size=1))
def test_no_other_text_passes(leaf: Leaf, value: str) -> None:
    assert value == leaf[3] or leaf[0] in grown.HOLD_OTHERS or fails_with(leaf, value)


@pytest.mark.parametrize("text", ["0", "1", "2", "3", "True", "true", "1.0", " 1", "1 ", "NaN"])
def test_a_number_as_text_is_no_number(text: str) -> None:
    for leaf in LEAVES:
        assert type(leaf[3]) not in (int, bool, Decimal) or fails_with(leaf, text)
