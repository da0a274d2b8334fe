"""Every cell of a policy is decided, and every cell that a change lets pass is named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.admission.exhaustive import TooManyCells, check, compare
from gate.admission.program import build
from gate.admission.reducer import decide
from tests.admission.programs import answered, case, enum, level, probe, program, programs, rule, yesno


def labels(question: dict[str, Any], *rules: dict[str, Any]) -> list[str]:
    other = build(program([question], [*rules], otherwise="block"))
    return [one.cell["q"] for one in compare(build(program([question], [], otherwise="allow")), other).changed]


def test_the_cells_of_a_probability_are_its_intervals() -> None:
    assert labels(yesno("q"), rule("r", "block", ("q", "gte", 0.5))) == ["0 to 0.35", "0.65 to 1"]
    assert check(build(program([yesno("q")], [rule("r", "block", ("q", "gte", 0.5))]))).cells == 4
    assert check(build(program([yesno("q")], [rule("r", "block", ("q", "gte", 0.65))]))).cells == 3


def test_the_cells_of_a_choice_are_options_and_bands() -> None:
    assert check(build(program([enum("q"), probe("p", "x", "y")], []))).cells == 3 * 2 * 2
    assert check(build(program([level("q")], [rule("r", "block", ("q", "gte", 2.5))]))).cells == 2 * 2


@settings(max_examples=100, deadline=None)
@given(st.data(), programs())
def test_any_whole_answer_is_decided_like_one_of_the_cells(data: st.DataObject, raw: dict[str, Any]) -> None:
    decision = decide(build(raw), data.draw(answered(raw)))
    checked = check(build(raw))
    assert checked.verdicts[decision.verdict] > 0
    assert decision.rule is None or checked.fired[decision.rule] > 0
    assert sum(checked.verdicts.values()) == checked.cells


@settings(max_examples=100, deadline=None)
@given(st.data(), programs())
def test_whatever_is_newly_allowed_is_in_a_cell_that_is_named(data: st.DataObject, raw: dict[str, Any]) -> None:
    """Thresholds and verdicts are changed; some answers are drawn, and a changed verdict must be among the cells."""
    new = {
        **raw,
        "rules": [{**one, "then": data.draw(st.sampled_from(["allow", "ask", "block"]))} for one in raw["rules"]],
    }
    new["questions"] = [
        {**one, **({"min_confidence": 0.3} if "min_confidence" in one else {})} for one in raw["questions"]
    ]
    answers = data.draw(answered(raw))
    was, becomes = decide(build(raw), answers).verdict, decide(build(new), answers).verdict
    moves = {(one.was.verdict, one.becomes.verdict) for one in compare(build(raw), build(new)).changed}
    assert was == becomes or (was, becomes) in moves


def test_a_lower_threshold_allows_its_band() -> None:
    rules = [rule("r", "allow", ("q", "is", "x"))]
    old, new = program([enum("q", min_confidence=0.9)], rules), program([enum("q", min_confidence=0.7)], rules)
    compared = compare(build(old), build(new))
    assert [one.cell for one in compared.newly("allow")] == [{"q": "x, confidence 0.7 to below 0.9"}]
    assert compared.cells == 3 * 3


def test_an_option_that_is_new_is_asked_by_the_old() -> None:
    rules = [rule("r", "allow", ("q", "in", ["x", "y"]))]
    old, new = (
        program([probe("q", "x", "z")], [rule("r", "allow", ("q", "is", "x"))]),
        program([probe("q", "x", "y")], rules),
    )
    changed = [(one.cell["q"], one.was.verdict, one.becomes.verdict) for one in compare(build(old), build(new)).changed]
    assert changed == [("y", "ask", "allow")]


def test_a_question_that_asks_something_else_is_another_question() -> None:
    old = program([enum("q", text="Which color?")], [rule("r", "block", ("q", "is", "x"))])
    new = program([enum("q", text="Which size?")], [rule("r", "allow", ("q", "is", "x"))])
    compared = compare(build(old), build(new))
    assert compared.cells == 36
    assert set(compared.changed[0].cell) == {"q (old)", "q (new)"}
    assert {one.was.verdict for one in compared.newly("allow")} == {"ask", "block"}


def test_the_same_policy_changes_nothing() -> None:
    built = build(case("dev-r32")["program"])
    assert compare(built, built).changed == ()


def test_what_has_too_many_cells_is_not_half_checked() -> None:
    with pytest.raises(TooManyCells, match="531,441 cells"):
        check(build(program([probe(f"q{number}") for number in range(12)], [])))
