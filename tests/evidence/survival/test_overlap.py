"""The compatible measure: the recorded cases, and random traces against a slow reader and the package itself."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import evidenceflow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.survival import analyze, blocks, holding
from evidence.survival.growing import GrowingTrace
from tests.evidence.survival import plainly

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = [json.loads(line) for line in (ROOT / "tests/data/survival/golden.jsonl").read_text().splitlines()]


def strict(value: Any) -> Any:
    """A value that is equal only with the same types and the same order of keys."""
    if isinstance(value, dict):
        return [(key, strict(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [strict(inner) for inner in value]
    return type(value), value


def as_handed_in(case: dict[str, Any]) -> Any:
    trace = case["trace"]
    kinds = {
        "list": lambda: trace,
        "raw": lambda: trace,
        "tuple": lambda: tuple(trace),
        "generator": lambda: iter(trace),
        "bytes": lambda: trace.encode(),
        "bytearray": lambda: bytearray(trace.encode()),
    }
    return kinds[case.get("trace_kind", "list")]()


@pytest.mark.parametrize("case", [case for case in GOLDEN if "report" in case], ids=lambda case: case["name"])
def test_a_recorded_trace_gives_the_recorded_report(case: dict[str, Any]) -> None:
    assert strict(analyze(as_handed_in(case))) == strict(case["report"])


@pytest.mark.parametrize("case", [case for case in GOLDEN if "error" in case], ids=lambda case: case["name"])
def test_a_recorded_fault_gives_the_recorded_error(case: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        analyze(as_handed_in(case))
    assert caught.type.__name__ == case["error"]["type"]
    assert all(words in str(caught.value) for words in case["error"]["mentions"])


def test_the_iterator_is_walked_once_and_its_own_error_passes_through() -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield {"type": "user", "content": "x"}
        raise LookupError("the caller's own")

    with pytest.raises(LookupError, match="the caller's own"):
        analyze(failing())


class ByIndex:
    def __getitem__(self, at: int) -> Any:
        raise IndexError


@pytest.mark.parametrize(("trace", "named"), [(ByIndex(), "trace"), (7, "trace"), ({3}, "step 0"), ([None], "step 0")])
def test_what_is_no_trace_is_a_type_error(trace: object, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        analyze(trace)


def test_any_mapping_is_a_step_and_none_is_changed() -> None:
    class Kind(enum.StrEnum):
        RESULT = "tool_result"

    result = {"type": Kind.RESULT, "content": "pool exhausted at noon", "own": [1]}
    answer: UserDict[str, str] = UserDict(type="assistant", content="The pool was exhausted.")
    report = analyze([MappingProxyType(result), answer])
    assert report["final_reused_units"] == 1
    assert result == {"type": "tool_result", "content": "pool exhausted at noon", "own": [1]}


def test_the_first_fault_wins_and_evidence_ids_come_last() -> None:
    twice = {"type": "tool_result", "content": "a b", "evidence_id": "e"}
    with pytest.raises(TypeError, match="step 2"):
        analyze([twice, twice, {"type": "user"}])
    with pytest.raises(ValueError, match="duplicate evidence id: 'evidence-1'"):
        analyze([{**twice, "evidence_id": "evidence-1"}, {"type": "retrieval", "content": ""}])


def test_a_report_needs_neither_settings_nor_django() -> None:
    probe = "import sys; from evidence.survival import analyze; analyze([]); print('django' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


VOCABULARY = [
    "pool",
    "Retry",
    "retry",
    "the",
    "and",
    "it",
    "down",
    "42.5",
    "v1.2-rc",
    "user_id",
    "ﬁle",
    "№",
    "İst",
    "ß",
]
GAPS = [
    " ",
    " ",
    " ",
    " ",
    ". ",
    "! ",
    "\n",
    "\n\n",
    "\r\n \t\r\n",
    "-",
    ".",
    " — ",
    "\u200b",
    "\u00a0",
    "? (",
    "日本。",
]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Text of few words, so that units, phrases and groups meet by chance."""
    parts = draw(st.lists(st.tuples(st.sampled_from(VOCABULARY), st.sampled_from(GAPS)), max_size=14))
    return "".join(word + gap for word, gap in parts)


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Any]:
    kinds = ["user", "system", "tool_call", "assistant", "reasoning", "tool_result", "tool_result", "retrieval"]
    step: dict[str, Any] = {"type": draw(st.sampled_from(kinds)), "content": draw(texts())}
    for key in ("tool", "source"):
        if draw(st.booleans()):
            step[key] = draw(st.sampled_from(["a", "b"]))
    return step


