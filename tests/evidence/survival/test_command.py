"""`manage.py survival`, without a database."""

from __future__ import annotations

import io
import json
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.survival import analyze
from evidence.survival.fields import LIMITATION

TRACES = Path(__file__).resolve().parents[2] / "data/survival/traces"
PLAIN: list[dict[str, Any]] = [
    {"id": "r", "type": "tool_result", "tool": "vector_find", "content": "Pool is exhausted. Nobody knows why yet."},
    {"type": "tool_call", "tool": "submit", "content": "pool exhausted"},
    {"type": "assistant", "content": "The pool was exhausted."},
]


def survival(*words: str) -> str:
    said = StringIO()
    call_command("survival", *words, stdout=said)
    return said.getvalue()


def refusal(*words: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        survival(*words)
    return caught.value.returncode, str(caught.value)


@pytest.fixture
def plain(tmp_path: Path) -> str:
    file = tmp_path / "plain.json"
    file.write_text(json.dumps(PLAIN))
    return str(file)


def test_it_gives_the_report_of_the_list_itself(plain: str) -> None:
    assert json.loads(survival(plain, "--json")) == analyze(PLAIN)


def test_it_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(PLAIN).encode())))
    assert json.loads(survival("-", "--json")) == analyze(PLAIN)


@pytest.mark.parametrize("file", sorted(TRACES.glob("*.json")), ids=lambda file: file.stem)
def test_every_recorded_trace_is_shown(file: Path) -> None:
    said = survival(str(file), "--finer")
    assert "records give" in said
    assert "The finer measure" in said
    assert "overlap of words" in said
    assert said.rstrip().endswith(LIMITATION)  # the finer one's figures have theirs
    assert "unused" not in said


def test_the_table_says_what_was_seen_and_what_was_skipped(tmp_path: Path) -> None:
    short = {"type": "tool_result", "tool": "ping", "content": "ok"}
    file = tmp_path / "trace.jsonl"
    file.write_text("\n".join([*map(json.dumps, [short, *PLAIN]), '{"type": "tool"}', "{"]))
    said = survival(str(file))
    assert "4 of 6 records give 4 steps" in said
    assert "1 skipped: its type is not known" in said
    assert "1 skipped: the line is not JSON" in said
    assert "2 steps later" in said
    assert "too short to tell" in said
    assert "50.0% in the last answer" in said


def test_the_finer_measure_stands_beside_the_other_one() -> None:
    file = str(TRACES / "holmes_cascading_failure.json")
    both = json.loads(survival(file, "--finer", "--json"))
    assert both["compatible"] == json.loads(survival(file, "--json"))
    assert (both["compatible"]["reused_units"], both["finer"]["sources_surviving"]) == (0, 9)
    assert "unsupported: 45%" in survival(file, "--finer")


def test_a_name_in_a_trace_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps([{"type": "tool_result", "tool": "\x1b[2J\n\ud800x", "content": "pool exhausted"}]))
    said = survival(str(file), "--finer")
    assert "\x1b" not in said
    assert said.count("�[2J��x") == 2


def test_a_limit_that_is_met_exactly_passes(plain: str) -> None:
    assert survival(plain, "--fail-under", "0.5")


@pytest.mark.parametrize("limit", ["0.51", "nan"])
def test_a_limit_that_is_missed_exits_1(plain: str, limit: str) -> None:
    returncode, sentence = refusal(plain, "--fail-under", limit)
    assert returncode == 1
    assert "50.0%" in sentence


@pytest.mark.parametrize("content", [b"no trace", b"\xff\xfe", b"", b"[]"])
def test_what_is_no_trace_exits_2(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert refusal(str(file))[0] == 2
    assert refusal(str(tmp_path / "missing"))[0] == 2
