"""What must be true of every verdict, whatever the evidence says."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.triage.cases import Finding
from gate.triage.outcomes import Fail, Pass, receipt_hash
from gate.triage.verdict import LATER_ANSWERS, PROVENANCE, verdict
from tests.triage.worlds import DECIDED, RULES, WORLDS, World, call, drop, leaves, pointer, put, value_at

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=12,
)  # fmt: skip
HYPOTHESIS = pytest.mark.parametrize("name", sorted(WORLDS))
FUZZ = settings(max_examples=60, deadline=None)


def read_paths(world: World, decided: Pass | Fail) -> dict[str, set[str]]:
    """The result pointers that the rule's own checks read, by entry."""
    read: dict[str, set[str]] = {}
    for line in decided.checks:
        for ref, pointers in line.paths.items():
            read.setdefault(ref, set()).update(pointers)
    return read


@HYPOTHESIS
def test_the_earned_case_passes(name: str) -> None:
    decided = WORLDS[name]().decide()
    assert isinstance(decided, Pass)
    assert all(line.outcome == "holds" and not line.why for line in decided.checks)
    assert [line.fact for line in decided.checks][-2:] == [PROVENANCE, LATER_ANSWERS]


# 1 Totality


@example(hypothesis="refund_completed", findings=[], results=[], subject={"\0": None}, facts={})
@FUZZ
@given(
    hypothesis=st.sampled_from(sorted(WORLDS)) | st.text(),
    findings=st.lists(st.builds(Finding, JSON, JSON), max_size=4),
    results=st.lists(st.tuples(st.sampled_from(["A-10", "A-13", "A-20", "A-30"]), JSON, JSON), max_size=4),
    subject=JSON,
    facts=JSON,
)
def test_whatever_json_comes_in_a_verdict_comes_out(
    hypothesis: str, findings: list[Finding], results: list[tuple[str, Any, Any]], subject: Any, facts: Any
) -> None:
    world = WORLDS["transient_failure_recovered"]()
    entries = [
        replace(call(1, "count_errors", args, result, world.entries[0].called_at), audit_id=ref)
        for ref, args, result in results
    ]
    decided = verdict(
        hypothesis=hypothesis, findings=[*world.findings, *findings], entries=[*world.entries, *entries],
        incident=replace(world.incident, subject=subject, facts=facts), rules=RULES, decided_at=DECIDED,
    )  # fmt: skip
    assert isinstance(decided, Pass | Fail)
    stored = json.dumps([line.as_json() for line in decided.checks]) + json.dumps(decided.receipt)
    assert "\\u0000" not in stored.replace("\\\\u0000", "")  # jsonb refuses NUL


@HYPOTHESIS
@FUZZ
@given(data=st.data())
def test_any_json_for_a_result_or_arguments_is_decided(name: str, data: st.DataObject) -> None:
    world = WORLDS[name]()
    number = data.draw(st.sampled_from([entry.audit_id for entry in world.entries]))
    part = data.draw(st.sampled_from(["args", "result"]))
    changed = world.but(
        entries=tuple(replace(e, **{part: data.draw(JSON)}) if e.audit_id == number else e for e in world.entries)
    )
    decided = changed.decide()
    if number in [finding.audit_id for finding in world.findings]:
        assert isinstance(decided, Fail)


# 2 Only evidence can pass


@HYPOTHESIS
def test_without_any_one_finding_or_cited_entry_it_fails(name: str) -> None:
    world = WORLDS[name]()
    for finding in world.findings:
        assert isinstance(world.but(findings=tuple(f for f in world.findings if f != finding)).decide(), Fail)
        without = tuple(entry for entry in world.entries if entry.audit_id != finding.audit_id)
        assert isinstance(world.but(entries=without).decide(), Fail)


@HYPOTHESIS
def test_any_other_entry_in_the_place_of_a_cited_one_fails(name: str) -> None:
    world = WORLDS[name]()
    strangers = [entry for other in WORLDS.values() for entry in other().entries]
    pool = {entry.audit_id: entry for entry in (*strangers, *world.entries)}
    for finding in world.findings:
        cited = pool[finding.audit_id]
        for other, entry in pool.items():
            # Another world's entry that says the very same is as good.
            if (entry.tool, entry.args, entry.result) != (cited.tool, cited.args, cited.result):
                swapped = tuple(Finding(f.fact, other) if f == finding else f for f in world.findings)
                changed = world.but(findings=swapped, entries=tuple(pool.values()))
                assert isinstance(changed.decide(), Fail), (finding, other)


# 3 Read = load-bearing


def mutations(value: Any) -> list[Any]:
    """Other values of a leaf: of another type, of another meaning."""
    texts = ["", "0", "other", f"{value} ", f"{value}"] if value is not None else ["null", ""]
    numbers = [-1, 0, 1, 0.0, 10**30, float("nan"), float("inf")]
    times = ["2026-11-28T02:15:34Z", "2026-11-29T02:15:35Z", "2027-11-29T06:20:00Z", "2026-11-29T02:15:34"]
    return [None, True, False, [], {}, *texts, *numbers, *times]


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