@settings(max_examples=150, deadline=None)
@given(st.lists(steps(), max_size=14), st.sampled_from([0, 2, holding.FEW]))
def test_random_traces_give_what_the_slow_reader_gives(trace: list[dict[str, Any]], few: int) -> None:
    with mock.patch.object(holding, "FEW", few):  # small traces count by bits as well
        assert strict(analyze(trace)) == strict(plainly.report(trace))


@settings(max_examples=150, deadline=None)
@given(st.lists(steps(), max_size=14), st.sampled_from([0, holding.FEW]))
def test_random_traces_give_what_the_package_gives(trace: list[dict[str, Any]], few: int) -> None:
    with mock.patch.object(holding, "FEW", few):
        assert strict(analyze(trace)) == strict(evidenceflow.analyze(trace))


ODD: list[Any] = [None, True, 7, 10**400, 1.5, b"x", [], {"a": [1]}, "", " ", "step-1", "evidence-1", "\ud800", object]


@st.composite
def faulty_steps(draw: st.DrawFn) -> object:
    """A step of which a few keys are missing, of another type, or there twice."""
    step = draw(steps())
    for key in draw(st.lists(st.sampled_from(["type", "content", "id", "tool", "source", "evidence_id"]), max_size=2)):
        if draw(st.integers(0, 5)):
            step[key] = draw(st.sampled_from(ODD))
        else:
            step.pop(key, None)
    return step if draw(st.integers(0, 9)) else draw(st.sampled_from([None, 7, "user", [("type", "user")]]))


@settings(max_examples=150, deadline=None)
@given(st.lists(faulty_steps(), max_size=5))
def test_a_fault_is_the_package_s_by_type_and_in_words(trace: list[Any]) -> None:
    assert outcome(analyze, trace) == outcome(evidenceflow.analyze, trace)


def outcome(measured: Callable[[Any], dict[str, Any]], trace: object) -> Any:
    """The report, or what is raised, in a form that compares types as well."""
    try:
        return strict(measured(trace))
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("trace", [None, 7, "text", b"bytes", ByIndex(), {3}, {"a": 1}, bytearray(b"x")])
def test_what_is_no_trace_is_refused_in_the_package_s_words(trace: object) -> None:
    assert outcome(analyze, trace) == outcome(evidenceflow.analyze, trace)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps(), max_size=10), st.sampled_from([1, 3, blocks.SIZE]))
def test_a_growing_trace_has_the_report_of_its_steps_so_far(trace: list[dict[str, Any]], size: int) -> None:
    growing = GrowingTrace()
    with mock.patch("evidence.survival.growing.SIZE", size):  # small traces have several blocks as well
        for number, step in enumerate(trace):
            growing.append(step)
            assert strict(growing.report()) == strict(analyze(trace[: number + 1]))


def test_of_two_answers_only_the_last_is_final() -> None:
    evidence = {"type": "tool_result", "content": "Pool exhausted now. Queue blocked now."}
    answers = ["The pool is exhausted.", "The queue is blocked and the pool exhausted.", "Queue blocked.", "Nothing."]
    growing, trace = GrowingTrace(), [evidence, *({"type": "assistant", "content": answer} for answer in answers)]
    finals = []
    for number, step in enumerate(trace):
        growing.append(step)
        finals.append(growing.report()["final_reused_units"])
        assert strict(growing.report()) == strict(analyze(trace[: number + 1]))
    assert finals == [0, 1, 2, 1, 0]


def test_a_growing_trace_leaves_out_what_it_refuses() -> None:
    growing = GrowingTrace()
    kept = [{"type": "tool_result", "content": "pool exhausted", "evidence_id": "e", "id": "x"}]
    growing.append(kept[0])
    refused = [{"type": "user", "id": "y"}, {**kept[0], "id": "z"}, {"type": "user", "content": "", "id": "x"}, 7]
    for step in refused:
        with pytest.raises((TypeError, ValueError)):
            growing.append(step)
    for step_id in ("y", "z"):
        kept.append({"type": "tool_result", "content": "pool exhausted", "id": step_id})
        growing.append(kept[-1])
    assert strict(growing.report()) == strict(analyze(kept))


@given(st.text())
def test_any_text_is_cut_into_the_same_units(text: str) -> None:
    trace = [{"type": "retrieval", "content": text}, {"type": "assistant", "content": text[::2]}]
    assert strict(analyze(trace)) == strict(plainly.report(trace))
