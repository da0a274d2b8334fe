"""What pages make of answers: exact numbers, nothing for null, a sentence for each code, bars that add up."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics import amounts, answers, waterfall, wording
from evidence.metrics.answers import Provenance
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Reading, explain
from evidence.metrics.reading_answers import Compared, Explained
from evidence.metrics.reading_traces import Traced, moment
from evidence.metrics.status import Code, Status
from evidence.metrics.trace import trace
from evidence.metrics.units import UNITS
from tests.evidence.metrics import examples

BURN = MetricVersion.of("error_budget_burn", 2, "abc", examples.ERROR_BUDGET_BURN)
FROM = Provenance("call-1", "2026-05-01T00:00:00Z", "error_budget_burn", 2, "abc", None, None, ("A-48213",))
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=50)


def burnt(first: int, last: int) -> dict[str, Any]:
    return answers.explained(explain(BURN, Reading(examples.burnt(first, last))), FROM)


def test_each_code_has_a_sentence_and_each_status_a_mark() -> None:
    assert set(wording.SENTENCES) == set(Code)
    assert set(wording.MARKS) == set(wording.MEANINGS) == set(Status)
    assert len(set(wording.SENTENCES.values())) == len(Code)
    with pytest.raises(ValueError, match="nothing_known"):
        wording.sentence("nothing_known")


def test_units_are_words() -> None:
    assert [wording.unit_words(name) for name in ("EUR", "EUR_minor", "GBP_minor", "slot_s", "s")] == [
        "EUR", "EUR cents", "minor units of GBP", "slot-seconds", "s",
    ]  # fmt: skip
    assert all(map(wording.unit_words, UNITS))


def test_a_number_without_an_end_says_what_it_is_the_beginning_of() -> None:
    found = Explained(burnt(0, 14))
    assert found.value is not None
    assert (found.value.text, found.value.exactly) == ("23.133333333333", "347/15")
    assert [(one.name, one.share) for one in found.components] == [("v1", "2.9 %"), ("v2", "97.1 %")]
    assert found.sums == "adds up exactly, nothing left over"


def test_what_is_not_known_is_never_0() -> None:
    found = Explained(burnt(15, 20))
    assert (found.value, found.residual, found.plot, found.components) == (None, None, None, [])
    assert (found.standing.word, found.sums) == ("unresolved", "not known")
    assert "not 0" in found.standing.reasons[0].sentence


def test_what_is_left_over_stands_in_the_plot() -> None:
    found = Explained({**burnt(0, 9), "residual": Decimal("0.5")})
    assert found.plot is not None
    assert found.plot.bars[-2].name == "left over"
    assert "left over" in found.sums


@pytest.mark.parametrize("shape", [Explained, Compared, Traced])
@pytest.mark.parametrize("result", [{}, {"items": [{}]}, {"mechanism_status": "resolved", "reasons": []}, [], "text"])
def test_an_answer_of_another_shape_is_none(shape: Any, result: Any) -> None:
    with pytest.raises(ValueError, match="no answer"):
        shape(result)


def test_a_float_is_no_exact_number() -> None:
    with pytest.raises(ValueError, match="not an exact number"):
        Explained({**burnt(0, 9), "value": 0.1, "value_exact": None})


def test_gaps_and_the_cut_end_are_lines_of_a_trace() -> None:
    ticks = zip((0, 1, 4), examples.TRACE_OF_J1, strict=True)
    rows = [{**row, "tick": tick, "first_tick": 0, "last_tick": 9} for tick, row in ticks]
    rows[1] = {**rows[1], "at": rows[0]["at"]}
    found = Traced(answers.traced(trace(Reading(rows, is_truncated=True)), FROM))
    assert [one.kind for one in found.items] == ["event", "event", "gap", "event", "cut"]
    events = [found.items[place] for place in (0, 1, 3)]
    assert [one.is_at_same_time for one in events] == [False, True, False]
    assert [one.is_new_day for one in events] == [True, False, False]
    assert (found.items[2].since, found.items[2].until) == (2, 3)
    assert (found.items[4].rows, found.items[4].at) == (3, events[2].at)


def test_a_moment_that_no_calendar_has_is_a_number() -> None:
    assert moment(Fraction(10**30)) is None
    assert str(moment(Fraction(3, 2))) == "1970-01-01 00:00:01.500000+00:00"


@given(st.lists(fractions, min_size=1, max_size=30))
def test_each_bar_begins_where_the_one_before_it_ended(parts: list[Fraction]) -> None:
    whole = amounts.made(sum(parts, Fraction(0)))
    plot = waterfall.plot("cost", [(f"p{at}", amounts.made(part)) for at, part in enumerate(parts)], whole, "s")
    assert len(plot.bars) == min(len(parts), waterfall.MOST_BARS) + 1
    began = plot.left
    for bar in plot.bars[:-1]:
        if bar.width > waterfall.THINNEST:
            assert min(abs(bar.x - began), abs(bar.x + bar.width - began)) < 0.2
        began = bar.end
    whole_bar = plot.bars[-1]
    assert abs(whole_bar.end - began) < 0.2
    assert all(waterfall.LEFT <= bar.x <= bar.x + bar.width <= waterfall.RIGHT + 1.1 for bar in plot.bars)


@given(st.lists(st.fractions(min_value=0, max_value=1000, max_denominator=50), min_size=1, max_size=8))
def test_shares_make_a_hundred_percent_of_what_adds_up(parts: list[Fraction]) -> None:
    shares = [amounts.share(part, parts) for part in parts]
    if not any(parts):
        assert shares == [""] * len(parts)
    else:
        total = sum((Decimal(share.removesuffix(" %")) for share in shares), Decimal(0))
        assert abs(total - 100) <= Decimal("0.05") * len(parts)


def test_parts_that_take_away_from_each_other_have_no_share() -> None:
    parts = [Fraction(3), Fraction(-1)]
    assert [amounts.share(part, parts) for part in parts] == ["", ""]
    assert amounts.signed(amounts.made(Fraction(-1))) == "−1"
    assert amounts.difference(None, amounts.made(Fraction(1))) is None
