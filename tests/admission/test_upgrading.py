"""Another model over the same recorded calls: what is decided differently is listed, and what it lets pass stops."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.admission import model_calls, upgrading
from gate.admission import program as programs_module
from gate.admission.files import NoPolicy
from gate.admission.model_calls import ModelCall
from gate.admission.reducer import decide
from gate.admission.usable import usable
from tests.admission.model_server import MODEL, Model, serving
from tests.admission.programs import answered, enum, probe, program, programs, rule, yesno

PROGRAM = program(
    [yesno("regenerable"), enum("place"), probe("tracked", "yes", "no")],
    [
        rule("gone", "block", ("place", "is", "z")),
        rule("build_output", "allow", ("regenerable", "gte", 0.9), ("tracked", "is", "no")),
    ],
)


def call(name: str, p: float, place: str = "x", sure: float = 0.9, model: str = "a", **more: Any) -> dict[str, Any]:
    answers = {
        "regenerable": {"p": p}, "place": {"value": place, "confidence": sure},
        "tracked": {"value": "no", "by": "probe"}, **more,
    }  # fmt: skip
    return {"call": name, "action": {"command": f"rm {name}"}, "answers": answers, "model": model}


def written(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


@pytest.fixture
def policy(tmp_path: Path) -> str:
    return written(tmp_path / "deletes.json", {"title": "Deletes", "program": PROGRAM, "cases": []})


def compared(policy: str, old: str, new: str) -> tuple[list[dict[str, Any]], str]:
    """What the command prints, and what it ends with; it succeeds only while nothing is newly allowed."""
    out, said = StringIO(), ""
    try:
        call_command("policy", "upgrade", policy, old, new, stdout=out)
    except CommandError as error:
        said = f"{error.returncode}: {error}"
    return [json.loads(line) for line in out.getvalue().splitlines()], said


def test_calls_that_change_are_listed_and_what_is_newly_allowed_stops(tmp_path: Path, policy: str) -> None:
    old = written(tmp_path / "a.jsonl", *(call(name, p) for name, p in (("1", 0.97), ("2", 0.8), ("3", 0.1), ("9", 1))))
    new = written(
        tmp_path / "b.jsonl", call("1", 0.5, model="b"), call("2", 0.95, model="b"), call("3", 0.2, "z", model="b"),
        call("4", 0.99, model="b"),
    )  # fmt: skip
    (total, *lines), said = compared(policy, old, new)
    assert total == {
        "old_model": "a", "new_model": "b", "compared": 3, "left_out": 2, "changed": 3, "newly_allowed": 1,
        "newly_blocked": 1, "answers_that_differ": {"regenerable": 1, "place": 1},
    }  # fmt: skip
    assert [(one["call"], one["was"], one["becomes"]) for one in lines] == [
        ("2", "ask", "allow"), ("1", "allow", "ask"), ("3", "ask", "block"),
    ]  # fmt: skip
    assert lines[0]["answers"] == {"regenerable": {"was": {"p": 0.8}, "becomes": {"p": 0.95}}}
    assert said == "1: 1 of 3 recorded calls are newly allowed."


def test_what_the_second_model_leaves_open_is_not_the_firsts(tmp_path: Path, policy: str) -> None:
    whole, half = call("1", 0.97), call("1", 0.97, model="b")
    del half["answers"]["regenerable"]
    half["answers"]["tracked"] = {"value": "yes", "by": "probe"}  # a model's file says nothing for a probe
    (total, line), _ = compared(policy, written(tmp_path / "a", whole), written(tmp_path / "b", half))
    assert (total["changed"], line["becomes"], line["becomes_rule"]) == (1, "ask", None)
    assert line["answers"] == {"regenerable": {"was": {"p": 0.97}, "becomes": None}}


def test_an_export_of_the_log_is_a_file_of_calls() -> None:
    given_args = json.dumps({
        "action": {"command": "rm"}, "answers": {"regenerable": {"p": 0.97}}, "model": {"id": "big-1"},
        "asked": {"questions": ["regenerable"], "model": "narrow-7b"},
    })  # fmt: skip
    entry = {"type": "entry", "seq": 7, "header": {"kind": "admission.decided", "tool": "deletes"}, "args": given_args}
    others = [
        {"type": "export", "origin": "x"}, {**entry, "header": {"kind": "admission.decided", "tool": "other"}},
        {**entry, "header": {"kind": "call.finished", "tool": "deletes"}}, {**entry, "args": None},
        {"type": "checkpoint", "size": 1},
    ]  # fmt: skip
    lines = [json.dumps(one).encode() for one in (*others, entry)]
    assert model_calls.read(lines, "deletes") == [
        ModelCall("A-7", {"command": "rm"}, {"regenerable": {"p": 0.97}}, "narrow-7b")
    ]


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"1", b'{"call": "1"}', json.dumps({**call("1", 0.9), "more": 1}).encode(), b'{"type": "entry"}'],
)
def test_what_is_no_recorded_call_is_said_by_its_line(line: bytes) -> None:
    with pytest.raises(NoPolicy, match="Line 2 is no recorded call"):
        model_calls.read([json.dumps(call("1", 0.9)).encode(), line], "deletes")


def test_a_call_that_is_there_twice_is_refused() -> None:
    with pytest.raises(NoPolicy, match="there twice"):
        model_calls.read([json.dumps(call("1", 0.9)).encode()] * 2, "deletes")


@pytest.fixture
def model(settings: Any) -> Iterator[Model]:
    with serving(Model()) as found:
        settings.ANSWERING_KIND, settings.ANSWERING_MODEL, settings.ANSWERING_KEY = "openai", "narrow", "k"
        settings.ANSWERING_URL = found.base("openai")
        yield found


def test_recorded_calls_are_put_to_the_configured_model(tmp_path: Path, policy: str, model: Model) -> None:
    model.says = lambda message: '{"answer": {"p": 0.2}}' if "regenerable" in message else "no JSON"
    old = written(tmp_path / "a.jsonl", call("1", 0.97), call("2", 0.8))
    out = StringIO()
    call_command("policy", "answer", policy, old, stdout=out)
    (tmp_path / "b.jsonl").write_text(out.getvalue())
    first = json.loads(out.getvalue().splitlines()[0])
    assert (first["model"], first["answers"]["regenerable"]) == (MODEL, {"p": 0.2})
    assert first["answers"]["tracked"] == {"value": "no", "by": "probe"}
    assert "not JSON" in first["answers"]["place"]["why"]
    (total, line), _ = compared(policy, old, str(tmp_path / "b.jsonl"))
    assert (total["new_model"], total["compared"], line["call"], line["becomes"]) == (MODEL, 2, "1", "ask")
    assert len(model.asked) == 4


def test_without_a_model_nothing_is_answered(policy: str) -> None:
    with pytest.raises(CommandError, match="COUNTERSEAL_ANSWERING_URL"):
        call_command("policy", "answer", policy, "/dev/null")


@settings(max_examples=40, deadline=None)
@given(st.data(), programs())
def test_the_difference_is_that_of_two_decisions(data: st.DataObject, raw: dict[str, Any]) -> None:
    found = programs_module.build(raw)
    first, second = data.draw(answered(raw)), data.draw(answered(raw))
    both = {**second, **{one.id: first[one.id] for one in found.questions if one.by == "probe"}}
    old, new = [ModelCall("1", {}, first, "a")], [ModelCall("1", {}, second, "b")]
    result = upgrading.compare(found, old, new)
    before, after = decide(found, first), decide(found, both)
    assert [(one.was, one.becomes) for one in result.moved] == (
        [(before, after)] if before.verdict != after.verdict else []
    )
    assert upgrading.compare(found, old, old).moved == []


def test_the_program_of_these_tests_is_usable() -> None:
    assert usable(PROGRAM) is not None
