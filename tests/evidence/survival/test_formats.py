"""Traces from other programs: recorded ones, one small one per format and trap, and broken ones."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from evidence.survival import analyze
from evidence.survival.formats import FORMATS, read_trace
from evidence.survival.formats.collected import Collected, TraceError

TRACES = Path(__file__).resolve().parents[2] / "data/survival/traces"
# Format, records, kept, steps, sources, units, reused units: those of the compatible measure over what is imported.
RECORDED = {
    "claudecode_sample_session": ("claude-code", 33, 33, 39, 12, 14, 0),
    "holmes_backend_service": ("openai-chat", 38, 38, 38, 13, 35, 0),
    "holmes_cascading_failure": ("openai-chat", 32, 32, 48, 16, 15, 0),
    "inspect_browser": ("inspect", 10, 10, 10, 4, 7, 2),
    "langfuse_claude_agent": ("langfuse", 7, 5, 7, 2, 2, 2),
    "langfuse_microsoft_agent": ("langfuse", 4, 3, 4, 1, 1, 1),
    "langfuse_openai_agents": ("langfuse", 5, 3, 5, 1, 1, 1),
    "langfuse_pydantic_ai_tools": ("langfuse", 12, 7, 15, 3, 3, 0),
    "sweagent_marshmallow_1867": ("swe-agent", 24, 24, 35, 11, 60, 0),
    "tau_airline_gpt4o_33": ("openai-chat", 62, 62, 65, 23, 19, 0),
    "whowhen_hand_6": ("who-and-when", 8, 7, 7, 1, 34, 6),
}


def recorded(name: str) -> str:
    return (TRACES / f"{name}.json").read_text()


def briefly(collected: Collected) -> list[tuple[str, ...]]:
    """Type and content of each step, and what names it."""
    keys = ("type", "content", "tool", "source")
    return [tuple(step[key] for key in keys if key in step) for step in collected.steps]


def given(document: Any, form: str = "auto") -> Collected:
    collected = read_trace(json.dumps(document), form)
    analyze(collected.steps)  # the measure takes whatever an import gives
    return collected


def test_every_recorded_trace_is_in_the_table() -> None:
    assert {file.stem for file in TRACES.glob("*.json")} == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_trace_is_imported(name: str) -> None:
    collected = read_trace(recorded(name))
    report = analyze(collected.steps)
    counted = (report["steps"], report["evidence_sources"], report["evidence_units"], report["reused_units"])
    assert (collected.format, collected.records, collected.kept, *counted) == RECORDED[name]
    assert len(collected.places) == len(collected.steps)


CALL = {"id": "c1", "type": "function", "function": {"name": "find_job", "arguments": '{"id": 7}'}}
ASKED = ("user", "Why?")
CALLED = ("tool_call", '{"id": 7}', "find_job")
RESULT = ("tool_result", "The job is gone.", "find_job")
ANSWER = ("assistant", "It is gone.")
WHOLE = [ASKED, ("reasoning", "I look."), CALLED, RESULT, ANSWER]


def attributes(**held: Any) -> list[dict[str, Any]]:
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in held.items()]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def part(**held: Any) -> str:
    return json.dumps([held])


def span(key: str, start: int, end: int, **held: Any) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    return {"spanId": key, "parentSpanId": "root", **times, "attributes": attributes(**held)}


HISTORY = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
SAID = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "I look."},
        {"type": "tool_call", "id": "c1", "name": "find_job", "arguments": {"id": 7}},
    ],
}
BACK = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "The job is gone."}]}
ENDED = {"role": "assistant", "parts": [{"type": "text", "content": "It is gone."}]}
GENAI = otlp(
    span("root", 0, 99, gen_ai__operation__name="invoke_agent", gen_ai__input__messages=json.dumps(HISTORY)),
    span(
        "one", 1, 30, gen_ai__operation__name="chat", gen_ai__input__messages=json.dumps(HISTORY),
        gen_ai__output__messages=json.dumps([SAID]),
    ),
    span(
        "tool", 31, 40, gen_ai__operation__name="execute_tool", gen_ai__tool__name="find_job",
        gen_ai__tool__call__arguments='{"id": 7}', gen_ai__tool__call__result="The job is gone.",
    ),
    span(
        "two", 41, 98, gen_ai__operation__name="chat", gen_ai__input__messages=json.dumps([*HISTORY, SAID, BACK]),
        gen_ai__output__messages=json.dumps([ENDED]),
    ),
)  # fmt: skip
PHOENIX = otlp(
    span(
        "one", 1, 30, openinference__span__kind="LLM", llm__input_messages__0__message__role="user",
        llm__input_messages__0__message__content="Why?", llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content="I look.",
        llm__output_messages__0__message__tool_calls__0__tool_call__function__name="find_job",
        llm__output_messages__0__message__tool_calls__0__tool_call__function__arguments='{"id": 7}',
    ),
    span(
        "tool", 31, 40, openinference__span__kind="TOOL", tool__name="find_job", input__value='{"id": 7}',
        output__value="The job is gone.",
    ),
    span(
        "two", 41, 50, openinference__span__kind="LLM", llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content="It is gone.",
    ),
)  # fmt: skip
SMALL: dict[str, Any] = {
    "openai-chat": [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "The job is gone."},
        {"role": "assistant", "content": "It is gone."},
    ],
    "openai-responses": {
        "input": "Why?",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "find_job", "arguments": '{"id": 7}'},
            {"type": "function_call_output", "call_id": "c1", "output": "The job is gone."},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is gone."}]},
        ],
    },
    "anthropic-messages": {
        "messages": [
            {"role": "user", "content": "Why?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "find_job", "input": {"id": 7}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "The job is gone."}]},
            {"role": "assistant", "content": [{"type": "text", "text": "It is gone."}]},
        ]
    },
    "claude-code": [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Why?"}},
        {
            "type": "assistant",
            "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "I look."}]},
        },
        {
            "type": "assistant",
            "message": {
                "id": "m",
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "find_job", "input": {"id": 7}}],
            },
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [{"type": "text", "text": "The job is gone."}],
                    }
                ],
            },
        },
        {"type": "assistant", "message": {"role": "assistant", "content": "It is gone."}},
    ],
    "otel-genai": GENAI,
    "openinference": PHOENIX,
    "langfuse": {
        "trace": {"id": "t"},
        "observations": [
            {"id": "g2", "traceId": "t", "type": "GENERATION", "startTime": "4", "endTime": "5", "output": ENDED},
            {
                "id": "tool",
                "traceId": "t",
                "type": "TOOL",
                "name": "find_job",
                "startTime": "2",
                "endTime": "3",
                "input": json.dumps(json.dumps({"id": 7})),
                "output": json.dumps("The job is gone."),
            },
            {
                "id": "g1",
                "traceId": "t",
                "type": "GENERATION",
                "startTime": "0",
                "endTime": "1",
                "input": json.dumps(HISTORY),
                "output": json.dumps([SAID]),
            },
        ],
    },
    "langchain": {
        "messages": [
            {"type": "human", "content": "Why?"},
            {"type": "ai", "content": "I look.", "tool_calls": [{"name": "find_job", "args": {"id": 7}, "id": "c1"}]},
            {"lc": 1, "id": ["x", "ToolMessage"], "kwargs": {"content": "The job is gone.", "tool_call_id": "c1"}},
            {"type": "ai", "content": "It is gone."},
        ]
    },
    "inspect": {
        "eval": {},
        "samples": [
            {
                "attachments": {"abc": "The job is gone."},
                "messages": [
                    {"role": "user", "content": "Why?"},
                    {
                        "role": "assistant",
                        "content": "I look.",
                        "tool_calls": [{"id": "c1", "function": "find_job", "arguments": {"id": 7}}],
                    },
                    {"role": "tool", "tool_call_id": "c1", "content": "attachment://abc"},
                    {"role": "assistant", "content": "It is gone."},
                ],
            }
        ],
    },
    "swe-agent": {
        "history": [
            {"role": "user", "content": "Why?", "agent": "main"},
            {"role": "assistant", "content": "I look.", "agent": "main", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_ids": ["c1"], "content": "The job is gone.", "agent": "main"},
            {"role": "assistant", "content": "It is gone.", "agent": "main"},
        ]
    },
    "atif": {
        "schema_version": "ATIF-v1.4",
        "steps": [
            {"step_id": 1, "source": "user", "message": "Why?"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "I look.",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "find_job", "arguments": {"id": 7}}],
                "observation": {"results": [{"source_call_id": "c1", "content": "The job is gone."}]},
            },
            {"step_id": 3, "source": "agent", "message": "It is gone."},
        ],
    },
    "plain": [
        {"type": "user", "content": "Why?"},
        {"type": "reasoning", "content": "I look."},
        {"type": "tool_call", "content": '{"id": 7}', "tool": "find_job", "source": None},
        {"type": "tool_result", "content": "The job is gone.", "tool": "find_job", "source": None},
        {"type": "assistant", "content": "It is gone."},
    ],
}


@pytest.mark.parametrize("form", SMALL)
def test_the_same_small_run_is_the_same_steps_in_every_format(form: str) -> None:
    collected = given(SMALL[form])
    assert collected.format == form
    assert briefly(collected) == WHOLE
    assert briefly(given(SMALL[form], form)) == WHOLE


def test_every_format_has_a_small_run_or_a_recorded_one() -> None:
    assert set(FORMATS) == set(SMALL) | {"who-and-when"}


@pytest.mark.parametrize("form", ["claude-code", "openai-chat", "plain"])
def test_lines_are_read_as_a_list_and_broken_ones_are_counted(form: str) -> None:
    lines = [json.dumps(record) for record in SMALL[form]]
    collected = read_trace("\n".join([*lines, "", '{"type": "us']))
    assert briefly(collected) == WHOLE
    assert (collected.kept, dict(collected.skipped)) == (len(lines), {"the line is not JSON": 1})


# A trap, the records in which it lies, what is kept of it, and why the others are skipped.
TRAPS: dict[str, tuple[Any, list[tuple[str, ...]], dict[str, int]]] = {
    "an assistant that only calls has no text of its own": (
        [{"role": "assistant", "content": None, "tool_calls": [CALL]}],
        [CALLED],
        {},
    ),
    "an empty message": ([{"role": "assistant", "content": ""}, {"role": "user", "content": "Why?"}], [ASKED],
                         {"it holds no text": 1}),
    "a role of no conversation": ([{"role": "critic", "content": "x"}], [], {"its role is not known": 1}),
    "what is no message": ([{"role": "user", "content": "Why?"}, 7], [ASKED], {"it is no message": 1}),
    "a value of another type": (
        [{"role": "assistant", "content": "x", "tool_calls": [{"function": {"name": ["x"], "arguments": "{}"}}]}],
        [("reasoning", "x"), ("tool_call", "{}")],
        {},
    ),
    "a tool that is only defined": (
        [{"role": "user", "content": "Why?"}, {"role": "tool", "content": {"type": "function", "function": {}}}],
        [ASKED],
        {"it defines a tool": 1},
    ),
    "an answer that is a call": (
        [{"role": "assistant", "tool_calls": [{"function": {"name": "final_result", "arguments": '{"x": "gone"}'}}]}],
        [("tool_call", '{"x": "gone"}', "final_result"), ("assistant", '{"x": "gone"}')],
        {},
    ),
    "a call that only ends": (
        [{"role": "assistant", "tool_calls": [{"function": {"name": "submit", "arguments": "{}"}}]}],
        [("tool_call", "{}", "submit")],
        {},
    ),
    "a search of documents is a retrieval": (
        [{"role": "tool", "name": "search_docs", "content": "Page one."}],
        [("retrieval", "Page one.", "search_docs")],
        {},
    ),
    "documents, one step each": (
        {"system": "s", "messages": [{"role": "user", "content": [
            {"type": "web_search_tool_result", "content": [{"url": "u1", "title": "1"}, {"url": "u2", "text": "two"}]},
            {"type": "document", "title": "d", "source": {"type": "text", "data": "three"}},
        ]}]},
        [("system", "s"), ("retrieval", "", "u1"), ("retrieval", "two", "u2"), ("retrieval", "three", "d")],
        {},
    ),
    "pictures leave a marker": (
        {"system": "s", "messages": [{"role": "user", "content": [{"type": "tool_result", "content": [
            {"type": "text", "text": "seen"}, {"type": "image", "source": {}},
        ]}]}]},
        [("system", "s"), ("tool_result", "seen\n\n[image]")],
        {},
    ),
    "a demonstration": (
        {"history": [{"role": "user", "is_demo": True, "content": "x", "message_type": "demo"},
                     {"role": "user", "content": "Why?"}]},
        [ASKED],
        {"it is a demonstration": 1},
    ),
    "lines of the program's own": (
        [{"type": "summary", "summary": "x"},
         {"type": "user", "isMeta": True, "message": {"role": "user", "content": "x"}},
         {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Why?"}},
         {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Why?"}},
         {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "x"}}],
        [ASKED],
        {"it is a line of the program's own": 1, "it is marked as meta": 1, "its uuid was there before": 1,
         "it belongs to a sub-agent": 1},
    ),
    "a graph's states repeat the list": (
        [{"messages": [{"type": "human", "content": "Why?", "id": "h"}]},
         {"messages": [{"type": "human", "content": "Why?", "id": "h"},
                       {"type": "ai", "content": "It is gone.", "id": "a"}]}],
        [ASKED, ANSWER],
        {"a list before has it": 1},
    ),
    "a step of no type": ([{"type": "user", "content": "Why?"}, {"type": "tool", "content": "x"}], [ASKED],
                          {"its type is not known": 1}),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_of_real_exports_is_seen(trap: str) -> None:
    document, steps, skipped = TRAPS[trap]
    collected = given(document)
    assert briefly(collected) == steps
    assert dict(collected.skipped) == skipped


def test_call_ids_name_evidence_once_and_never_like_a_number_of_the_measure() -> None:
    results = [{"role": "tool", "tool_call_id": own, "content": "a b"} for own in ("c", "c", "evidence-2", "d")]
    assert [step.get("evidence_id") for step in given(results).steps] == ["c", None, None, "d"]


def test_a_result_before_its_call_ended_comes_after_the_call() -> None:
    late = copy.deepcopy(SMALL["langfuse"])
    late["observations"][2]["endTime"] = "35"  # the generation's span ends after the tool that it started
    types = [step["type"] for step in given(late).steps]
    assert types.index("tool_call") < types.index("tool_result")
    assert types.count("tool_call") == 1


def test_what_was_said_twice_in_one_history_is_kept_twice() -> None:
    twice = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}] * 2
    observation = {"id": "g", "traceId": "t", "type": "GENERATION", "startTime": "0", "endTime": "1", "input": twice}
    again = {**observation, "id": "h", "startTime": "2", "endTime": "3"}
    assert len(given({"observations": [observation, again]}).steps) == 4


@pytest.mark.parametrize(
    ("text", "form"), [("", "auto"), ("plain words", "auto"), ("[]", "auto"), ("7", "auto"), ("[]", "nothing")]
)
def test_what_is_no_trace_is_said_in_a_sentence(text: str, form: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(text, form)
    assert caught.value.sentence.endswith(".")


BREAKERS: list[Any] = [None, 7, "", "x", [], {}, [None], {"type": []}, True, {"role": {}}]


def broken(value: Any, draw: random.Random) -> Any:
    """The value with a few of its inner values replaced by something of another shape."""
    if draw.random() < 0.03:
        return draw.choice(BREAKERS)
    if isinstance(value, list):
        return [broken(inner, draw) for inner in value]
    if isinstance(value, dict):
        return {key: broken(inner, draw) for key, inner in value.items()}
    return value


@pytest.mark.parametrize("form", SMALL)
def test_a_broken_file_is_read_as_far_as_it_goes_or_refused(form: str) -> None:
    draw = random.Random(form)  # noqa: S311 - the same breakage each time
    for _ in range(300):
        try:
            collected = read_trace(json.dumps(broken(SMALL[form], draw)), draw.choice(["auto", form]))
        except TraceError:
            continue
        assert collected.records == collected.kept + sum(collected.skipped.values())
        analyze(collected.steps)
