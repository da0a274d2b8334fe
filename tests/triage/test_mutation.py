"""Evidence mutation: what is generated, what the rules notice, and what a draft's page says of it. No database."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage import altered, mutation, nearest
from gate.triage.outcomes import Pass
from gate.triage.situation import Situation
from tests.triage import worlds
from tests.triage.worlds import WORLDS, World

# Where another value is as good: one line more or less that was scanned, a claim that does not name its refund.
AS_GOOD = {
    ("A-13", "/scanned"), ("A-20", "/scanned"), ("A-21", "/scanned"), ("A-21", "/count"), ("A-10", "/job/finished_at"),
    ("A-30", "/refunds/0/refund_id"), ("A-31", "/charge/amount_cents"),
}  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


def situation(world: World) -> Situation:
    return Situation(world.hypothesis, world.findings, world.entries, world.incident, world.decided_at)


def told(world: World) -> list[mutation.Told]:
    at = situation(world)
    decided = at.decide(world.rules)
    assert isinstance(decided, Pass)
    return list(mutation.tell(at, world.rules, decided=decided))


@given(JSON)
def test_what_is_altered_is_another_value(value: object) -> None:
    made = [other for _, other in altered.alterations(value)]
    assert made
    assert all(type(other) is not type(value) or other != value for other in made)


@pytest.mark.parametrize("value", ["2026-11-29T02:15:34Z", 1_672_996_380, 1_672_996_380_000])
def test_a_time_is_shifted(value: object) -> None:
    assert {"a day earlier", "a day later"} <= {change for change, _ in altered.alterations(value)}


def test_a_document_is_changed_in_one_place_and_the_original_stays() -> None:
    root = {"a": [{"b": 1}, {"b": 2}], "c~/d": None}
    steps = altered.steps_of("/a/1/b", root)
    assert altered.put(root, steps, 3) == {"a": [{"b": 1}, {"b": 3}], "c~/d": None}
    assert altered.without(root, altered.steps_of("/c~0~1d", root)) == {"a": [{"b": 1}, {"b": 2}]}
    assert root == {"a": [{"b": 1}, {"b": 2}], "c~/d": None}


@pytest.mark.parametrize("hypothesis", WORLDS)
def test_the_shipped_rules_notice_nine_of_ten_changes_and_miss_none_but_values_that_are_as_good(
    hypothesis: str,
) -> None:
    found = told(WORLDS[hypothesis]())
    missed = [one.mutant for one in found if not one.is_noticed]
    assert len(found) > 50
    assert len(missed) * 10 < len(found)
    assert {(mutant.audit_id, mutant.pointer) for mutant in missed} <= AS_GOOD


def test_every_field_that_a_check_read_is_changed_and_no_other() -> None:
    world = worlds.recovered()
    decided = world.decide()
    found = {(one.mutant.audit_id, one.mutant.pointer) for one in told(world) if one.mutant.part == mutation.RESULT}
    cited = {"A-10", "A-13"}
    read = {(ref, path) for check in decided.checks for ref, paths in check.paths.items() for path in paths}
    assert found == {(ref, path) for ref, path in read if ref in cited}
    assert ("A-10", "/job/attempts") not in found  # no check reads it


def test_the_entries_themselves_are_changed_too() -> None:
    changes = {one.mutant.change for one in told(worlds.recovered()) if one.mutant.part == mutation.CALL}
    assert {"not there", "of another incident", "cut at a limit", "failed", "another answer"} <= changes
    assert all(one.is_noticed for one in told(worlds.recovered()) if one.mutant.part == mutation.CALL)


def test_a_rule_that_reads_less_has_more_blind_spots() -> None:
    """The score is of the rule, and not of the case: without the check of the count, a count of 1 stays a pass."""
    from dataclasses import replace

    world = worlds.recovered()
    active = world.rules[world.hypothesis]
    assert active.rule is not None
    need = active.rule.facts[1].needs[0]
    lax = replace(need, checks=tuple(check for check in need.checks if "count" not in check.title.lower()), again=())
    facts = (active.rule.facts[0], replace(active.rule.facts[1], needs=(lax, *active.rule.facts[1].needs[1:])))
    rules = {world.hypothesis: replace(active, rule=replace(active.rule, facts=facts))}
    at = situation(world)
    decided = at.decide(rules)
    assert isinstance(decided, Pass)
    unread = {one.mutant.pointer for one in mutation.tell(at, rules, decided=decided)}
    assert "/count" not in unread


def test_of_many_alike_places_a_few_are_changed() -> None:
    pointers = [f"/values/{place}/1" for place in range(100)]
    assert mutation._spread(pointers) == [f"/values/{place}/1" for place in (0, 24, 49, 74, 99)]


def test_a_draft_says_what_would_have_flipped_it_and_what_would_not() -> None:
    rows = nearest.rows(told(worlds.recovered()), is_pass=True)
    by_field = {(row.audit_id, row.part, row.pointer): row.as_json() for row in rows}
    count = by_field[("A-13", "result", "/count")]
    assert {"1", "-1", "null", "absent"} <= set(count["flips"])
    assert count["stays"] == []
    assert count["checks"]
    assert "18205" in by_field[("A-13", "result", "/scanned")]["stays"]
    assert rows[-1].part == mutation.CALL


def test_of_a_fail_only_what_would_have_made_it_a_pass_is_said() -> None:
    world = worlds.recovered().with_result(13, lambda result: result.update(count=1))
    at = situation(world)
    found = list(mutation.tell(at, world.rules, decided=at.decide(world.rules)))
    rows = nearest.rows(found, is_pass=False)
    assert [(row.pointer, row.flips) for row in rows] == [("/count", ["0"])]


def test_a_number_keeps_its_kind() -> None:
    assert [value for change, value in altered.alterations(Decimal("0.5")) if change == "a neighbor"] == [
        Decimal("1.5"), Decimal("-0.5"),
    ]  # fmt: skip
