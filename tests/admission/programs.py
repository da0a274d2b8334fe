"""Programs and answers for the tests of admission: recorded cases, and strategies that draw more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

DATA = Path(__file__).parent.parent / "data" / "admission"
VERDICTS = ("allow", "ask", "block")
FRACTIONS = st.integers(0, 20).map(lambda number: number / 20)


def cases(kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (DATA / "cases.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]


def case(name: str) -> dict[str, Any]:
    return next(row for kind in ("reduce", "lint") for row in cases(kind) if row["id"] == name)


def yesno(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "yesno", "text": f"Is {name} so?", "unsure_between": [0.35, 0.65]} | more


def enum(name: str, *options: str, **more: Any) -> dict[str, Any]:
    chosen = dict.fromkeys(options or ("x", "y", "z"), "")
    return {"id": name, "type": "enum", "text": f"Which is {name}?", "options": chosen, "min_confidence": 0.6} | more


def level(name: str, **more: Any) -> dict[str, Any]:
    levels = ["nothing", "a little", "much", "all"]
    return {"id": name, "type": "level", "text": f"How much of {name}?", "levels": levels, "min_confidence": 0.6} | more


def probe(name: str, *options: str) -> dict[str, Any]:
    question = enum(name, *options, by="probe")
    del question["min_confidence"]
    return question


def rule(name: str, then: str, *when: tuple[Any, ...]) -> dict[str, Any]:
    keys = ("q", "op", "value")
    return {"id": name, "then": then, "when": [dict(zip(keys, one, strict=False)) for one in when]}


def program(questions: list[dict[str, Any]], rules: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"questions": questions, "rules": rules, "otherwise": "ask"} | more


@st.composite
def programs(draw: st.DrawFn, *, precheck: bool | None = None) -> dict[str, Any]:
    """Programs whose shape is right; the lints about what the rules reach may still speak."""
    makers = draw(st.lists(st.sampled_from([yesno, enum, level, probe]), min_size=1, max_size=4))
    questions = [draw(thresholds(maker(f"q{number}"))) for number, maker in enumerate(makers)]
    numbers = range(draw(st.integers(0, 4)))
    rules = [rule(f"r{one}", draw(st.sampled_from(VERDICTS)), *draw(conditions(questions))) for one in numbers]
    checked = draw(st.booleans()) if precheck is None else precheck
    return program(questions, rules, otherwise=draw(st.sampled_from(VERDICTS)), precheck_confidence=checked)


def thresholds(question: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The question with another threshold."""
    if "unsure_between" in question:
        bands = st.lists(FRACTIONS, min_size=2, max_size=2, unique=True).map(sorted)
        return bands.map(lambda band: {**question, "unsure_between": band})
    if "min_confidence" in question:
        return FRACTIONS.map(lambda least: {**question, "min_confidence": least})
    return st.just(question)


@st.composite
def conditions(draw: st.DrawFn, questions: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    chosen = draw(st.lists(st.sampled_from(questions), min_size=1, max_size=3))
    return [draw(condition(one)) for one in chosen]


def condition(question: dict[str, Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    name = question["id"]
    if question["type"] == "enum":
        options = st.sampled_from(sorted(question["options"]))
        found = options.map(lambda one: (name, "is", one)) | st.lists(options, min_size=1, max_size=3).map(
            lambda some: (name, "in", some)
        )
    else:
        highest = 1 if question["type"] == "yesno" else 3
        found = st.tuples(st.just(name), st.sampled_from(["gte", "lte"]), FRACTIONS.map(lambda one: one * highest))
    return found if question.get("by") == "probe" else found | st.just((name, "unsure"))


def answer(question: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A whole answer, sure or not."""
    if question["type"] == "yesno":
        return st.fixed_dictionaries({"p": FRACTIONS})
    if question["type"] == "level":
        return st.fixed_dictionaries({"level": FRACTIONS.map(lambda one: one * 3), "confidence": FRACTIONS})
    said = {"value": st.sampled_from(sorted(question["options"]))}
    more = {"by": st.just("probe")} if question.get("by") == "probe" else {"confidence": FRACTIONS}
    return st.fixed_dictionaries({**said, **more})


@st.composite
def answered(draw: st.DrawFn, given: dict[str, Any]) -> dict[str, Any]:
    return {one["id"]: draw(answer(one)) for one in given["questions"]}


ODD_NUMBERS = st.sampled_from(
    [float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), True, False, -0.0, 2**70]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | ODD_NUMBERS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)
