"""Traces as many programs write them today: each is known for what it is, and gives the steps that it holds.

The files stand in `tests/data/survival/written.jsonl`, one a line: a document, or a text where it is no single value,
with the steps and what is skipped. They are made up, in the shapes that the programs' own documentation shows.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidence.survival import analyze
from evidence.survival.formats import FORMATS, decoded, read_trace
from evidence.survival.formats.collected import Collected, TraceError
from tests.evidence.survival.test_formats import SMALL, WHOLE, briefly

DATA = Path(__file__).resolve().parents[2] / "data/survival/written.jsonl"
WRITTEN = {row["name"]: row for row in map(json.loads, DATA.read_text().splitlines())}


def known(text: str) -> Collected:
    collected = read_trace(text)
    analyze(collected.steps)  # the measure takes whatever an import gives
    assert collected.records == collected.kept + collected.skipped.total()
    return collected


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_program_writes_is_known_and_told_apart(name: str) -> None:
    row = WRITTEN[name]
    collected = known(row["text"] if "text" in row else json.dumps(row["document"]))
    assert collected.format == row["format"]
    assert [list(step) for step in briefly(collected)] == row["steps"]
    assert dict(collected.skipped) == row["skipped"]


def test_every_format_but_one_of_a_single_program_has_several() -> None:
    counted = Counter(row["format"] for row in WRITTEN.values())
    assert {form for form in FORMATS if counted[form] > 1} == set(FORMATS) - {"who-and-when"}


Records = list[dict[str, Any]]
Written = Callable[[Records], str]


def lines(records: Records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


SET: dict[str, Written] = {
    "a mark of the byte order": lambda records: "\ufeff" + json.dumps(records),
    "lines that end in two signs": lambda records: lines(records).replace("\n", "\r\n"),
    "a comma after the last": lambda records: json.dumps(records)[:-1] + ",]",
    "commas after lines": lambda records: "".join(f"{json.dumps(record)},\n" for record in records),
    "an array, a line for each": lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + ",\n]\n",
    "values over several lines": lambda records: "\n".join(json.dumps(record, indent=2) for record in records),
    "blank lines": lambda records: "\n\n".join(map(json.dumps, records)) + "\n\n",
    "one line": lambda records: "".join(map(json.dumps, records)),
}


@pytest.mark.parametrize("form", ["openai-chat", "claude-code", "plain"])
@pytest.mark.parametrize("way", SET)
def test_a_file_is_read_however_its_records_are_set(way: str, form: str) -> None:
    collected = known(SET[way](SMALL[form]))
    assert (briefly(collected), collected.format, collected.skipped.total()) == (WHOLE, form, 0)


OPEN = '{"type": "us'
DAMAGED: dict[str, Written] = {
    "a line that does not end": lambda records: lines(records) + OPEN,
    "an array that does not end": lambda records: json.dumps(records)[:-1] + ", " + OPEN,
    "an array over lines that does not end": lambda records: json.dumps(records, indent=2)[:-2] + f",\n  {OPEN}",
    "a line of something else": lambda records: lines(records[:2]) + "oops\n" + lines(records[2:]),
    "a value of something else": lambda records: json.dumps([*records[:2], 1.5, *records[2:]], indent=1).replace(
        "1.5", "{oops}"
    ),
}


@pytest.mark.parametrize("form", ["openai-chat", "claude-code", "plain"])
@pytest.mark.parametrize("way", DAMAGED)
def test_what_is_damaged_is_counted_and_the_rest_is_read(way: str, form: str) -> None:
    collected = known(DAMAGED[way](SMALL[form]))
    assert (briefly(collected), dict(collected.skipped)) == (WHOLE, {"the line is not JSON": 1})


def test_commas_in_texts_are_let_alone() -> None:
    said = [{"role": "user", "content": 'a ,] b \\",} "'}, {"role": "assistant", "content": "x"}]
    assert known(json.dumps(said)[:-1] + " , ]").steps[0]["content"] == said[0]["content"]


@pytest.mark.parametrize("packed", [gzip.compress, lambda raw: raw, lambda raw: raw.decode().encode("utf-16")])
def test_a_file_may_be_packed(packed: Callable[[bytes], bytes]) -> None:
    assert briefly(known(decoded(packed(json.dumps(SMALL["openai-chat"]).encode())))) == WHOLE


BAD = [b"\x1f\x8b", gzip.compress(b"x" * 99)[:-9], gzip.compress(b"\xff"), b"\xff", gzip.compress(b"x" * 2_000)]


@pytest.mark.parametrize("raw", BAD)
def test_a_file_that_cannot_be_unpacked_is_refused_in_a_sentence(raw: bytes) -> None:
    with pytest.raises(TraceError) as caught:
        decoded(raw, 1_000)
    assert caught.value.sentence.endswith(".")


def test_a_number_of_any_length_is_read() -> None:
    digits = "9" * 6_000
    (step,) = known('[{"type": "tool_result", "content": {"n": ' + digits + "}}]").steps
    assert digits in step["content"]


@pytest.mark.parametrize("form", ["atif", "inspect", "langfuse", "swe-agent"])
def test_a_file_of_lines_may_hold_a_whole_run_in_each(form: str) -> None:
    other = json.loads(json.dumps(SMALL[form]).replace("Why?", "And then?").replace("gone", "there"))
    collected = known(lines([SMALL[form], other]))
    assert (collected.format, briefly(collected)[: len(WHOLE)]) == (form, WHOLE)
    assert [step["content"] for step in collected.steps if step["type"] == "assistant"] == [
        "It is gone.",
        "It is there.",
    ]


@pytest.mark.parametrize("form", ["openai-chat", "claude-code", "langchain", "plain", "otel-genai", "langfuse"])
def test_what_is_nothing_among_records_is_a_record_and_skipped(form: str) -> None:
    document = SMALL[form]
    inner = {"langchain": "messages", "langfuse": "observations"}.get(form)
    records = document[inner] if inner else document if isinstance(document, list) else [document]
    collected, whole = known(json.dumps([*records, None])), known(json.dumps(records))
    assert (collected.kept, collected.skipped.total()) == (whole.kept, whole.skipped.total() + 1)
    assert briefly(collected) == WHOLE
