"""The finer measure, beside the compatible one and never in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidence.survival import analyze
from evidence.survival.fields import analyze_finer
from evidence.survival.formats import read_trace

TRACES = Path(__file__).resolve().parents[2] / "data/survival/traces"
LOG = "2026-03-04 09:12:01 WARN pool is exhausted, {} of 50 connections in use\n2026-03-04 09:13:00 INFO idle again"
QUOTED = (
    "Gateway timeout calling backend: http://backend-api.production.svc.cluster.local:8080/api/users",
    "Database query took 28.1 seconds",
    "high disk I/O wait detected: avg 523ms per operation",
    "Read 2.1GB of log data in last minute from /var/log/containers/*.log",
)


def steps_of(name: str) -> list[dict[str, Any]]:
    return read_trace((TRACES / f"{name}.json").read_text()).steps


def finer(*steps: tuple[str, str]) -> list[dict[str, Any]]:
    """The records of each evidence of a trace."""
    report = analyze_finer([{"type": kind, "content": content} for kind, content in steps])
    return list(report["evidence"])


def test_the_quoted_log_lines_survive_while_the_compatible_measure_stays() -> None:
    steps = steps_of("holmes_cascading_failure")
    answer = steps[-1]["content"]
    report = analyze_finer(steps)
    for quote in QUOTED:
        lines = [
            (piece, later)
            for record in report["evidence"]
            for piece in record["matches"]
            for later in piece["later"]
            if quote in steps[record["step"]]["content"][piece["start"] : piece["end"]]
        ]
        assert any(quote in answer[later["start"] : later["end"]] and later["how"] == "quote" for _, later in lines)
    compatible = analyze(steps)
    assert (compatible["reused_units"], compatible["evidence_units"]) == (0, 15)


@pytest.mark.parametrize("file", sorted(TRACES.glob("*.json")), ids=lambda file: file.stem)
def test_every_recorded_trace_has_a_finer_report_whose_spans_hold(file: Path) -> None:
    steps = steps_of(file.stem)
    before = json.dumps(steps)
    report = analyze_finer(steps)
    assert json.dumps(steps) == before
    assert report == json.loads(json.dumps(analyze_finer(steps)))
    assert report["sources"] == analyze(steps)["evidence_sources"]
    for record in report["evidence"]:
        assert record["surviving"] <= record["pieces"]
        for piece in record["matches"]:
            assert steps[record["step"]]["content"][piece["start"] : piece["end"]].strip()
            assert all(later["step"] > record["step"] for later in piece["later"])
            assert all(steps[one["step"]]["content"][one["start"] : one["end"]].strip() for one in piece["later"])


def test_one_line_of_a_long_log_survives_and_the_other_does_not() -> None:
    (record,) = finer(("tool_result", LOG.format(50)), ("assistant", "The pool is exhausted: 50 of 50 connections."))
    assert (record["pieces"], record["surviving"], record["in_answer"]) == (2, 1, 1)


def test_words_from_far_ends_of_a_step_do_not_add_up() -> None:
    far = "The pool was fine. Nothing is exhausted. I saw connections. They are in use."
    (record,) = finer(("tool_result", "pool exhausted connections"), ("reasoning", far))
    assert record["surviving"] == 0


def test_an_id_that_goes_into_the_next_call_is_used_in_an_action_alone() -> None:
    found, call = '{"reservation": "NM1VX1", "ok": true}', '{"reservation_id": "NM1VX1"}'
    (record,) = finer(("tool_result", found), ("tool_call", call), ("assistant", "Done as you asked."))
    assert (record["pieces"], record["surviving"], record["in_actions"]) == (1, 0, 1)


def test_a_fact_that_the_question_said_already_is_no_reuse() -> None:
    found = '{"job": 88213}'
    (told,) = finer(("user", "What about 88213?"), ("tool_result", found), ("assistant", "It is 88213."))
    (fresh,) = finer(("user", "What about it?"), ("tool_result", found), ("assistant", "It is 88213."))
    assert (told["surviving"], fresh["surviving"]) == (0, 1)


def test_a_fact_is_credited_to_who_told_it_first() -> None:
    first, second = finer(("tool_result", "[88213]"), ("retrieval", "[88213]"), ("assistant", "It is 88213."))
    assert (first["surviving"], second["surviving"]) == (1, 0)


@pytest.mark.parametrize("content", ["ok", "true", '{"ok": true, "error": null, "n": 0}', "", "200"])
def test_a_result_without_pieces_only_acknowledges(content: str) -> None:
    (record,) = finer(("tool_result", content), ("assistant", "ok true null 0 200"))
    assert record["class"] == ("pieces" if content == "200" else "acknowledgement")


def test_decay_says_what_is_still_met_later() -> None:
    (record,) = finer(
        ("tool_result", "Pool alpha exhausted. Queue beta blocked."),
        ("reasoning", "Pool alpha is exhausted and queue beta blocked"),
        ("reasoning", "queue beta blocked"),
        ("assistant", "I give up."),
    )
    assert record["decay"] == [{"step": 1, "alive": 1.0}, {"step": 2, "alive": 0.5}, {"step": 3, "alive": 0.0}]


def test_what_shows_no_overlap_is_listed_largest_first() -> None:
    steps = [("tool_result", "Nobody said anything."), ("tool_result", "Much longer and just as little said."),
             ("tool_result", "ok"), ("assistant", "Fine.")]  # fmt: skip
    report = analyze_finer([{"type": kind, "content": content} for kind, content in steps])
    assert [one["step"] for one in report["no_overlap_detected"]] == [1, 0]
