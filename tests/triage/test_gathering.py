"""What a draft says of how its evidence was gathered: tries of one question, and which of them a check has read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gate.triage import gathering
from gate.triage.sheet import LATER_ANSWERS

WINDOW = ("2026-11-30T04:00:00Z", "2026-11-30T07:00:00Z", "2026-11-30T08:00:00Z")


def call(seq: int, tool: str = "count_errors") -> Any:
    return SimpleNamespace(pk=seq, seq=seq, ref=f"A-{seq}", tool=tool, status="ok", truncated=False)


def content(**args: Any) -> Any:
    return SimpleNamespace(args=args)


def tries(cited: set[int], read: set[str], contents: dict[int, Any]) -> Any:
    calls = [call(seq) for seq in contents]
    return gathering.tries(calls, contents, frozenset(cited), frozenset(read))


def test_times_make_no_other_question_and_anything_else_does() -> None:
    asked = {1: content(job=7, to=WINDOW[0]), 2: content(job=7, to=WINDOW[1]), 3: content(job=8, to=WINDOW[1])}
    assert [one.number for one in tries({2}, set(), asked)] == [2, 1]


@pytest.mark.parametrize(
    ("cited", "read", "says"),
    [
        ({3}, set(), (True, True, False)),  # two tries before the one that is cited
        ({1}, {"A-2"}, (True, False, True)),  # later ones, and a check looked
        ({1}, set(), (True, False, False)),
        ({2}, set(), (True, False, False)),  # one before, one after: not only before
        (set(), set(), (False, False, False)),
        ({1, 2, 3}, set(), (True, True, False)),
    ],
)
def test_a_try_says_whether_it_is_cited_and_what_became_of_the_others(
    cited: set[int], read: set[str], says: tuple[bool, bool, bool]
) -> None:
    (one,) = tries(cited, read, {seq: content(job=7, to=WINDOW[seq - 1]) for seq in (1, 2, 3)})
    assert (one.is_cited, one.is_earlier, one.is_read) == says
    assert {uncited.seq for uncited in one.uncited} == {1, 2, 3} - cited


def test_what_the_class_offers_and_nobody_called_is_named() -> None:
    assert gathering.not_called(["find_job", "count_errors"], [call(1)]) == ["find_job"]


def test_an_answer_that_nobody_cited_and_that_contradicts_is_found() -> None:
    lines = [
        {"fact": LATER_ANSWERS, "outcome": "holds", "audit_ids": ["A-1"], "why": ""},
        {"fact": LATER_ANSWERS, "outcome": "fails", "audit_ids": ["A-2"], "why": "A-2 says 1."},
        {"fact": "no_recurrence", "outcome": "fails", "audit_ids": ["A-3"], "why": "…"},
    ]
    found = gathering.contradicting(lines)
    assert found is not None
    assert found["why"] == "A-2 says 1."
    assert gathering.contradicting(lines[:1]) is None
    assert gathering.read_uncited(lines) == {"A-1", "A-2"}
