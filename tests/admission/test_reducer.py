"""What holds of every program and every answer: nothing defective passes, and nothing raises."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.admission import program as programs_module
from gate.admission import shape
from gate.admission.lint import lint
from gate.admission.program import VERDICTS, Program
from gate.admission.reducer import decide
from tests.admission.programs import JSON, ODD_NUMBERS, answered, conditions, programs, rule

# Reading a program anew is most of the time of an example.
EXAMPLES = settings(max_examples=150, deadline=None)


def built(raw: dict[str, Any]) -> Program:
    """A program whatever its lint says of what it reaches: these promises hold for all of them."""
    assert not [one for one in shape.check(raw) if one.severity == "error"]
    return programs_module.build(raw)


def is_defective(question: dict[str, Any], answer: Any, is_prechecked: bool) -> bool:
    """The rules of an answer written a second time, as one yes or no."""
    if not isinstance(answer, dict) or answer.get("by", "model") != question.get("by", "model"):
        return True
    if question.get("by") == "probe":
        return not (isinstance(answer.get("value"), str) and answer["value"] in question["options"])
    if question["type"] == "yesno":
        p = answer.get("p")
        low, high = question["unsure_between"]
        return not fits(p, 1) or (is_prechecked and low < p < high)
    value = answer.get("value") if question["type"] == "enum" else answer.get("level")
    if question["type"] == "enum":
        is_odd = not isinstance(value, str) or value not in question["options"]
    else:
        is_odd = not fits(value, len(question["levels"]) - 1)
    confidence = answer.get("confidence")
    return is_odd or not fits(confidence, 1) or (is_prechecked and confidence < question["min_confidence"])


def fits(value: Any, highest: int) -> bool:
    return type(value) in (int, float) and 0 <= value <= highest


def spoilings(answer: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What may become of an answer: something else, a part that is odd or gone, a name almost right, another source."""
    keys = st.sampled_from(sorted(answer))
    odd = st.tuples(keys, JSON | ODD_NUMBERS).map(lambda one: {**answer, one[0]: one[1]})
    without = keys.map(lambda key: {name: part for name, part in answer.items() if name != key})
    source = st.sampled_from(["probe", "model", "", None, True]).map(lambda by: {**answer, "by": by})
    texts = [name for name, part in answer.items() if isinstance(part, str)]
    almost = st.sampled_from([str.upper, lambda text: f"{text} ", lambda text: f" {text}"])
    names = st.tuples(st.sampled_from(texts), almost).map(lambda one: {**answer, one[0]: one[1](answer[one[0]])})
    return st.one_of(JSON, odd, without, source, *([names] if texts else []))


