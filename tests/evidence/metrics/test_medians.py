"""Medians of times that are not all over: nothing is left out, nothing is drawn, and the half is exact."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from evidence import arguments
from evidence.metrics import answers, schemas
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Reading, explain
from evidence.metrics.medians import Median, Spell, median
from evidence.metrics.reading_answers import Explained
from tests.evidence.metrics import examples
from tests.evidence.metrics.test_answers import BURN, FROM
from tests.evidence.metrics.test_measures import TIME_TO_DECISION, explained, stages

SPELLS = st.lists(
    st.builds(Spell, st.fractions(min_value=0, max_value=60, max_denominator=6), st.booleans()), min_size=1, max_size=25
)


def redistributed(spells: list[Spell]) -> Fraction | None:
    """The median as B. Efron (1967) has it: the mass of a time that is not over goes to those to its right."""
    ordered = sorted(spells, key=lambda spell: (spell.length, not spell.is_over))
    mass = [Fraction(1, len(ordered))] * len(ordered)
    for place, spell in enumerate(ordered):
        if not spell.is_over:
            right = len(ordered) - place - 1
            for later in range(place + 1, len(ordered)):
                mass[later] += mass[place] / right
            mass[place] = mass[place] if not right else Fraction(0)
    gone = Fraction(0)
    for spell, own in zip(ordered, mass, strict=True):
        gone += own if spell.is_over else 0
        if gone >= Fraction(1, 2):
            return spell.length
    return None


@given(SPELLS)
def test_the_median_is_where_half_of_the_mass_is_over(spells: list[Spell]) -> None:
    assert median(None, spells).median == redistributed(spells)


@given(SPELLS)
def test_each_is_counted_once_and_the_interval_holds_the_median(spells: list[Spell]) -> None:
    found = median(None, spells)
    assert (found.entities, found.still_open) == (len(spells), sum(not spell.is_over for spell in spells))
    assert found == median(None, spells[::-1])
    over = {spell.length for spell in spells if spell.is_over}
    reached = [time for time in (found.low, found.median, found.high) if time is not None]
    assert reached == sorted(reached)
    assert set(reached) <= over
    if found.median is not None:
        assert found.low is not None
    if found.high is not None:
        assert found.median is not None


@given(SPELLS, st.fractions(min_value=0, max_value=60, max_denominator=6))
def test_one_that_goes_on_for_longer_never_shortens_the_median(spells: list[Spell], length: Fraction) -> None:
    before, after = median(None, spells).median, median(None, [*spells, Spell(length, False)]).median
    assert after is None or (before is not None and after >= before)


def minutes(*lengths: int, still: tuple[int, ...] = ()) -> list[Spell]:
    return [*(Spell(Fraction(one), True) for one in lengths), *(Spell(Fraction(one), False) for one in still)]


def test_medians_that_were_worked_out_elsewhere() -> None:
    # The remission times of the 21 treated patients of E. J. Freireich and others (1963), as every textbook has them:
    # the median is 23 weeks; its lower limit is 13 (D. Collett, 2003), and there is no upper one.
    treated = minutes(6, 6, 6, 7, 10, 13, 16, 22, 23, still=(6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35))
    assert median(None, treated) == Median(None, 21, 12, Fraction(23), Fraction(13), None)
    placebo = minutes(1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)
    assert median(None, placebo) == Median(None, 21, 0, Fraction(8), Fraction(4), Fraction(11))


def test_fast_closes_do_not_flatter_the_number() -> None:
    found = explain(
        MetricVersion.of("time_to_decision", 1, "", TIME_TO_DECISION),
        Reading([
            *stages("1", 0, 60, 120, 660), *stages("2", 0, 60, 120, 720),
            *stages("3", 0, 60, 120, 6000, is_open=True), *stages("4", 0, 60, 120, 6000, is_open=True),
        ]),
    )  # fmt: skip
    whole, waiting, agent, human = found.medians
    assert (whole.of, whole.entities, whole.still_open, whole.median) == (None, 4, 2, 12)
    assert (waiting.still_open, waiting.median, waiting.low, waiting.high) == (0, 1, 1, 1)
    assert (agent.of, agent.still_open, agent.median) == ("agent", 0, 1)
    assert (human.entities, human.still_open, human.median) == (4, 2, 10)


def test_a_half_that_is_not_over_is_not_known_and_a_stage_that_nobody_came_to_has_no_median() -> None:
    rows = [*stages("1", 0, 60, 120, 660, is_open=True)[:2], *stages("2", 0, 60, 120, 660, is_open=True)[:2]]
    found = explained("time_to_decision", [{**row, "finishes": 120} for row in rows])
    assert [(one.of, one.entities, one.median) for one in found.medians] == [
        (None, 2, None), ("waiting", 2, 1), ("agent", 2, None), ("human", 0, None),
    ]  # fmt: skip


def test_what_has_no_value_has_no_median() -> None:
    rows = stages("1", 0, 60, 120, 660)
    assert explained("time_to_decision", [{**rows[0], "finishes": 700}, *rows[1:]]).medians == ()


def test_it_is_answered_as_the_tool_promises_and_shown() -> None:
    rows = [*stages("1", 0, 70, 140, 660), *stages("2", 0, 60, 120, 6000, is_open=True)]
    found = answers.explained(explained("time_to_decision", rows), FROM)
    assert arguments.misfit(arguments.checker(schemas.ANSWERED[schemas.EXPLAIN]), found) == ""
    assert found["medians"][1] == {
        "of": "waiting", "entities": 2, "still_open": 0, "median": 1, "low": 1,
        "high": Decimal("1.166666666667"), "high_exact": "7/6",
    }  # fmt: skip
    page = " ".join(render_to_string("evidence/_metric_value.html", {"answer": Explained(found)}).split())
    assert "<code>waiting</code>" in page
    assert "1 to 1.166666666667" in page
    assert "11 to not known" in page
    other = answers.explained(explain(BURN, Reading(examples.burnt(0, 9))), FROM)
    assert "medians" not in other
    assert "Median" not in render_to_string("evidence/_metric_value.html", {"answer": Explained(other)})
