"""Every recorded case of payments, orders, pipelines, messages and backups gets its verdict, and so do its twins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, twins

RECORDED = cases.names_of(*twins.HYPOTHESES)
# What a tool may leave out, and then says no more with it than without it.
MAY_BE_LEFT_OUT = {"lv_attr", "next_page", "total_count", "next_cursor", "MaxKeys"}


def test_the_recorded_cases_are_there() -> None:
    assert len(RECORDED) == 9


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_case_gets_its_verdict(name: str) -> None:
    case = cases.recorded(name)
    verdict = cases.decide(case)
    assert isinstance(verdict, Pass if case["actual"] == "pass" else Fail), cases.sentences(verdict)


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_an_earned_case_passes(name: str) -> None:
    verdict = cases.decide(twins.EARNED[name]())
    assert isinstance(verdict, Pass), cases.sentences(verdict)


LEAVES = [
    pytest.param(name, ref, steps, value, id=f"{name}:{ref}/{'/'.join(steps)}")
    for name in sorted(twins.EARNED)
    for ref, steps, value in cases.read_leaves(twins.EARNED[name]())
]


@pytest.mark.parametrize(("name", "ref", "steps", "value"), LEAVES)
def test_no_pass_without_a_value_that_was_read(name: str, ref: str, steps: tuple[str, ...], value: Any) -> None:
    case = twins.EARNED[name]()
    if steps[-1] not in MAY_BE_LEFT_OUT:
        assert isinstance(cases.decide(cases.replaced(case, ref, steps, cases.DROP)), Fail)
    if value is not None:
        assert isinstance(cases.decide(cases.replaced(case, ref, steps, None)), Fail)


json_values = st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=True, allow_infinity=True)
any_json = json_values | st.lists(json_values, max_size=2) | st.dictionaries(st.text(), json_values, max_size=2)


@settings(max_examples=300, deadline=None)
@given(leaf=st.sampled_from([leaf.values for leaf in LEAVES]), value=any_json)
def test_no_value_of_another_type_passes(leaf: Any, value: Any) -> None:
    name, ref, steps, was = leaf
    if type(value) is not type(was):
        assert isinstance(cases.decide(cases.replaced(twins.EARNED[name](), ref, steps, value)), Fail)


@settings(max_examples=300, deadline=None)
@given(leaf=st.sampled_from([leaf.values for leaf in LEAVES if type(leaf.values[3]) is str]), value=st.text())
def test_no_other_text_passes(leaf: Any, value: str) -> None:
    """The names of what is only counted or told apart decide nothing; every other text has to be what it is."""
    name, ref, steps, was = leaf
    if value != was and steps[-1] not in ("task_id", "lv_name", "id", "origin", "recipient"):
        assert isinstance(cases.decide(cases.replaced(twins.EARNED[name](), ref, steps, value)), Fail)


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_one_argument_more_is_another_question(name: str) -> None:
    case = twins.EARNED[name]()
    for finding in case["findings"]:
        for key in ("status", "state", "created", "starting_after", "select", "replica"):
            changed = cases.edited(case, cases.put(f"{finding['audit_id']} args {key}", "x"))
            assert isinstance(cases.decide(changed), Fail), (finding, key)


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_a_search_of_mail_shows_none_of_it(name: str) -> None:
    """What arrived in a mailbox says nothing of what did not: warnings about failed backups were refused as spam."""
    case = twins.EARNED[name]()
    for finding in case["findings"]:
        changed = cases.edited(case, cases.put(f"{finding['audit_id']} tool", "mail_search"))
        assert isinstance(cases.decide(changed), Fail)


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_no_answer_about_something_else_does_in_its_place(name: str) -> None:
    case = twins.EARNED[name]()
    others = [make() for make in twins.EARNED.values()]
    strangers = [other for other in others if story(other) != story(case)]
    for finding in case["findings"]:
        for entry in [entry for other in strangers for entry in other["audit"]]:
            changed = cases.edited(case, answered_by(finding["audit_id"], entry))
            assert isinstance(cases.decide(changed), Fail)


def answered_by(ref: str, entry: Any) -> cases.Edit:
    return cases.both(*(cases.put(f"{ref} {key}", entry[key]) for key in ("tool", "args", "result")))


def story(case: Any) -> str:
    """Two of the recorded claims are about one order, and ask for the same refunds of the same charge."""
    name: str = case["incident"]["id"]
    return "PTX-A1" if name in ("CLM-2001", "CLM-2003") else name


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_the_cited_answers_do_not_do_for_each_other(name: str) -> None:
    case = twins.EARNED[name]()
    for finding in case["findings"]:
        for other in case["findings"]:
            if other["fact"] != finding["fact"]:
                entry = cases.entry(case, other["audit_id"])
                assert isinstance(cases.decide(cases.edited(case, answered_by(finding["audit_id"], entry))), Fail)


@settings(max_examples=200, deadline=None)
@given(name=st.sampled_from(sorted(twins.EARNED)), part=st.sampled_from(["args", "result"]), value=any_json)
def test_any_json_in_the_place_of_an_answer_or_a_question_is_decided(name: str, part: str, value: Any) -> None:
    case = twins.EARNED[name]()
    for finding in case["findings"]:
        assert isinstance(cases.decide(cases.edited(case, cases.put(f"{finding['audit_id']} {part}", value))), Fail)


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(sorted(twins.EARNED)), value=any_json)
def test_no_subject_but_its_own_passes(name: str, value: Any) -> None:
    case = twins.EARNED[name]()
    case["incident"]["subject"] = value
    assert isinstance(cases.decide(case), Fail)


def unread_leaves(case: Any) -> list[tuple[str, tuple[str, ...]]]:
    read = {(ref, steps) for ref, steps, _ in cases.read_leaves(case)}
    cited = {finding["audit_id"] for finding in case["findings"]}
    return [
        (entry["id"], steps)
        for entry in case["audit"]
        if entry["id"] in cited
        for steps in leaves(entry["result"], ())
        if (entry["id"], steps) not in read
    ]


def leaves(value: Any, at: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*at, str(key)))
    else:
        yield at


@pytest.mark.parametrize("name", sorted(twins.EARNED))
@settings(max_examples=6, deadline=None)
@given(value=any_json)
def test_what_was_not_read_can_be_anything(name: str, value: Any) -> None:
    case = twins.EARNED[name]()
    before = cases.decide(case).checks
    for ref, steps in unread_leaves(case):
        assert cases.decide(cases.replaced(case, ref, steps, value)).checks == before, (ref, steps)


@pytest.mark.parametrize("name", sorted(twins.EARNED))
def test_the_order_of_keys_entries_and_findings_means_nothing(name: str) -> None:
    case = twins.EARNED[name]()
    turned = turned_round(case)
    turned["findings"] = [*reversed(case["findings"]), *case["findings"]]
    turned["audit"] = [turned_round(entry) for entry in reversed(case["audit"])]
    assert cases.decide(turned).checks == cases.decide(case).checks


def turned_round(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: turned_round(value[key]) for key in reversed(value)}
    return value