@EXAMPLES
@given(st.data(), programs())
def test_no_defective_answer_is_ever_allowed(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    spoiled = data.draw(st.sampled_from(raw["questions"]))
    answers[spoiled["id"]] = data.draw(spoilings(answers[spoiled["id"]]))
    decision = decide(built(raw), answers)
    wrong = {one["id"] for one in raw["questions"] if is_defective(one, answers[one["id"]], raw["precheck_confidence"])}
    assert {one.q for one in decision.escalations} == wrong
    assert not wrong or (decision.verdict, decision.rule) == ("ask", None)


@EXAMPLES
@given(st.data(), programs())
def test_a_missing_answer_is_asked_about_whatever_the_rules_say(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    gone = data.draw(st.sampled_from(raw["questions"]))["id"]
    del answers[gone]
    decision = decide(built(raw), answers)
    assert decision.verdict == "ask"
    assert ("missing", gone) in {(one.why, one.q) for one in decision.escalations}


@EXAMPLES
@given(st.data(), programs())
def test_the_order_of_answers_does_not_matter(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    shuffled = dict(data.draw(st.permutations(list(answers.items()))))
    assert decide(built(raw), shuffled) == decide(built(raw), answers)


@EXAMPLES
@given(st.data(), programs())
def test_an_answer_that_nobody_asked_for_changes_nothing(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    more = data.draw(st.dictionaries(st.text(min_size=3), JSON, max_size=3))
    assert decide(built(raw), {**more, **answers}) == decide(built(raw), answers)


@EXAMPLES
@given(st.data(), programs())
def test_a_block_rule_on_top_never_allows_more(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    stricter = {**raw, "rules": [rule("top", "block", *data.draw(conditions(raw["questions"]))), *raw["rules"]]}
    before, after = decide(built(raw), answers).verdict, decide(built(stricter), answers).verdict
    assert after == before or after == "block"


@EXAMPLES
@given(st.data(), programs())
def test_the_rule_that_is_named_is_the_first_that_matches(data: st.DataObject, raw: dict[str, Any]) -> None:
    answers = data.draw(answered(raw))
    decision = decide(built(raw), answers)
    if decision.rule is None:
        return
    first = next((one for one in raw["rules"] if all(holds(raw, answers, when) for when in one["when"])), None)
    expected = (first["id"], first["then"]) if first else ("otherwise", raw["otherwise"])
    assert (decision.rule, decision.verdict) == expected


def holds(raw: dict[str, Any], answers: dict[str, Any], when: dict[str, Any]) -> bool:
    """A condition over whole answers, written a second time."""
    question = next(one for one in raw["questions"] if one["id"] == when["q"])
    answer = answers[when["q"]]
    said = next(answer[key] for key in ("value", "p", "level") if key in answer)
    low, high = question.get("unsure_between", (1, 0))
    is_unsure = low < said < high if "p" in answer else answer.get("confidence", 1) < question.get("min_confidence", 0)
    checks: dict[str, Any] = {
        "is": lambda: said == when["value"], "in": lambda: said in when["value"],
        "gte": lambda: said >= when["value"], "lte": lambda: said <= when["value"], "unsure": lambda: is_unsure,
    }  # fmt: skip
    return bool(checks[when["op"]]())


@settings(max_examples=400, deadline=None)
@given(JSON, JSON, JSON, JSON)
def test_it_decides_any_json(program: Any, answers: Any, judged: Any, executed: Any) -> None:
    decision = decide(program, answers, judged_action=judged, executed_action=executed)
    assert decision.verdict in VERDICTS
    assert decision.verdict == "ask" or lint(program) is not None


@settings(max_examples=300, deadline=None)
@given(st.data(), programs())
def test_it_decides_a_program_with_any_part_replaced(data: st.DataObject, raw: dict[str, Any]) -> None:
    """A part of a whole program is made any JSON: it is still decided, and an error decides nothing."""
    broken = json.loads(json.dumps(raw))
    where: Any = broken
    while True:
        key = data.draw(st.sampled_from(sorted(where) if isinstance(where, dict) else range(len(where))))
        if not isinstance(where[key], dict | list) or not where[key] or data.draw(st.booleans()):
            break
        where = where[key]
    where[key] = data.draw(JSON)
    answers = data.draw(answered(raw))
    decision = decide(broken, answers)
    assert decision.verdict in VERDICTS
    assert not any(one.severity == "error" for one in lint(broken)) or decision.rule is None


def nested(depth: int) -> Any:
    found: Any = []
    for _ in range(depth):
        found = [found]
    return found


def test_deep_nesting_is_no_program_and_no_answer() -> None:
    deep = nested(100_000)
    assert decide(deep, {}).verdict == "ask"
    assert decide({"questions": deep}, deep).escalations[0].why == "program"
    assert decide(json.loads('{"questions": [], "rules": [], "otherwise": "allow"}'), deep).verdict == "ask"


def test_what_is_no_json_at_all_is_no_program() -> None:
    for odd in (object(), {1, 2}, b"{}", {"questions": {1, 2}}, {("a",): 1}):
        assert decide(odd, odd).as_json()["escalations"] == [{"q": None, "why": "program"}]
