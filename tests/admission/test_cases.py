"""Every case of the data set, through the function, and what its notes leave open."""

from __future__ import annotations

from typing import Any

import pytest

from gate.admission.lint import lint
from gate.admission.reducer import Decision, decide
from tests.admission.programs import case, cases, enum, level, probe, program, rule, yesno


def escalations(decision: Decision) -> set[tuple[str | None, str]]:
    return {(one.q, one.why) for one in decision.escalations}


@pytest.mark.parametrize("row", cases("reduce"), ids=lambda row: row["id"])
def test_it_decides_as_the_case_says(row: dict[str, Any]) -> None:
    decision = decide(
        row["program"], row["answers"], judged_action=row.get("judged_action"),
        executed_action=row.get("executed_action"),
    )  # fmt: skip
    expect = row["expect"]
    assert (decision.verdict, decision.rule) == (expect["verdict"], expect["rule"])
    assert escalations(decision) == {(one["q"], one["why"]) for one in expect["escalations"]}


@pytest.mark.parametrize("row", cases("lint"), ids=lambda row: row["id"])
def test_it_finds_what_the_case_says(row: dict[str, Any]) -> None:
    assert {tuple(one) for one in lint(row["program"])} == {tuple(one) for one in row["expect"]["findings"]}


ENUM, LEVEL, YESNO, PROBE = enum("q"), level("q"), yesno("q"), probe("q")
SURE = {"value": "x", "confidence": 0.9}


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        (ENUM, {}, {"malformed"}),
        (ENUM, [], {"malformed"}),
        (ENUM, 0, {"malformed"}),
        (ENUM, "", {"malformed"}),
        (ENUM, False, {"malformed"}),
        (ENUM, {"value": None, "confidence": 0.9}, {"malformed"}),
        (ENUM, {"value": True, "confidence": 0.9}, {"malformed"}),
        (ENUM, {"value": "x ", "confidence": 0.9}, {"out_of_enum"}),
        (ENUM, {"value": "", "confidence": 0.9}, {"out_of_enum"}),
        (ENUM, {"value": "X", "confidence": 0.9}, {"out_of_enum"}),
        (ENUM, {"value": "x", "confidence": "0.9"}, {"malformed"}),
        (ENUM, {"value": "x", "confidence": True}, {"malformed"}),
        (ENUM, {"value": "x", "confidence": None}, {"malformed"}),
        (ENUM, {"value": "x", "confidence": float("nan")}, {"malformed"}),
        (ENUM, {"value": "x", "confidence": 1.01}, {"out_of_range"}),
        (ENUM, {"value": "x", "confidence": -0.01}, {"out_of_range"}),
        (ENUM, {"value": "x", "confidence": float("inf")}, {"out_of_range"}),
        (ENUM, {"value": "x", "confidence": 10**400}, {"out_of_range"}),
        (ENUM, {"value": "x", "confidence": 0.6}, set()),
        (ENUM, {"value": "x", "confidence": 0.5999}, {"low_confidence"}),
        (ENUM, {"value": "w", "confidence": 0.1}, {"out_of_enum", "low_confidence"}),
        (ENUM, {"value": 1, "confidence": 2}, {"malformed", "out_of_range"}),
        (ENUM, {"value": "x"}, {"malformed"}),
        (ENUM, {**SURE, "by": "model"}, set()),
        (ENUM, {**SURE, "by": "probe"}, {"wrong_source"}),
        (ENUM, {**SURE, "by": None}, {"wrong_source"}),
        (ENUM, {**SURE, "by": "human"}, {"wrong_source"}),
        (ENUM, {**SURE, "by": ["model"]}, {"wrong_source"}),
        (ENUM, {"abstain": True, "why": "I cannot see it"}, {"missing"}),
        (ENUM, {"abstain": True}, {"missing"}),
        (ENUM, {**SURE, "abstain": True}, {"missing"}),
        (ENUM, {**SURE, "abstain": False}, set()),
        (ENUM, {**SURE, "abstain": 1}, {"malformed"}),
        (ENUM, {**SURE, "abstain": "no"}, {"malformed"}),
        (ENUM, {**SURE, "probabilities": {"x": 0.9}}, set()),
        (enum("q", min_confidence=0.0), {"value": "x", "confidence": 0}, set()),
        (YESNO, {"p": float("nan")}, {"malformed"}),
        (YESNO, {"p": None}, {"malformed"}),
        (YESNO, {"p": [0.9]}, {"malformed"}),
        (YESNO, {"value": 0.9}, {"malformed"}),
        (YESNO, {"p": -1e-9}, {"out_of_range"}),
        (YESNO, {"p": -0.0}, set()),
        (YESNO, {"p": 1}, set()),
        (YESNO, {"p": 0.35}, set()),
        (YESNO, {"p": 0.3500001}, {"low_confidence"}),
        (YESNO, {"p": 0.5}, {"low_confidence"}),
        (LEVEL, {"level": 3, "confidence": 1}, set()),
        (LEVEL, {"level": 3.0001, "confidence": 1}, {"out_of_range"}),
        (LEVEL, {"level": -0.1, "confidence": 1}, {"out_of_range"}),
        (LEVEL, {"level": True, "confidence": 1}, {"malformed"}),
        (LEVEL, {"level": "much", "confidence": 1}, {"malformed"}),
        (LEVEL, {"level": 1}, {"malformed"}),
        (LEVEL, {"level": 1, "confidence": 0.2}, {"low_confidence"}),
        (PROBE, {"value": "x", "by": "probe"}, set()),
        (PROBE, {"value": "x", "by": "probe", "confidence": 0.1}, set()),
        (PROBE, {"value": "x"}, {"wrong_source"}),
        (PROBE, {"value": "x", "by": "PROBE"}, {"wrong_source"}),
        (PROBE, {"value": "w", "by": "probe"}, {"out_of_enum"}),
        (PROBE, {"value": ["x"], "by": "probe"}, {"malformed"}),
        (PROBE, {"abstain": True, "why": "timed out"}, {"missing"}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer(question: dict[str, Any], answer: Any, why: set[str]) -> None:
    given = program([question], [])
    assert escalations(decide(given, {"q": answer})) == {("q", one) for one in why}


def test_a_probe_says_yes_or_no_as_a_probe_does() -> None:
    question = {"id": "q", "type": "yesno", "text": "Is it so?", "by": "probe"}
    given = program([question], [rule("r", "block", ("q", "gte", 0.5))])
    assert decide(given, {"q": {"value": True, "by": "probe"}}).rule == "r"
    assert decide(given, {"q": {"value": False, "by": "probe"}}).rule == "otherwise"
    assert decide(given, {"q": {"p": 1, "by": "probe"}}).rule == "r"
    assert escalations(decide(given, {"q": {"p": True, "by": "probe"}})) == set()
    assert escalations(decide(given, {"q": {"p": 1, "value": False, "by": "probe"}})) == {("q", "malformed")}
    assert escalations(decide(given, {"q": {"value": "true", "by": "probe"}})) == {("q", "malformed")}


def test_whoever_abstains_says_why() -> None:
    decision = decide(program([ENUM], []), {"q": {"abstain": True, "why": "the file is gone"}})
    assert [(one.why, one.reason) for one in decision.escalations] == [("missing", "the file is gone")]
    assert decision.as_json()["escalations"] == [{"q": "q", "why": "missing"}]


ACTION = "sha256:aa11"


@pytest.mark.parametrize(
    ("judged", "executed", "is_void"),
    [
        (None, None, False), (ACTION, ACTION, False), (ACTION, "sha256:bb22", True), (ACTION, "sha256:AA11", True),
        (ACTION, ACTION + " ", True), (ACTION, None, True), (None, ACTION, True), ("", "", True), (1, 1, True),
        (1, True, True), ([ACTION], [ACTION], True), (False, False, True),
    ],
)  # fmt: skip
def test_evidence_about_another_action_is_void(judged: Any, executed: Any, is_void: bool) -> None:
    given = program([ENUM], [rule("r", "allow", ("q", "is", "x"))])
    decision = decide(given, {"q": SURE}, judged_action=judged, executed_action=executed)
    assert (decision.verdict, decision.rule) == (("ask", None) if is_void else ("allow", "r"))
    assert escalations(decision) == ({(None, "action_changed")} if is_void else set())


def test_another_action_is_listed_beside_what_is_wrong_with_the_answers() -> None:
    decision = decide(program([ENUM], []), {}, judged_action="a", executed_action="b")
    assert escalations(decision) == {(None, "action_changed"), ("q", "missing")}


@pytest.mark.parametrize("answers", [None, [], "q", 1, True, [["q", SURE]], {"Q": SURE}, {"q ": SURE}])
def test_answers_that_are_none_are_missing(answers: Any) -> None:
    decision = decide(program([ENUM], [], otherwise="allow"), answers)
    assert escalations(decision) == {("q", "missing")}


BROKEN = [
    case(name)["program"] for name in ("dev-l01", "dev-l04", "dev-l08", "dev-l10", "dev-l13", "dev-l14", "dev-l18")
]


@pytest.mark.parametrize(
    "given",
    [
        None, [], "allow", 1, True, {}, {"questions": []}, {"questions": {}, "rules": [], "otherwise": "allow"},
        program([], [], otherwise="allow"), program([ENUM], [], otherwise="Allow"),
        program([ENUM], [], otherwise=["ask"]),
        program([ENUM], [], precheck_confidence=0), program([ENUM], [], precheck_confidance=True),
        program([{**ENUM, "min_confidance": 0.9}], []), program([ENUM], [rule("r", "permit", ("q", "is", "x"))]),
        program([ENUM], [{"id": "r", "then": "allow"}]), program([ENUM], [rule("r", "allow", ("q", "in", "x"))]),
        program([ENUM], [rule("r", "allow", ("q", "in", []))]),
        program([ENUM], [rule("otherwise", "allow", ("q", "is", "x"))]),
        *BROKEN,
    ],
)  # fmt: skip
def test_a_program_with_an_error_decides_nothing(given: Any) -> None:
    decision = decide(given, {"q": SURE})
    assert (decision.verdict, decision.rule) == ("ask", None)
    assert escalations(decision) == {(None, "program")}


def test_a_warning_does_not_stop_a_program() -> None:
    given = program([enum("q", text="Which is it, unless it is gone?")], [rule("r", "allow", ("q", "is", "x"))])
    assert [one.severity for one in lint(given)] == ["warn"]
    assert decide(given, {"q": SURE}).verdict == "allow"


def test_a_changed_program_is_read_anew() -> None:
    given = program([ENUM], [rule("r", "allow", ("q", "is", "x"))])
    assert decide(given, {"q": SURE}).verdict == "allow"
    given["rules"][0]["then"] = "block"
    assert decide(given, {"q": SURE}).verdict == "block"
