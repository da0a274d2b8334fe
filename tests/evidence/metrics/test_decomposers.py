"""Each decomposition holds its invariant on any rows; and what breaks the invariant is shown."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.metrics.decomposers import additive, partition, precedence, rate_mix, telescoping, time_cover
from evidence.metrics.decomposers.parts import Component, Decomposition, Piece, Share
from evidence.metrics.decomposers.rate_mix import Ratio, ZeroDenominator
from evidence.metrics.status import UNRESOLVED, Code, because, settle

AMOUNT = st.fractions(min_value=-1000, max_value=1000, max_denominator=997)
KINDS = ("a", "b", "c")
NAMES = st.sampled_from(["x", "y", "z", "other"])
SHARES = st.lists(
    st.builds(
        Share,
        NAMES,
        st.sampled_from(KINDS),
        AMOUNT,
        st.fixed_dictionaries({"class": st.one_of(st.none(), NAMES)}),
    ),
    max_size=12,
)


def total(shares: list[Share]) -> Fraction:
    return sum((share.amount for share in shares), Fraction(0))


def codes(found: Decomposition) -> set[Code]:
    return {reason.code for reason in found.reasons}


def is_resolved(found: Decomposition) -> bool:
    return settle(found.value, found.reasons, residual=found.residual).status == "resolved"


@given(SHARES)
def test_additive_kinds_sum_to_the_value(shares: list[Share]) -> None:
    found = additive.decompose(total(shares), shares, KINDS)
    assert (found.residual, [component.name for component in found.components]) == (0, list(KINDS))
    assert is_resolved(found)


@given(SHARES, st.fractions(max_denominator=10**9).filter(bool))
def test_a_value_that_the_kinds_do_not_make_up_has_a_residual(shares: list[Share], off: Fraction) -> None:
    found = additive.decompose(total(shares) + off, shares, KINDS)
    assert found.residual == off
    assert not is_resolved(found)


@given(SHARES, AMOUNT)
def test_a_kind_that_is_not_listed_is_in_no_component(shares: list[Share], amount: Fraction) -> None:
    shares = [*shares, Share("x", "unheard", amount)]
    found = additive.decompose(total(shares), shares, KINDS)
    assert found.residual == amount
    assert because(Code.UNKNOWN_VALUE, column="kind", value="unheard") in found.reasons


@given(SHARES)
def test_a_partition_is_disjoint_complete_and_names_the_rest(shares: list[Share]) -> None:
    found = partition.decompose(total(shares), shares, "class")
    assert found.residual == 0
    assert len({(one.name, one.part) for one in found.components}) == len(found.components)
    rest = [one.amount for one in found.components if one.part == "other"]
    without = [share for share in shares if share.keys["class"] is None]
    assert rest == ([total(without)] if without else [])


def test_a_group_that_is_called_other_is_not_the_rest() -> None:
    shares = [Share("x", "a", Fraction(1), {"class": "other"}), Share("y", "a", Fraction(2), {"class": None})]
    assert partition.decompose(Fraction(3), shares, "class").components == (
        Component("other", Fraction(1)),
        Component("other", Fraction(2), "other"),
    )


def test_a_partition_by_what_the_rows_do_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no column region"):
        partition.decompose(Fraction(1), [Share("x", "a", Fraction(1), {})], "region")


CLAIMS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(KINDS)), max_size=15).map(
    lambda pairs: [Share(str(entity), kind, Fraction(entity + 1, 7)) for entity, kind in pairs]
)


@given(CLAIMS, st.permutations(KINDS))
def test_each_entity_is_in_the_first_bucket_that_claims_it(claims: list[Share], order: list[str]) -> None:
    found = precedence.decompose(claims, order)
    assert (found.residual, found.reasons) == (0, ())
    entities = {claim.entity for claim in claims}
    winners = precedence.winners(claims, order)
    assert set(winners) == entities
    for entity in entities:
        assert winners[entity] == min((one.kind for one in claims if one.entity == entity), key=order.index)
    assert found.value == sum((Fraction(int(entity) + 1, 7) for entity in entities), Fraction(0))


@given(CLAIMS)
def test_the_order_moves_amounts_and_never_their_sum(claims: list[Share]) -> None:
    assert precedence.decompose(claims, KINDS).value == precedence.decompose(claims, KINDS[::-1]).value


def test_claims_that_differ_or_are_unknown_are_said() -> None:
    differing = [Share("x", "a", Fraction(1)), Share("x", "b", Fraction(2))]
    assert codes(precedence.decompose(differing, KINDS)) == {Code.CONTRADICTION}
    unknown = precedence.decompose([Share("x", "q", Fraction(1))], KINDS)
    assert (codes(unknown), unknown.residual) == ({Code.UNKNOWN_VALUE}, 1)


@st.composite
def covers(draw: st.DrawFn) -> tuple[Fraction, Fraction, list[Piece]]:
    """An interval that is covered once, its pieces in any order."""
    times = sorted(draw(st.lists(AMOUNT, min_size=2, max_size=8, unique=True)))
    pieces = [Piece(draw(st.sampled_from(KINDS)), starts, ends) for starts, ends in pairwise(times)]
    return times[0], times[-1], draw(st.permutations(pieces))


@given(covers())
def test_a_cover_has_one_reason_for_each_instant(cover) -> None:
    begins, finishes, pieces = cover
    found = time_cover.decompose("j", begins, finishes, pieces, KINDS)
    assert (found.value, found.residual, found.reasons) == (finishes - begins, 0, ())


@given(covers(), st.data())
def test_a_piece_that_is_missing_is_a_gap_in_its_place(cover, data: st.DataObject) -> None:
    begins, finishes, pieces = cover
    missing = data.draw(st.sampled_from(pieces))
    found = time_cover.decompose("j", begins, finishes, [one for one in pieces if one is not missing], KINDS)
    assert found.residual == missing.ends - missing.starts
    assert because(Code.GAP, entity="j", since=missing.starts, until=missing.ends) in found.reasons


@given(covers(), st.data())
def test_a_piece_twice_is_an_overlap(cover, data: st.DataObject) -> None:
    begins, finishes, pieces = cover
    twice = data.draw(st.sampled_from(pieces))
    found = time_cover.decompose("j", begins, finishes, [*pieces, twice], KINDS)
    assert found.residual == twice.starts - twice.ends
    assert Code.OVERLAP in codes(found)


def test_an_overlap_as_long_as_a_gap_does_not_hide_it() -> None:
    pieces = [Piece("a", Fraction(0), Fraction(6)), Piece("b", Fraction(4), Fraction(8))]
    found = time_cover.decompose("j", Fraction(0), Fraction(10), pieces, KINDS)
    assert (found.residual, codes(found)) == (0, {Code.OVERLAP, Code.GAP})
    assert not is_resolved(found)


def test_a_piece_inside_of_another_is_an_overlap_and_leaves_no_gap_behind_it() -> None:
    pieces = [Piece("a", Fraction(0), Fraction(10)), Piece("b", Fraction(2), Fraction(4))]
    found = time_cover.decompose("j", Fraction(0), Fraction(10), pieces, KINDS)
    assert found.reasons == (because(Code.OVERLAP, entity="j", since=2, until=4),)


def test_time_outside_and_backwards_is_a_contradiction() -> None:
    for piece in [("a", 5, 3), ("a", -1, 3), ("a", 9, 12)]:
        kind, starts, ends = piece
        pieces = [Piece(kind, Fraction(starts), Fraction(ends))]
        assert Code.CONTRADICTION in codes(time_cover.decompose("j", Fraction(0), Fraction(10), pieces, KINDS))
    assert Code.CONTRADICTION in codes(time_cover.decompose("j", Fraction(1), Fraction(0), [], KINDS))


def test_idle_time_without_a_reason_is_said_with_its_seconds() -> None:
    pieces = [Piece("a", Fraction(0), Fraction(28)), Piece("b", Fraction(28), Fraction(58))]
    found = time_cover.decompose("j4", Fraction(0), Fraction(58), pieces, KINDS, ["b"])
    assert found.reasons == (because(Code.WITHOUT_REASON, entity="j4", kind="b", seconds=Fraction(30)),)


@given(st.lists(AMOUNT, min_size=4, max_size=4, unique=True).map(sorted))
def test_stages_sum_to_the_end_less_the_start(times: list[Fraction]) -> None:
    stages = [Piece(kind, *span) for kind, span in zip(KINDS, pairwise(times), strict=True)]
    found = telescoping.decompose("i", times[0], times[-1], stages, KINDS)
    assert (found.value, found.residual, found.reasons) == (times[-1] - times[0], 0, ())
    assert not is_resolved(telescoping.decompose("i", times[0], times[-1], stages[1:], KINDS))
    swapped = telescoping.decompose("i", times[0], times[-1], stages, ["b", "a", "c"])
    assert (swapped.residual, codes(swapped)) == (0, {Code.CONTRADICTION})


def test_a_stage_that_comes_twice_is_a_contradiction() -> None:
    stages = [Piece("a", Fraction(0), Fraction(1)), Piece("a", Fraction(1), Fraction(2))]
    found = telescoping.decompose("i", Fraction(0), Fraction(2), stages, KINDS)
    assert (found.residual, codes(found)) == (0, {Code.CONTRADICTION})


GROUPS = st.dictionaries(
    st.sampled_from(["v1", "v2", "v3", "v4"]),
    st.tuples(st.integers(0, 50), st.integers(1, 5000)).map(lambda pair: Ratio(Fraction(pair[0]), Fraction(pair[1]))),
    min_size=1,
)


@given(GROUPS, GROUPS)
def test_rate_mix_and_interaction_make_up_the_change(before, after) -> None:
    found = rate_mix.decompose(before, after)
    assert found.value == rate_mix.whole(after) - rate_mix.whole(before)
    assert found.residual == 0
    assert found.components[-1].part == "interaction"


@given(GROUPS)
def test_without_a_change_nothing_is_explained(groups) -> None:
    assert {component.amount for component in rate_mix.decompose(groups, groups).components} == {0}


@given(GROUPS, st.integers(2, 9))
def test_more_of_the_same_mix_changes_no_share(groups, times: int) -> None:
    more = {name: Ratio(one.numerator * times, one.denominator * times) for name, one in groups.items()}
    assert {component.amount for component in rate_mix.decompose(groups, more).components} == {0}


def test_a_group_that_came_counts_as_mix() -> None:
    before, after = {"v1": Ratio(Fraction(1), Fraction(10))}, {"v2": Ratio(Fraction(3), Fraction(10))}
    parts = {(one.name, one.part): one.amount for one in rate_mix.decompose(before, after).components}
    assert parts[("v2", "mix")] == Fraction(3, 10)
    assert parts[("v1", "mix")] == -Fraction(1, 10)
    assert parts[("interaction", "interaction")] == parts[("v2", "rate")] == 0


def test_nothing_counted_has_no_ratio() -> None:
    with pytest.raises(ZeroDenominator):
        rate_mix.decompose({}, {"v1": Ratio(Fraction(0), Fraction(1))})
    wrong = rate_mix.decompose({"v1": Ratio(Fraction(0), Fraction(1))}, {
        "v1": Ratio(Fraction(0), Fraction(1)), "v2": Ratio(Fraction(1), Fraction(0)),
    })  # fmt: skip
    assert codes(wrong) <= UNRESOLVED
    assert codes(wrong) == {Code.CONTRADICTION}
