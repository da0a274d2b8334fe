"""Hints of contradiction, evidence that repeats most of other evidence, and two runs side by side."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.survival import difference
from evidence.survival.alike import repeats_of
from evidence.survival.fields import analyze_finer
from evidence.survival.hints import hints_of

READ = "The payout job failed twice in region eu-west"
# What was read, what was answered, and why a hint is given; None where there is none.
SAID: list[tuple[str, str, str | None]] = [
    (READ, "The payout job succeeded in region eu-west.", "succeeded against failed"),
    (READ, "The payout job failed in region eu-west.", None),
    (READ, "The payout job failed and then succeeded in region eu-west.", None),
    ("Replica db-2 is not in recovery mode now", "Replica db-2 is in recovery mode now.", "not"),
    ("Replica db-2 is not in recovery mode now", "Replica db-2 is never in recovery mode now.", None),
    ("The refund job 88213 failed at noon", "The refund job 88213 did not fail at noon.", "not"),
    ("Nobody is on call", "The payout job did not succeed.", None),
    ('{"attempts": 2}', "It ran with attempts: 3 in all.", "attempts 3 against 2"),
    ('{"attempts": 2}', "It ran with attempts: 2 in all.", None),
    ('{"took_ms": 28112}', "took_ms 28000 of them", "took ms 28000 against 28112"),
    ('[{"attempts": 2}, {"attempts": 3}]', "attempts: 3", None),
]


@pytest.mark.parametrize(("read", "said", "why"), SAID)
def test_an_answer_that_says_otherwise_gives_a_hint(read: str, said: str, why: str | None) -> None:
    steps = [{"type": "tool_result", "content": read}, {"type": "assistant", "content": said}]
    hints = hints_of(steps)
    assert [hint["why"] for hint in hints] == ([why] if why else [])
    for hint in hints:
        assert said[hint["start"] : hint["end"]].strip()
        assert read[hint["evidence_start"] : hint["evidence_end"]].strip()


def test_what_comes_after_the_answer_gives_no_hint() -> None:
    steps = [{"type": "assistant", "content": "attempts: 3"}, {"type": "tool_result", "content": '{"attempts": 2}'}]
    assert hints_of(steps) == hints_of(steps[1:]) == []


def results(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool": "logs", "content": text} for text in texts]


def test_most_of_the_units_make_a_repetition_and_one_chance_pair_does_not() -> None:
    long = "pool alpha is exhausted\nqueue beta is blocked\nlease gamma has ended\nworker delta died"
    most = "pool alpha is exhausted\nqueue beta is blocked\nlease gamma has ended\nsomething else now"
    one = "pool alpha is exhausted\nno other line of it\nis in there at all\nas you see"
    assert [tuple(found.as_json().values()) for found in repeats_of(results(long, most, one))] == [(1, 0, 3, 4)]


def test_a_line_that_stands_in_most_results_links_none() -> None:
    texts = [f"Params used for the tool call\nhost-{at} answered\nnumber {at} of them" for at in range(6)]
    assert repeats_of(results(*texts)) == []


def test_a_field_of_another_name_is_another_unit() -> None:
    assert repeats_of(results('{"a": 1, "b": 2}', '{"c": 1, "d": 2}')) == []
    assert len(repeats_of(results('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'))) == 1


def run(*calls: tuple[str, str, str], answer: str) -> list[difference.Result]:
    steps: list[dict[str, Any]] = []
    for tool, arguments, result in calls:
        steps.append({"type": "tool_call", "tool": tool, "content": arguments})
        steps.append({"type": "tool_result", "tool": tool, "content": result})
    steps.append({"type": "assistant", "content": answer})
    return difference.results_of(steps, analyze_finer(steps))


def test_calls_are_paired_by_tool_and_arguments_and_then_by_text() -> None:
    one = run(
        ("job", '{"id": 1, "of": 2}', '{"state": "failed hard"}'), ("job", '{"id": 9}', '{"x": "first text"}'),
        ("job", '{"id": 9}', '{"x": "second text"}'), ("log", "{}", "pool alpha is exhausted"), answer="failed hard",
    )  # fmt: skip
    other = run(
        ("job", '{"of": 2, "id": 1}', '{"state": "ran well"}'), ("job", '{"id": 9}', '{"x": "second text"}'),
        ("new", "{}", "nothing"), answer="It is over.",
    )  # fmt: skip
    pairs = difference.compared(one, other)
    assert [(pair.kind, (pair.one or pair.other).tool) for pair in pairs] == [  # type: ignore[union-attr]
        (difference.CHANGED, "job"), (difference.LOST, "job"), (difference.SAME, "job"), (difference.LOST, "log"),
        (difference.GAINED, "new"),
    ]  # fmt: skip
    assert pairs[0].changes == [("/state", "failed hard", "ran well")]
    assert [pair.is_newly_unmet for pair in pairs] == [True, False, False, False, False]