@HYPOTHESIS
def test_every_field_that_was_read_can_take_the_pass_away(name: str) -> None:
    world = WORLDS[name]()
    decided = world.decide()
    cited = {finding.audit_id for finding in world.findings}
    for ref, pointers in read_paths(world, decided).items():
        assert ref in cited
        number, result = int(ref[2:]), next(e.result for e in world.entries if e.audit_id == ref)
        read = [path for path in leaves(result) if pointer(path) in pointers]
        assert read
        for path in read:
            assert isinstance(world.with_result(number, drop(path)).decide(), Fail), (ref, path)
            others = [new for new in mutations(value_at(result, path)) if not same(new, value_at(result, path))]
            killed = [new for new in others if isinstance(world.with_result(number, put(path, new)).decide(), Fail)]
            wrong_types = [new for new in others if type(new) is not type(value_at(result, path))]
            assert killed, (ref, path)
            assert all(isinstance(world.with_result(number, put(path, new)).decide(), Fail) for new in wrong_types), (
                ref, path,
            )  # fmt: skip


@HYPOTHESIS
def test_every_argument_is_read_and_can_take_the_pass_away(name: str) -> None:
    world = WORLDS[name]()
    for finding in world.findings:
        number = int(finding.audit_id[2:])
        for key in world.entry(number).args:
            assert isinstance(world.with_args(number, drop((key,))).decide(), Fail)
            assert isinstance(world.with_args(number, put((key,), "another")).decide(), Fail)
        assert isinstance(world.with_args(number, put(("status",), "succeeded")).decide(), Fail)


@HYPOTHESIS
@FUZZ
@given(data=st.data())
def test_a_field_that_was_not_read_can_be_anything(name: str, data: st.DataObject) -> None:
    world = WORLDS[name]()
    decided = world.decide()
    read = read_paths(world, decided)
    unread = [
        (entry.audit_id, path)
        for entry in world.entries
        for path in leaves(entry.result)
        if pointer(path) not in read.get(entry.audit_id, set()) and path
    ]
    if not unread:
        return
    ref, path = data.draw(st.sampled_from(unread))
    changed = world.with_result(int(ref[2:]), put(path, data.draw(JSON))).decide()
    assert isinstance(changed, Pass)
    assert changed.receipt["sha256"] == decided.receipt["sha256"]


@HYPOTHESIS
@FUZZ
@given(text=st.text() | st.sampled_from(['"state": "succeeded"', '{"count": 0, "complete": true}']), data=st.data())
def test_text_inside_a_result_imitates_no_field(name: str, text: str, data: st.DataObject) -> None:
    world = WORLDS[name]()
    ref = data.draw(st.sampled_from([finding.audit_id for finding in world.findings]))
    injected = world.with_result(int(ref[2:]), lambda result: {**result, "note": text, "label": {"x": text}})
    assert isinstance(injected.decide(), Pass)
    broken = world.with_result(int(ref[2:]), lambda result: {"note": text, "raw": [text]})
    assert isinstance(broken.decide(), Fail)


# 4 Prose independence


def test_there_is_no_field_for_prose() -> None:
    assert set(Finding.__dataclass_fields__) == {"fact", "audit_id"}


# 5 Order independence


@HYPOTHESIS
@FUZZ
@given(seed=st.integers())
def test_order_and_repetition_mean_nothing(name: str, seed: int) -> None:
    world = WORLDS[name]()
    shuffle = random.Random(seed)  # noqa: S311
    findings, entries = [*world.findings, *world.findings], list(world.entries)
    shuffle.shuffle(findings)
    shuffle.shuffle(entries)
    entries = [replace(entry, result=reordered(entry.result), args=reordered(entry.args)) for entry in entries]
    changed = world.but(findings=tuple(findings), entries=tuple(entries)).decide()
    assert isinstance(changed, Pass)
    assert changed == world.decide()


def reordered(value: Any) -> Any:
    return {key: reordered(value[key]) for key in reversed(value)} if isinstance(value, dict) else value


# 6 Monotone


@HYPOTHESIS
@FUZZ
@given(data=st.data())
def test_more_findings_and_entries_turn_no_fail_into_a_pass(name: str, data: st.DataObject) -> None:
    world = WORLDS[name]()
    number = int(data.draw(st.sampled_from([finding.audit_id for finding in world.findings]))[2:])
    path = data.draw(st.sampled_from(list(leaves(world.entry(number).result))))
    failing = world.with_result(number, drop(path))
    if isinstance(failing.decide(), Pass):
        return
    good = replace(
        world.entry(number), audit_id="A-99", finished_at=world.entry(number).finished_at + timedelta(minutes=1)
    )
    fact = next(finding.fact for finding in world.findings if finding.audit_id == f"A-{number}")
    assert isinstance(failing.and_call(good).decide(), Fail)
    cited_too = failing.and_call(good).but(findings=(*failing.findings, Finding(fact, "A-99")))
    assert isinstance(cited_too.decide(), Fail)


