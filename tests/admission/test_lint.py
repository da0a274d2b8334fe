"""What lint finds, what it leaves alone, and that it finds something in any JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from gate.admission.boxes import Space
from gate.admission.exhaustive import check
from gate.admission.lint import lint
from gate.admission.program import build
from tests.admission.programs import JSON, case, enum, level, probe, program, programs, rule, yesno


def found(raw: Any) -> set[tuple[str, str, str]]:
    return {tuple(one) for one in lint(raw)}


def of_question(question: dict[str, Any]) -> set[tuple[str, str]]:
    """What is found of a question, beside that no rule reads it."""
    return {(code, severity) for code, _, severity in found(program([question], [])) if code != "unread_question"}


def of_rule(one: dict[str, Any], *questions: dict[str, Any]) -> set[str]:
    return {code for code, _, severity in found(program([*questions], [one])) if severity == "error"}


def says(text: str) -> set[str]:
    return {code for code, _ in of_question(yesno("q", text=text))}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Would a reviewer BLOCK this?", {"verdict_word"}),
        ("Would a reviewer ｂｌｏｃｋ this?", {"verdict_word"}),
        ("Would a reviewer bl\u200bock this?", {"verdict_word"}),
        ("Did a person ask for it?", set()),
        ("Is the path in permission_allowlist?", set()),
        ("Was it blocked, denied or allowed before?", set()),
        ("What should the harness do?", {"verdict_framing"}),
        ("Which action fits?", {"verdict_framing"}),
        ("What action should be taken?", {"verdict_framing"}),
        ("Decide  whether\nto stop it.", {"verdict_framing"}),
        ("Which team should handle this?", set()),
        ("Did the user authorize this, or did it go further than asked?", {"compound"}),
        ("Does it write, or whether it reads?", {"compound"}),
        ("Does it write and does it delete files?", {"compound"}),
        ("Is it a config file and also tracked?", {"compound"}),
        ("Does it write? Does it delete?", {"compound"}),
        ("Is it a secret, or a key?", {"compound"}),
        ("Is it a config file, a lock or a cache, or should it be ignored?", set()),
        ("Does it delete a file, except under test/?", {"carve_out"}),
        ("Does it commit unless the user asked?", {"carve_out"}),
        ("Does it change anything other than tests?", {"carve_out"}),
        ("Is this an exceptional case?", set()),
        ("Does the path match *.env?", {"pattern_in_text"}),
        ("Is anything below src/* changed?", {"pattern_in_text"}),
        ("Does it match .*secret?", {"pattern_in_text"}),
    ],
)
def test_the_words_of_a_question(text: str, codes: set[str]) -> None:
    assert says(text) == codes


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        (enum("q", "allow_it", "leave"), {"verdict_word"}),
        ({**enum("q", "x", "y"), "options": {"x": "they would deny it", "y": ""}}, {"verdict_word"}),
        (level("q", levels=["let it be", "approve"]), {"verdict_word"}),
        (enum("q", "Permit", "Refuse", "quarantine"), {"verdict_options"}),
        (enum("q", "pass", "fail", "unknown", "skipped"), {"verdict_options"}),
        (enum("q", "pass", "retry"), set()),
        (level("q", levels=["permit", "warn", "halt"]), {"verdict_options"}),
        (enum("q", "x"), {"too_few_options"}),
        ({"id": "q", "type": "enum", "text": "Which?"}, {"too_few_options"}),
        (level("q", levels=["one"]), {"too_few_levels"}),
        (level("q", levels=[f"step {chr(97 + n)}" for n in range(11)]), {"too_many_levels"}),
        (level("q", levels=[f"step {chr(97 + n)}" for n in range(10)]), set()),
        (level("q", levels=["severity = 0", "Severity = 1"]), {"undescribed_levels"}),
        (level("q", levels=["nothing", " ", "all"]), {"undescribed_levels"}),
        (level("q", levels=["nothing", None, "all"]), {"undescribed_levels"}),
        (level("q", levels=["fewer than 10 rows", "fewer than 100 rows", "the table"]), set()),
        (yesno("q", type="boolean"), {"unknown_type"}),
        (yesno("q", type=["yesno"]), {"unknown_type"}),
        (yesno("q", by="human"), {"unknown_source"}),
        (yesno("q", min_confidence=0.5), {"threshold_kind"}),
        (enum("q", unsure_between=[0.1, 0.2]), {"threshold_kind"}),
        ({**probe("q"), "min_confidence": 0.5}, {"threshold_kind"}),
        (yesno("q", unsure_between=[0.65, 0.35]), {"threshold_range"}),
        (yesno("q", unsure_between=[0.5, 0.5]), {"threshold_range"}),
        (yesno("q", unsure_between=[0.1, 1.1]), {"threshold_range"}),
        (yesno("q", unsure_between=[0.1]), {"threshold_range"}),
        (yesno("q", unsure_between=[False, True]), {"threshold_range"}),
        (yesno("q", unsure_between=None), {"threshold_range"}),
        (yesno("q", unsure_between="0.1"), {"threshold_range"}),
        (enum("q", min_confidence=1.5), {"threshold_range"}),
        (enum("q", min_confidence="0.5"), {"threshold_range"}),
        (enum("q", min_confidence=True), {"threshold_range"}),
        (enum("q", min_confidence=float("nan")), {"threshold_range"}),
        (yesno("q", unsure_betwen=[0.1, 0.2]), {"unknown_key"}),
        (yesno("q", text=" "), {"no_text"}),
        (yesno("q", text=["Is it?"]), {"no_text"}),
        (yesno("q", options={"x": "", "y": ""}), {"malformed"}),
        ({**enum("q"), "options": ["x", "y"]}, {"malformed"}),
        ({**enum("q"), "options": {"x": 1, "y": ""}}, {"malformed"}),
        (yesno("q", source={"text": "Never push.", "place": "AGENTS.md 12"}), set()),
        (yesno("q", source="AGENTS.md"), {"unreadable_source"}),
        (yesno("q", source={"text": ["Never push."]}), {"unreadable_source"}),
        (yesno("q", remark="seen by Ada"), {"unknown_key"}),
        ({**enum("q"), "options": {"x": None, "y": ""}}, set()),
        (yesno("q", depends_on=["q"]), {"dependent"}),
        (yesno("q", depends_on="q"), {"dependent"}),
        (yesno("q", depends_on=["p"]), {"dependent", "unknown_question"}),
        (yesno("q", depends_on=[1]), {"malformed"}),
        (yesno(""), {"malformed"}),
    ],
)  # fmt: skip
def test_what_is_found_of_a_question(question: dict[str, Any], codes: set[str]) -> None:
    assert {code for code, _ in of_question(question)} == codes


def test_what_only_makes_a_question_worse_is_a_warning() -> None:
    warned = {"compound", "carve_out", "pattern_in_text", "undescribed_levels", "dependent"}
    worse = yesno("q", text="Is *.env there? Is it, unless gone?", depends_on=["q"])
    questions = [*of_question(worse), *of_question(level("q", levels=["level 0", "level 1"]))]
    assert {code for code, severity in questions if severity == "warn"} == warned


@pytest.mark.parametrize(
    ("one", "codes"),
    [
        (rule("r", "allow"), {"empty_when"}),
        ({"id": "r", "then": "allow", "when": {"q": "e"}}, {"empty_when"}),
        ({"id": "r", "then": "allow"}, {"empty_when"}),
        (rule("r", "permit", ("e", "is", "x")), {"unknown_verdict"}),
        (rule("r", "Allow", ("e", "is", "x")), {"unknown_verdict"}),
        ({"id": "r", "when": [{"q": "e", "op": "is", "value": "x"}]}, {"unknown_verdict"}),
        (rule("otherwise", "ask", ("e", "is", "x")), {"reserved_id"}),
        (rule("r", "ask", ("nobody", "is", "x")), {"unknown_question"}),
        (rule("r", "ask", (["e"], "is", "x")), {"unknown_question"}),
        (rule("r", "ask", ("e", "eq", "x")), {"unknown_op"}),
        (rule("r", "ask", ("e", ["is"], "x")), {"unknown_op"}),
        (rule("r", "ask", ("e", "is", "w")), {"unknown_option"}),
        (rule("r", "ask", ("e", "is", ["x"])), {"unknown_option"}),
        (rule("r", "ask", ("e", "in", ["x", "w"])), {"unknown_option"}),
        (rule("r", "ask", ("e", "in", "xy")), {"malformed"}),
        (rule("r", "ask", ("e", "in", [])), {"malformed"}),
        (rule("r", "ask", ("e", "gte", 0.5)), {"op_type"}),
        (rule("r", "ask", ("y", "is", "yes")), {"op_type"}),
        (rule("r", "ask", ("l", "in", ["much"])), {"op_type"}),
        (rule("r", "ask", ("p", "unsure")), {"op_type"}),
        (rule("r", "ask", ("y", "unsure", 0.5)), {"malformed"}),
        (rule("r", "ask", ("y", "gte", 1.1)), {"threshold_range"}),
        (rule("r", "ask", ("y", "gte", "0.5")), {"threshold_range"}),
        (rule("r", "ask", ("y", "lte", True)), {"threshold_range"}),
        (rule("r", "ask", ("y", "lte", float("nan"))), {"threshold_range"}),
        (rule("r", "ask", ("l", "gte", 3)), set()),
        (rule("r", "ask", ("l", "gte", 3.5)), {"threshold_range"}),
        (rule("r", "ask", ("y", "gte", 0.5)) | {"unless": []}, {"unknown_key"}),
        ({"id": "r", "then": "ask", "when": ["q"]}, {"malformed"}),
        ({"then": "ask", "when": [{"q": "e", "op": "is", "value": "x"}]}, {"malformed"}),
    ],
)  # fmt: skip
def test_what_is_found_of_a_rule(one: dict[str, Any], codes: set[str]) -> None:
    assert of_rule(one, enum("e"), yesno("y"), level("l"), probe("p")) == codes


def test_the_program_itself() -> None:
    e = enum("e")
    assert found(program([e], [], otherwise=None)) >= {("no_otherwise", "otherwise", "error")}
    assert found(program([e], [], otherwise="")) >= {("unknown_verdict", "otherwise", "error")}
    assert found(program([e], [], must_reach=["never"])) >= {("unknown_verdict", "verdict:never", "error")}
    assert found(program([e, e], [])) >= {("duplicate_question", "q:e", "error")}
    twice = [rule("r", "ask", ("e", "is", "x")), rule("r", "ask", ("e", "is", "y"))]
    assert found(program([e], twice)) == {("duplicate_rule", "r:r", "error")}
    assert found(program([e], [])) == {("unread_question", "q:e", "warn")}
    assert found([]) == {("not_an_object", "program", "error")}


def test_too_many_to_be_read_whole_is_a_warning() -> None:
    questions = [enum(f"q{number}", "x", "y") for number in range(7)]
    rules = [rule(f"r{n}", "ask", (f"q{n}", "is", "x")) for n in range(7)]
    assert found(program(questions, rules)) == {("many_questions", "program", "warn")}
    assert found(program(questions[:6], rules[:6])) == set()
    options = [chr(97 + number) for number in range(14)]
    one = enum("q", *options)
    assert found(program([one], [rule(f"r{n}", "ask", ("q", "is", n)) for n in options[:13]])) == {
        ("many_rules", "program", "warn")
    }


def test_a_remark_is_a_warning_and_a_mistyped_key_an_error() -> None:
    e, r = enum("e"), rule("r", "ask", ("e", "is", "x"))
    for more in ({"remark": "seen by Ada"}, {"owner": 1}):
        assert found(program([{**e, **more}], [r])) == {("unknown_key", "q:e", "warn")}
        assert found(program([e], [r], **more)) == {("unknown_key", "program", "warn")}
        assert found(program([e], [{**r, **more}])) == {("unknown_key", "r:r", "error")}
    for more in ({"min_confidance": 0.9}, {"unsure_betwen": [0.1, 0.9]}, {"minConfidence": 0.9}, {"optons": {}}):
        assert ("unknown_key", "q:e", "error") in found(program([{**e, **more}], [r]))
    for more in ({"precheck_confidense": True}, {"other_wise": "ask"}, {"must_reached": []}):
        assert ("unknown_key", "program", "error") in found(program([e], [r], **more))


def test_two_earlier_rules_together_hide_a_third() -> None:
    rules = [
        rule("high", "block", ("y", "gte", 0.5)),
        rule("low", "ask", ("y", "lte", 0.5)),
        rule("hidden", "allow", ("e", "is", "x")),
    ]
    assert found(program([yesno("y"), enum("e")], rules)) == {("shadowed_rule", "r:hidden", "error")}


def test_a_verdict_only_of_hidden_or_impossible_rules_is_unreachable() -> None:
    impossible = [rule("never", "block", ("e", "is", "x"), ("e", "is", "y"))]
    assert found(program([enum("e")], impossible, must_reach=["block"])) == {
        ("verdict_unreachable", "verdict:block", "error")
    }
    doubtful = [rule("unsure", "block", ("e", "unsure"))]
    assert found(program([enum("e")], doubtful, must_reach=["block"])) == {
        ("verdict_unreachable", "verdict:block", "error")
    }
    assert found(program([enum("e")], doubtful, must_reach=["block"], precheck_confidence=False)) == set()


ALLOW, UNSURE = rule("a", "allow", ("y", "lte", 0.5)), rule("u", "ask", ("y", "unsure"))
EARLY = {("allow_before_escalation", "q:y", "error")}


@pytest.mark.parametrize(
    ("rules", "more", "early"),
    [
        ([ALLOW], {}, True),
        ([ALLOW, UNSURE], {}, True),
        ([UNSURE, ALLOW], {}, False),
        ([ALLOW], {"precheck_confidence": True}, False),
        ([rule("a", "allow", ("y", "lte", 0.35))], {}, False),  # whoever says so is sure
        ([rule("b", "block", ("y", "gte", 0.8))], {"otherwise": "allow"}, True),
        ([UNSURE, rule("b", "block", ("y", "gte", 0.8))], {"otherwise": "allow"}, False),
        ([rule("b", "block", ("y", "gte", 0.2)), ALLOW], {}, False),  # what is unsure was blocked
    ],
)
def test_doubt_is_asked_about_before_anything_is_allowed(rules: Any, more: dict[str, Any], early: bool) -> None:
    raw = program([yesno("y")], rules, **{"precheck_confidence": False} | more)
    assert found(raw) == (EARLY if early else set())


def test_a_program_that_names_the_doubts_that_matter_is_left_so() -> None:
    assert found(case("dev-r24")["program"]) == set()


@settings(max_examples=400, deadline=None)
@given(JSON)
def test_it_finds_something_in_any_json(raw: Any) -> None:
    assert any(one.severity == "error" for one in lint(raw))


@settings(max_examples=150, deadline=None)
@given(programs(precheck=False))
def test_a_rule_is_shadowed_when_no_cell_leads_to_it(raw: dict[str, Any]) -> None:
    """The boxes of the lint and the enumeration of every cell are two ways to the same answer."""
    built = build(raw)
    space = Space(built)
    fired = check(built).fired
    hidden = {at for code, at, _ in lint(raw) if code == "shadowed_rule"}
    possible = {one.id for one in built.rules if space.box(one.when) is not None}
    assert hidden == {f"r:{name}" for name in possible if not fired[name]}


def test_what_nobody_waits_for_is_refused_at_once() -> None:
    y, large = yesno("y"), {("too_large", "program", "error")}
    many = [rule(f"r{number}", "ask", ("y", "gte", number / 1000)) for number in range(1000, 0, -1)]
    assert found(program([y], many)) == large
    assert found(program([yesno(f"q{number}") for number in range(201)], [])) == large
    assert found(program([y], [rule("r", "ask", *[("y", "gte", 0.5)] * 1001)])) == large
    assert found(program([y], many[:200])) == {("many_rules", "program", "warn")}


def test_rules_that_overlap_in_too_many_ways_are_refused_in_a_moment() -> None:
    questions = [enum(f"q{number}", *"abcdefgh") for number in range(14)]

    def condition(n: int, k: int) -> tuple[str, str, list[str]]:
        return (f"q{(n * 5 + k) % 14}", "in", ["abcdefgh"[(n + k + i) % 8] for i in range(5)])

    rules = [rule(f"r{n}", "ask", *(condition(n, k) for k in range(9))) for n in range(100)]
    assert ("too_many_overlaps", "program", "error") in found(program(questions, rules))
