"""What labels say of answers: shares with their intervals, a picture that hides nothing, thresholds that are earned."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.admission import calibration, program
from gate.admission.calibration import Sample, wilson
from tests.admission.programs import DATA, FRACTIONS, answer, enum, level, probe, yesno

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SAMPLES = st.lists(
    st.builds(lambda sure, right: Sample(sure, right, sure, right, sure >= 0.6), FRACTIONS, st.booleans()), max_size=60
)
FEW = settings(max_examples=60, deadline=None)


def question(raw: dict[str, Any]) -> program.Question:
    return program.build({"questions": [raw], "rules": [], "otherwise": "ask"}).questions[0]


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    # At the ends the formula is z²/(n + z²); the others worked out from it by hand.
    [(137, 143, 0.9115, 0.9806), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_wilson_gives_the_published_intervals(right: int, n: int, low: float, high: float) -> None:
    found = wilson(right, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(COUNTS)
def test_an_interval_holds_its_share_and_shrinks_with_more_of_the_same(counts: tuple[int, int]) -> None:
    right, n = counts
    found, more = wilson(right, n), wilson(right * 4, n * 4)
    assert 0 <= found.low <= right / n <= found.high <= 1
    assert more.high - more.low < found.high - found.low
    mirrored = wilson(n - right, n)
    assert math.isclose(mirrored.low, 1 - found.high, abs_tol=1e-12)


@given(SAMPLES)
def test_every_answer_is_in_one_step_of_the_picture(samples: list[Sample]) -> None:
    found = calibration.bins(samples)
    assert sum(one.share.n for one in found) == len(samples)
    assert sum(one.share.right for one in found) == sum(one.was for one in samples)
    assert all(one.low <= one.said <= one.high for one in found)
    assert [one.low for one in found] == sorted({one.low for one in found})


@FEW
@given(SAMPLES, st.sampled_from([0.5, 0.7, 0.9]))
def test_a_suggested_threshold_is_earned_and_is_the_lowest(samples: list[Sample], target: float) -> None:
    found = calibration.suggest(samples, target)
    held = {one.confidence for one in samples if is_held(samples, one.confidence, target)}
    assert found.threshold == (min(held) if held else None)
    assert calibration.suggest(list(reversed(samples)), target).threshold == found.threshold


def is_held(samples: list[Sample], threshold: float, target: float) -> bool:
    above = [one.is_right for one in samples if one.confidence >= threshold]
    return wilson(sum(above), len(above)).low >= target


@FEW
@given(SAMPLES)
def test_the_uncertainty_of_a_threshold_is_made_of_answers_that_there_are(samples: list[Sample]) -> None:
    found = calibration.suggest(samples, 0.5)
    assert found == calibration.suggest(samples, 0.5)
    assert 0 <= found.found <= 1
    assert (found.interval is None) == (found.found == 0)
    if found.interval is not None:
        known = {one.confidence for one in samples}
        assert found.interval.low in known
        assert found.interval.high in known
        assert found.interval.low <= found.interval.high


@given(SAMPLES)
def test_a_wrong_answer_more_never_makes_a_threshold_look_better(samples: list[Sample]) -> None:
    worse = [*samples, Sample(1.0, False, 1.0, False, True)]
    before, after = calibration.at_threshold(samples), calibration.at_threshold(worse)
    assert after.n == before.n + 1
    assert after.interval.low <= before.interval.low or before.n == 0


def test_few_answers_earn_no_threshold_however_right_they_were() -> None:
    right = [Sample(0.99, True, 0.99, True, True)]
    assert calibration.suggest(right * 34).threshold is None
    assert calibration.suggest(right * 35).threshold == 0.99
    assert calibration.suggest([]) == calibration.Suggestion(None, None, 0.0)


@given(st.data(), st.sampled_from([yesno("q"), enum("q"), level("q"), probe("q", "a", "b")]), st.booleans())
def test_a_label_is_about_what_the_answer_came_down_to(
    data: st.DataObject, raw: dict[str, Any], is_right: bool
) -> None:
    given_answer = data.draw(answer(raw))
    found = calibration.sample(question(raw), given_answer, is_right)
    if raw.get("by") == "probe" or given_answer.get("p") == 0.5:
        assert found is None
        return
    assert found is not None
    assert found.is_right == is_right
    if raw["type"] == "yesno":
        assert found.said == given_answer["p"]
        assert found.was == ((given_answer["p"] > 0.5) == is_right)
        assert found.is_sure == (not raw["unsure_between"][0] < found.said < raw["unsure_between"][1])
    else:
        assert (found.said, found.was) == (given_answer["confidence"], is_right)
        assert found.is_sure == (found.said >= raw["min_confidence"])


@pytest.mark.parametrize("answer", [None, {}, {"p": "0.9"}, {"abstain": True, "why": "x"}, {"p": 0.5}, 0.9])
def test_what_is_no_answer_is_no_sample(answer: Any) -> None:
    assert calibration.sample(question(yesno("q")), answer, True) is None


def test_recorded_confidences_are_measured_and_not_believed() -> None:
    """Real answers of a model. Their labels were fitted to them: they prove that this counts, not that it is right."""
    rows = [json.loads(line) for line in (DATA / "recorded_answers.jsonl").read_text().splitlines()]
    asked = [row for row in rows if row["type"] == "noul" and row.get("label") is not None]
    by_label: dict[bool, list[float]] = defaultdict(list)
    samples = []
    for row in asked:
        by_label[row["label"]].append(row["answer"])
        is_right = (row["answer"] > 0.5) == row["label"]
        if found := calibration.sample(question(yesno(row["question"])), {"p": row["answer"]}, is_right):
            samples.append(found)
    found_bins = calibration.bins(samples)
    assert sum(one.share.right for one in found_bins) == sum(
        len([p for p in given_answers if p != 0.5]) for label, given_answers in by_label.items() if label
    )
    suggestion = calibration.suggest(samples)
    assert suggestion.threshold is not None
    assert suggestion.interval is not None
    assert suggestion.interval.low <= suggestion.threshold <= suggestion.interval.high