# 7 Time


@HYPOTHESIS
@FUZZ
@given(delta=st.timedeltas(timedelta(days=-300), timedelta(days=300)))
def test_all_times_moved_together_change_nothing(name: str, delta: timedelta) -> None:
    delta = timedelta(seconds=int(delta.total_seconds()))
    assert isinstance(moved(WORLDS[name](), delta).decide(), Pass)


def moved(world: World, delta: timedelta) -> World:
    entries = tuple(
        replace(
            entry, called_at=entry.called_at + delta, finished_at=entry.finished_at + delta,
            args=shifted(entry.args, delta), result=shifted(entry.result, delta),
        )
        for entry in world.entries
    )  # fmt: skip
    incident = replace(
        world.incident, began_at=world.incident.began_at + delta, watch_from=world.incident.watch_from + delta
    )
    return world.but(entries=entries, incident=incident, decided_at=world.decided_at + delta)


def shifted(value: Any, delta: timedelta) -> Any:
    if isinstance(value, dict):
        return {key: shifted(child, delta) for key, child in value.items()}
    if isinstance(value, list):
        return [shifted(child, delta) for child in value]
    if isinstance(value, str) and value.startswith("2026-11-"):
        return (datetime.fromisoformat(value) + delta).isoformat()
    return value


@HYPOTHESIS
@FUZZ
@given(hours=st.integers(-14, 14))
def test_the_same_moments_in_another_zone_change_nothing(name: str, hours: int) -> None:
    world, zone = WORLDS[name](), timezone(timedelta(hours=hours))
    entries = tuple(replace(e, args=zoned(e.args, zone), result=zoned(e.result, zone)) for e in world.entries)
    changed = world.but(entries=entries, decided_at=world.decided_at.astimezone(zone)).decide()
    assert isinstance(changed, Pass)


def zoned(value: Any, zone: timezone) -> Any:
    if isinstance(value, dict):
        return {key: zoned(child, zone) for key, child in value.items()}
    if isinstance(value, str) and value.startswith("2026-11-"):
        return datetime.fromisoformat(value).astimezone(zone).isoformat()
    return value


@HYPOTHESIS
def test_a_cited_call_outside_of_its_time_fails(name: str) -> None:
    world = WORLDS[name]()
    for finding in world.findings:
        number = int(finding.audit_id[2:])
        early = world.incident.began_at - timedelta(seconds=1)
        late = world.decided_at + timedelta(seconds=1)
        stale = world.decided_at - timedelta(seconds=world.incident.freshness_seconds + 1)
        for moment in (early, late, stale):
            assert isinstance(world.with_call(number, called_at=moment, finished_at=moment).decide(), Fail)


# 8 Subject


@HYPOTHESIS
def test_the_subject_in_one_place_alone_changed_fails_and_everywhere_passes(name: str) -> None:
    world = WORLDS[name]()
    renames = {90412: 90413, "ReadTimeout": "ReadTimeouts", "settle_payouts": "settle_payout", "ch_8846": "ch_8847"}
    for old, new in renames.items():
        everywhere = world.but(
            entries=tuple(
                replace(e, args=renamed(e.args, old, new), result=renamed(e.result, old, new)) for e in world.entries
            ),
            incident=replace(
                world.incident, subject=renamed(world.incident.subject, old, new),
                facts=renamed(world.incident.facts, old, new),
            ),
        )  # fmt: skip
        assert isinstance(everywhere.decide(), Pass)
        for finding in world.findings:
            entry = world.entry(int(finding.audit_id[2:]))
            if renamed(entry.args, old, new) != entry.args:
                one = world.with_call(int(finding.audit_id[2:]), args=renamed(entry.args, old, new))
                assert isinstance(one.decide(), Fail), (finding, old)


def renamed(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: renamed(child, old, new) for key, child in value.items()}
    if isinstance(value, list):
        return [renamed(child, old, new) for child in value]
    return new if same(value, old) else value


# 10 Determinism

AGAIN = """
import json
from tests.triage.worlds import WORLDS
print(json.dumps([WORLDS[name]().decide().receipt["sha256"] for name in sorted(WORLDS)]))
"""


def test_another_process_with_another_hash_seed_and_locale_gives_the_same_receipts() -> None:
    here = [WORLDS[name]().decide().receipt["sha256"] for name in sorted(WORLDS)]
    for seed, language in (("1", "C"), ("2026", "de_DE.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": language}
        answer = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, env=environment, check=True)
        assert json.loads(answer.stdout) == here


@HYPOTHESIS
def test_a_receipt_holds_its_own_hash(name: str) -> None:
    receipt = WORLDS[name]().decide().receipt
    assert receipt["sha256"] == receipt_hash(receipt)
    assert receipt_hash(json.loads(json.dumps(receipt))) == receipt["sha256"]
    assert receipt["hash"] == RULES[name].hash
    assert receipt["version"] == 1
