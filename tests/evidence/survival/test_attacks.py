"""Huge, nested and lying traces: each is measured in a time that its size explains, or refused in a sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.survival.fields import MOST_STEPS_MET, analyze_finer
from evidence.survival.formats import read_trace
from evidence.survival.formats.collected import TraceError
from evidence.survival.grounding import MOST_FACTS, UNSUPPORTED, ground, ground_values
from evidence.survival.known import Source
from evidence.survival.lighting import Span, lit, merged, segments
from evidence.survival.measuring import measure

Steps = list[dict[str, Any]]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Processor time: others work on the machine as well."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def run(*texts: str, answer: str = "It ended.") -> Steps:
    read = [{"type": "tool_result", "tool": f"t{at}", "content": text} for at, text in enumerate(texts)]
    return [*read, {"type": "assistant", "content": answer}]


LINE = "worker-node-05 pool exhausted in 28112 ms at 09:12:01"
HEAVY = {
    "one line again and again": run("\n".join([LINE] * 1_500), answer="\n".join([LINE] * 1_500)),
    "results and answers by turns": [
        {"type": "tool_result" if at % 2 else "reasoning", "content": f"{LINE} {at}"} for at in range(600)
    ],
    "a line without an end": run("pool exhausted again " * 5_000, answer="pool exhausted again " * 300),
    "one word": run("a" * 300_000, answer="a" * 300_000),
    "many numbers": run(json.dumps(list(range(1_000, 9_000))), answer=", ".join(map(str, range(30_000, 30_600)))),
    "many names": run(" ".join(f"host-{at}.local" for at in range(20_000)),
                      answer=" ".join(f"node-{at}.local" for at in range(600))),
    "one name in longer ones": run("web-1-x " * 50_000, answer="web-1 " * 600),
    "many moments": run("\n".join(f"2026-03-04T09:{at % 60:02}:00.{at:05}Z" for at in range(4_000)),
                        answer=" ".join(f"10:{at % 60:02}:{at % 59:02}" for at in range(600))),
    "many shares": run("\n".join(f"{at} of {at + 7} failed, {at + 3} ms" for at in range(1, 1_500)),
                       answer=" ".join(f"{at}.{at % 7}%" for at in range(100, 700))),
    "signs of no alphabet": run("\U0001f600 " * 60_000, answer="\U0001f600 " * 60_000),
    "opening brackets": run("[" * 100_000, answer="{" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("name", HEAVY)
def test_no_trace_takes_longer_than_its_size_explains(name: str) -> None:
    steps = HEAVY[name]
    size = sum(len(step["content"]) for step in steps)
    with within(10):
        report = measure(steps)
    # A report that grew with the square of the trace would be longer than it.
    del report["compatible"]["evidence"]  # it names every later step of every result: so its format says
    assert len(json.dumps(report, allow_nan=False)) < 150 * size + 100_000


def test_what_is_too_much_is_named() -> None:
    many = json.dumps(list(range(1_000, 22_000)))
    report = analyze_finer(run(many))
    assert [one["step"] for one in report["unread"]] == [0]
    assert 0 < report["unread"][0]["from"] < len(many)
    facts = ground(" ".join(f"{at}" for at in range(1_000, 1_000 + MOST_FACTS + 5)), [Source("e", many)])
    assert len(facts["facts"]) == MOST_FACTS
    assert facts["cut_at"] == 5 * MOST_FACTS
    assert facts["unread"] == ["e"]
    assert (ground("1000", [Source("e", "1000")])["cut_at"], ground("1000", [Source("e", "1")])["unread"]) == (None, [])


def test_of_many_later_steps_the_first_and_the_last_are_named() -> None:
    steps = [{"type": "tool_result", "content": LINE}, *({"type": "reasoning", "content": LINE} for _ in range(400))]
    (record,) = analyze_finer(steps)["evidence"]
    met = [one["step"] for one in record["met"]]
    assert (met[0], met[-1], len(met)) == (1, 400, MOST_STEPS_MET)


@pytest.mark.parametrize("depth", [150, 400, 5_000, 100_000])
def test_json_of_any_depth_in_a_text_is_a_text(depth: int) -> None:
    text = "[" * depth + "88213" + "]" * depth
    report = measure(run(text, answer="It is 88213."))
    assert report["grounding"]["facts"][0]["status"] == "supported"


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, '[{"type": "user", "content": ' + "[" * 100_000])
def test_a_file_without_a_bottom_is_refused(text: str) -> None:
    with pytest.raises(TraceError):
        read_trace(text)


DAMAGED = [
    "[\n" + "{\n" * 100_000,
    '{"x\n' * 100_000,
    '{\n "a": 1,\n' * 50_000,
    "data: {\n" * 50_000,
    "[" + ",]" * 100_000,
]


@pytest.mark.parametrize("number", range(len(DAMAGED)))
def test_a_file_that_is_damaged_all_over_is_refused_at_once(number: int) -> None:
    with within(5), pytest.raises(TraceError):
        read_trace(DAMAGED[number])


def span(key: Any, parent: Any, **held: Any) -> dict[str, Any]:
    return {"id": key, "parentObservationId": parent, "traceId": "t", "type": "GENERATION", **held}


SPANS: dict[str, list[Any]] = {
    "a ring": [span("a", "b", output="one"), span("b", "c"), span("c", "a", output="two")],
    "its own parent": [span("a", "a", output="one")],
    "one id for all": [span("a", None, output="one")] * 3,
    "times that are none": [span("a", None, startTime=float("nan"), output="x"), span("b", "a", startTime=None),
                            span("c", "a", startTime={"at": 1}), span("d", [], endTime=10**400)],
    "types that are none": [span({"x": 1}, ["a"], type=["TOOL"], input={"a": [None]}, output=7)],
    "no object": [None, 7, "text", [], span("a", None, output="one")],
    "a long chain": [span(str(at), str(at + 1), type="SPAN") for at in range(30_000)],
}  # fmt: skip


@pytest.mark.parametrize("name", SPANS)
def test_spans_that_lie_about_each_other_are_counted_or_refused(name: str) -> None:
    with within(10):
        try:
            collected = read_trace(json.dumps({"trace": {"id": "t"}, "observations": SPANS[name]}))
        except TraceError:
            return
    assert collected.kept + collected.skipped.total() == collected.records == len(SPANS[name])
    measure(collected.steps)


def test_ids_that_stand_twice_make_no_trace_unreadable() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": "A text that is here."}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    collected = read_trace(json.dumps([{"role": "user", "content": "Why?"}, said, result, said, result]))
    assert measure(collected.steps)["compatible"]["evidence_sources"] == 2


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e99", "9" * 4_000, "0.0", "-0", "1e-99", "٣٤٥", "1,2,3,4", "00:00"]
)
def test_odd_numbers_are_facts_or_none(number: str) -> None:
    (value,) = ground_values([number], [Source("e", f'{{"x": "{number}"}}')])
    assert value["status"] != UNSUPPORTED or not any(sign.isalnum() for sign in number)
    (other,) = ground_values([number], [Source("e", "nothing of it")])
    assert other["status"] == UNSUPPORTED


VALUES: list[tuple[str, str]] = [
    ("90433", "supported"), ("90434", "unsupported"), ("queued", "supported"), ("canceled", "unsupported"),
    ("true", "too short to tell"), ("", "too short to tell"), ("charge ch_77 of 90434", "unsupported"),
    ("charge ch_77 of 90433", "supported"), ("I-318", "from the question"), ("4200 ms", "derived"),
    ("eued", "unsupported"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "status"), VALUES)
def test_an_argument_rests_on_what_was_read_as_a_whole_or_in_each_fact(value: str, status: str) -> None:
    evidence = [Source("A-1", '{"job_id": 90433, "state": "queued", "charge": "ch_77", "took": "4.2 seconds"}')]
    (found,) = ground_values([value], evidence, [Source("q", "I-318")])
    assert found["status"] == status


@given(st.text(alphabet=st.characters(), max_size=80), st.text(alphabet=st.characters(), max_size=80))
def test_what_is_lit_stands_where_it_says(one: str, other: str) -> None:
    left, right = lit(one, Span(0, len(one)), other, Span(0, len(other)))
    for text, spans in ((one, left), (other, right)):
        parts = segments(text, [(place, "") for place in spans])
        assert "".join(part.text for part in parts) == text
        units = text.encode("utf-16-le", "surrogatepass")
        for part in parts:
            if part.is_lit:
                assert units[2 * part.start : 2 * part.end] == part.text.encode("utf-16-le", "surrogatepass")


def test_a_value_is_lit_whose_unit_its_field_states() -> None:
    read, said = '{"took_ms": 4200}', "It took 4.2 s."
    assert lit(read, Span(12, 16), said, Span(0, len(said)), "took_ms") == ([Span(12, 16)], [Span(8, 13)])
    assert lit(read, Span(12, 16), said, Span(0, len(said))) == ([], [])


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 40)), max_size=8))
def test_a_long_text_is_shown_around_what_is_lit(places: list[tuple[int, int]]) -> None:
    text = "".join(chr(97 + at % 26) for at in range(3_000))
    spans = merged([Span(start, min(3_000, start + length)) for start, length in places], text)
    parts = segments(text, [(place, "") for place in spans if place.start < place.end], around=50)
    shown = sum(len(part.text) for part in parts if not part.is_gap)
    left_out = sum(int(part.text.replace(",", "")) for part in parts if part.is_gap)
    assert shown + left_out == 3_000
    assert [part.text for part in parts if part.is_lit] == [
        text[one.start : one.end] for one in spans if one[0] < one[1]
    ]
