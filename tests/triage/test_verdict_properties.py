"""What must be true of every verdict, whatever the evidence says: of the demo's worlds and of the recorded cases."""

from __future__ import annotations

import json
import locale
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.triage import recorded_cases
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.outcomes import Fail, Pass, receipt_hash
from gate.triage.replay import decide
from gate.triage.verdict import LATER_ANSWERS, OBJECTIONS, PROVENANCE, SCOPE, verdict
from tests.triage.worlds import CASES, DECIDED, EARNED, RULES, WORLDS, World, call, drop, leaves, pointer, put, value_at

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=12,
)  # fmt: skip
HYPOTHESIS = pytest.mark.parametrize("name", sorted(WORLDS))
EVERY = pytest.mark.parametrize("name", sorted(EARNED))
FUZZ = settings(max_examples=60, deadline=None)
FEW = settings(max_examples=15, deadline=None)
ENGINE = (PROVENANCE, LATER_ANSWERS, SCOPE, OBJECTIONS)
LONGEST = 0.05  # seconds


def read_paths(decided: Pass | Fail) -> dict[str, set[str]]:
    """The result pointers that the rule's own checks read, by entry."""
    read: dict[str, set[str]] = {}
    for line in decided.checks:
        for ref, pointers in line.paths.items() if line.fact not in ENGINE else ():
            read.setdefault(ref, set()).update(pointers)
    return read


def all_paths(decided: Pass | Fail, part: str = "paths") -> dict[str, set[str]]:
    """The pointers that any line read, by entry."""
    read: dict[str, set[str]] = {}
    for line in decided.checks:
        for ref, pointers in getattr(line, part).items():
            read.setdefault(ref, set()).update(pointers)
    return read


@EVERY
def test_the_earned_case_passes(name: str) -> None:
    decided = EARNED[name]().decide()
    assert isinstance(decided, Pass), decided.reasons
    assert all(line.outcome == "holds" and not line.why for line in decided.checks)
    assert [line.fact for line in decided.checks][-2:] == [PROVENANCE, LATER_ANSWERS]
    assert all(line.predicate and line.title for line in decided.checks)


# 1 Totality


@example(hypothesis="refund_completed", findings=[], results=[], subject={"\0": None}, facts={}, members=[])
@FUZZ
@given(
    hypothesis=st.sampled_from(sorted(WORLDS)) | st.text(),
    findings=st.lists(st.builds(Finding, JSON, JSON), max_size=4),
    results=st.lists(st.tuples(st.sampled_from(["A-10", "A-13", "A-20", "A-30"]), JSON, JSON), max_size=4),
    subject=JSON,
    facts=JSON,
    members=st.lists(JSON, max_size=3),
)
def test_whatever_json_comes_in_a_verdict_comes_out(
    hypothesis: str,
    findings: list[Finding],
    results: list[tuple[str, Any, Any]],
    subject: Any,
    facts: Any,
    members: list[Any],
) -> None:
    world = WORLDS["transient_failure_recovered"]()
    moment = world.entries[0].called_at
    assert moment is not None
    entries = [
        replace(call(1, "count_errors", args, result, moment), audit_id=ref) for ref, args, result in results
    ]  # fmt: skip
    decided = verdict(
        hypothesis=hypothesis, findings=[*world.findings, *findings], entries=[*world.entries, *entries],
        incident=replace(world.incident, subject=subject, facts=facts, members=tuple(members)), rules=RULES,
        decided_at=DECIDED, objections=findings[:1],
    )  # fmt: skip
    assert isinstance(decided, Pass | Fail)
    stored = json.dumps([line.as_json() for line in decided.checks]) + json.dumps(decided.receipt)
    assert "\\u0000" not in stored.replace("\\\\u0000", "")  # jsonb refuses NUL


# Asked by nothing, these list every rule and every alert: a wider question than was needed, and as good an answer.
WIDER = {"watchdog_always_firing", "throttling_back_in_range"}
# Reviewed: fields that may be left out, and are read where they are there. Each is on its rule's page as a blind spot.
MAY_BE_ABSENT = {
    ("node_condition_etcd_voter", "lastHeartbeatTime"),  # who writes a condition may leave its heartbeat out
    ("watchdog_always_firing", "lastEvaluation"),  # a rule that was loaded and not evaluated yet is the same rule
    ("rds_storage_autoscaled", "EventCategories"),  # which categories an event lists besides the one that counts
    ("throttling_back_in_range", "error_message"),  # only one wrapper of the tool has it at all
}
# Reviewed: arguments that say how the answer is shown, not what it is about; what they leave out cannot be read.
SHOWN_HOW = {("lvm_snapshot_present_and_loaded", "fields")}


def with_any(value: Any, **changes: Any) -> Any:
    return replace(value, **changes)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_json_in_any_field_of_any_input_is_decided(data: st.DataObject) -> None:
    world = WORLDS[data.draw(st.sampled_from(sorted(WORLDS)))]()
    entry_field = data.draw(st.sampled_from([field.name for field in fields(RecordedCall)]))
    incident_field = data.draw(st.sampled_from([field.name for field in fields(IncidentFacts)]))
    entries = (with_any(world.entries[0], **{entry_field: data.draw(JSON)}), *world.entries[1:])
    for changed in (
        world.but(entries=entries),
        world.but(incident=with_any(world.incident, **{incident_field: data.draw(JSON)})),
        world.but(decided_at=data.draw(JSON)),
        world.but(hypothesis=data.draw(JSON)),
    ):
        assert isinstance(changed.decide(), Pass | Fail)


@EVERY
@FEW
@given(data=st.data())
def test_any_json_for_a_result_or_arguments_is_decided(name: str, data: st.DataObject) -> None:
    world = EARNED[name]()
    ref = data.draw(st.sampled_from([entry.audit_id for entry in world.entries]))
    part = data.draw(st.sampled_from(["args", "result"]))
    drawn = data.draw(JSON)
    before = time.perf_counter()
    decided = world.with_call(ref, **{part: drawn}).decide()
    assert time.perf_counter() - before < 20 * LONGEST  # drawing and a busy machine are in it
    # An argument that is null was not given.
    asks_nothing = part == "args" and isinstance(drawn, dict) and all(value is None for value in drawn.values())
    is_as_good = drawn == getattr(world.entry(ref), part) or (name in WIDER and asks_nothing)
    if ref in [finding.audit_id for finding in world.findings] and not is_as_good:
        assert isinstance(decided, Fail)


@EVERY
def test_a_verdict_takes_less_than_fifty_milliseconds(name: str) -> None:
    world = EARNED[name]()
    assert min(seconds(world.decide) for _ in range(5)) < LONGEST


def seconds(work: Callable[[], Any]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


# 2 Only evidence can pass


@EVERY
def test_without_any_one_finding_or_cited_entry_it_fails(name: str) -> None:
    world = EARNED[name]()
    for finding in world.findings:
        assert isinstance(world.but(findings=tuple(f for f in world.findings if f != finding)).decide(), Fail)
        without = tuple(entry for entry in world.entries if entry.audit_id != finding.audit_id)
        assert isinstance(world.but(entries=without).decide(), Fail)


@EVERY
def test_any_other_entry_in_the_place_of_a_cited_one_fails(name: str) -> None:
    """Even when it claims to be of this incident and of the same moment."""
    world = EARNED[name]()
    for finding in world.findings:
        cited = world.entry(finding.audit_id)
        for other in (*strangers(world), *world.entries):
            if told(other) == told(cited):
                continue
            posing = replace(
                other, audit_id="posing", incident_id=cited.incident_id, called_at=cited.called_at,
                finished_at=cited.finished_at,
            )  # fmt: skip
            swapped = tuple(Finding(f.fact, "posing") if f == finding else f for f in world.findings)
            changed = world.but(findings=swapped, entries=(*world.entries, posing))
            assert isinstance(changed.decide(), Fail), (finding, other.audit_id)


def strangers(world: World) -> list[RecordedCall]:
    return [entry for other in EARNED.values() for entry in other().entries if entry not in world.entries]


def told(entry: RecordedCall) -> tuple[Any, ...]:
    """What an entry says: another one that says the very same is as good."""
    return entry.tool, entry.args, entry.result


# 3 Read = load-bearing


def mutations(value: Any) -> list[Any]:
    """Other values of a leaf: of another type, of another meaning."""
    texts = ["", "0", "other", f"{value} ", f"{value}"] if value is not None else ["null", ""]
    numbers = [-1, 0, 1, Decimal("0.5"), 0.0, 10**30, float("nan"), float("inf")]
    times = ["2026-11-28T02:15:34Z", "2026-11-29T02:15:35Z", "2027-11-29T06:20:00Z", "2026-11-29T02:15:34"]
    return [None, True, False, [], {}, *texts, *numbers, *times]


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


@EVERY
def test_every_field_that_was_read_can_take_the_pass_away(name: str) -> None:
    world = EARNED[name]()
    decided = world.decide()
    for ref, pointers in read_paths(decided).items():
        result = world.entry(ref).result
        read = [path for path in leaves(result) if pointer(path) in pointers and path]
        for path in read:
            if (name, [step for step in path if isinstance(step, str)][-1]) not in MAY_BE_ABSENT:
                assert isinstance(world.with_result(ref, drop(path)).decide(), Fail), (ref, path)
            others = [new for new in mutations(value_at(result, path)) if not same(new, value_at(result, path))]
            killed = [new for new in others if isinstance(world.with_result(ref, put(path, new)).decide(), Fail)]
            wrong_types = [
                new
                for new in others
                if type(new) is not type(value_at(result, path)) and not both_numbers(new, value_at(result, path))
            ]
            assert killed, (ref, path)
            assert all(isinstance(world.with_result(ref, put(path, new)).decide(), Fail) for new in wrong_types), (
                ref, path,
            )  # fmt: skip


def both_numbers(one: Any, other: Any) -> bool:
    return {type(one), type(other)} == {int, Decimal}


@EVERY
def test_every_argument_is_read_and_can_take_the_pass_away(name: str) -> None:
    world = EARNED[name]()
    for ref in sorted({finding.audit_id for finding in world.findings}):
        survivors = [
            key
            for key in world.entry(ref).args
            if isinstance(world.with_args(ref, drop((key,))).decide(), Pass)
            and isinstance(world.with_args(ref, put((key,), "another")).decide(), Pass)
        ]
        assert [key for key in survivors if (name, key) not in SHOWN_HOW] == []
        assert isinstance(world.with_args(ref, put(("another_filter",), "succeeded")).decide(), Fail)


@EVERY
@FEW
@given(data=st.data())
def test_a_field_that_was_not_read_can_be_anything(name: str, data: st.DataObject) -> None:
    world = EARNED[name]()
    decided = world.decide()
    read = all_paths(decided)
    unread = [
        (entry.audit_id, path)
        for entry in world.entries
        for path in leaves(entry.result)
        if not is_read(path, read.get(entry.audit_id, set())) and path
    ]
    if not unread:
        return
    ref, path = data.draw(st.sampled_from(unread))
    changed = world.with_result(ref, put(path, data.draw(JSON))).decide()
    assert isinstance(changed, Pass), (ref, path)
    assert changed.receipt["sha256"] == decided.receipt["sha256"]


def is_read(path: tuple[Any, ...], read: set[str]) -> bool:
    """Whether the field was read, or something was read inside of it."""
    place = pointer(path)
    return any(at == place or at.startswith(f"{place}/") for at in read)


@EVERY
@FEW
@given(text=st.text() | st.sampled_from(['"state": "succeeded"', '{"count": 0, "complete": true}']), data=st.data())
def test_text_inside_a_result_imitates_no_field(name: str, text: str, data: st.DataObject) -> None:
    world = EARNED[name]()
    ref = data.draw(st.sampled_from([finding.audit_id for finding in world.findings]))
    broken = world.with_result(ref, lambda result: {"note": text, "raw": [text]})
    assert isinstance(broken.decide(), Fail)


# 4 Prose independence

PROSE = ("why", "source", "provenance", "trap", "taxonomy", "outcome")


def test_there_is_no_field_for_prose() -> None:
    assert set(Finding.__dataclass_fields__) == {"fact", "audit_id"}


@pytest.mark.parametrize("file", sorted(CASES.glob("*.json")), ids=lambda file: file.stem)
def test_what_people_wrote_about_a_case_changes_nothing(file: Any) -> None:
    document = recorded_cases.load(file.read_bytes())
    told = {**document, **dict.fromkeys(PROSE, "It is all fine, pass it.")}
    told["incident"] = {**document["incident"], "title": "resolved"}
    told["findings"] = [{**finding, "note": "confidence 0.99"} for finding in document["findings"]]
    one, other = (decide(recorded_cases.parse(kept), RULES) for kept in (document, told))
    assert (type(one), one.receipt) == (type(other), other.receipt)


# 5 Order independence


@EVERY
@FEW
@given(seed=st.integers())
def test_order_and_repetition_mean_nothing(name: str, seed: int) -> None:
    world = EARNED[name]()
    shuffle = random.Random(seed)  # noqa: S311
    findings, entries = [*world.findings, *world.findings], list(world.entries)
    shuffle.shuffle(findings)
    shuffle.shuffle(entries)
    entries = [replace(entry, result=reordered(entry.result), args=reordered(entry.args)) for entry in entries]
    changed = world.but(findings=tuple(findings), entries=tuple(entries)).decide()
    assert isinstance(changed, Pass)
    assert changed == world.decide()


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(child) for child in value] if isinstance(value, list) else value


# 6 Monotone


@EVERY
@FEW
@given(data=st.data())
def test_more_findings_and_entries_turn_no_fail_into_a_pass(name: str, data: st.DataObject) -> None:
    world = EARNED[name]()
    ref = data.draw(st.sampled_from([finding.audit_id for finding in world.findings]))
    places = [path for path in leaves(world.entry(ref).result) if path]
    if not places:
        return
    failing = world.with_result(ref, drop(data.draw(st.sampled_from(places))))
    if isinstance(failing.decide(), Pass):
        return
    good = replace(world.entry(ref), audit_id="good", finished_at=world.decided_at)
    assert isinstance(failing.and_call(good).decide(), Fail)
    facts = [finding.fact for finding in world.findings if finding.audit_id == ref]
    cited_too = failing.and_call(good).but(findings=(*failing.findings, *(Finding(fact, "good") for fact in facts)))
    assert isinstance(cited_too.decide(), Fail)


@EVERY
def test_a_member_more_or_an_objection_more_turns_no_fail_into_a_pass(name: str) -> None:
    failing = EARNED[name]()
    failing = failing.but(findings=failing.findings[1:])
    for subject in (failing.incident.subject, {"another": "thing"}):
        assert isinstance(failing.with_incident(members=(subject,)).decide(), Fail)
    for finding in failing.findings:
        assert isinstance(failing.but(objections=(finding,)).decide(), Fail)


@EVERY
def test_a_finding_that_fails_takes_the_pass_away(name: str) -> None:
    world = EARNED[name]()
    for finding in world.findings:
        more = (*world.findings, Finding(finding.fact, "not there"))
        assert isinstance(world.but(findings=more).decide(), Fail)
        assert isinstance(world.but(findings=(*world.findings, Finding("unknown", finding.audit_id))).decide(), Fail)


# 7 Time

ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d\d:?\d\d)")
SECONDS = range(1_200_000_000, 2_200_000_000)


@EVERY
@FEW
@given(days=st.integers(-300, 300), rest=st.integers(0, 86399))
def test_all_times_moved_together_change_nothing(name: str, days: int, rest: int) -> None:
    assert isinstance(moved(EARNED[name](), timedelta(days=days, seconds=rest)).decide(), Pass)


def moved(world: World, delta: timedelta) -> World:
    def shift(value: Any) -> Any:
        return shifted(value, delta)

    entries = tuple(
        replace(
            entry, called_at=entry.called_at + delta, finished_at=entry.finished_at + delta, args=shift(entry.args),
            result=shift(entry.result),
        )
        for entry in world.entries
        if entry.called_at is not None and entry.finished_at is not None
    )  # fmt: skip
    incident = replace(
        world.incident, began_at=world.incident.began_at + delta, watch_from=world.incident.watch_from + delta,
        subject=shift(world.incident.subject), facts=shift(world.incident.facts),
    )  # fmt: skip
    return world.but(entries=entries, incident=incident, decided_at=world.decided_at + delta)


def shifted(value: Any, delta: timedelta) -> Any:
    if isinstance(value, dict):
        return {key: shifted(child, delta) for key, child in value.items()}
    if isinstance(value, list):
        return [shifted(child, delta) for child in value]
    if isinstance(value, str):
        return ISO.sub(lambda found: later(found[0], delta), value)
    if type(value) is int and value in SECONDS:
        return value + int(delta.total_seconds())
    return value


def later(text: str, delta: timedelta) -> str:
    """The time so much later, written as it was."""
    moment = datetime.fromisoformat(text.replace(" +", "+")) + delta
    if "T" in text:
        return moment.isoformat()
    return moment.strftime("%Y-%m-%d %H:%M:%S %z")


@EVERY
@FEW
@given(hours=st.integers(-14, 14))
def test_the_same_moments_in_another_zone_change_nothing(name: str, hours: int) -> None:
    world, zone = EARNED[name](), timezone(timedelta(hours=hours))
    entries = tuple(replace(e, args=zoned(e.args, zone), result=zoned(e.result, zone)) for e in world.entries)
    incident = replace(world.incident, began_at=world.incident.began_at.astimezone(zone))
    changed = world.but(entries=entries, incident=incident, decided_at=world.decided_at.astimezone(zone)).decide()
    assert isinstance(changed, Pass)


def zoned(value: Any, zone: timezone) -> Any:
    if isinstance(value, dict):
        return {key: zoned(child, zone) for key, child in value.items()}
    if isinstance(value, list):
        return [zoned(child, zone) for child in value]
    if isinstance(value, str) and ISO.fullmatch(value) and "T" in value:
        return datetime.fromisoformat(value).astimezone(zone).isoformat()
    return value


@EVERY
def test_a_cited_call_outside_of_its_time_fails(name: str) -> None:
    world = EARNED[name]()
    for entry in world.cited():
        early = world.incident.began_at - timedelta(seconds=1)
        late = world.decided_at + timedelta(seconds=1)
        stale = world.decided_at - timedelta(seconds=world.incident.freshness_seconds + 1)
        for moment in (early, late, stale):
            changed = world.with_call(entry.audit_id, called_at=moment, finished_at=moment)
            assert isinstance(changed.decide(), Fail)


@EVERY
def test_a_time_without_its_zone_is_no_time(name: str) -> None:
    world = EARNED[name]()
    naive = world.decided_at.replace(tzinfo=None)
    decided = world.but(decided_at=naive).decide()
    assert isinstance(decided, Fail)
    assert [reason.code for reason in decided.reasons] == ["provenance_missing"]
    for entry in world.cited():
        assert entry.called_at is not None
        told = world.with_call(entry.audit_id, called_at=entry.called_at.replace(tzinfo=None)).decide()
        assert isinstance(told, Fail)


# 8 Subject


@EVERY
def test_the_subject_in_one_place_alone_changed_fails_and_everywhere_passes(name: str) -> None:
    world = EARNED[name]()
    whole = {
        **world.incident.subject,
        **{key: world.incident.facts[key] for key in RENAMED_FACTS & {*world.incident.facts}},
    }
    for key, old in whole.items():
        if key in NOT_A_NAME or not isinstance(old, str | int):
            continue
        new = f"{old}7" if isinstance(old, str) else old + 1
        everywhere = world.but(
            entries=tuple(
                replace(e, args=renamed(e.args, old, new), result=renamed(e.result, old, new)) for e in world.entries
            ),
            incident=replace(
                world.incident, subject=renamed(world.incident.subject, old, new),
                facts=renamed(world.incident.facts, old, new),
            ),
        )  # fmt: skip
        assert isinstance(everywhere.decide(), Pass), (key, old)
        for entry in world.cited():
            if renamed(entry.args, old, new) != entry.args:
                one = world.with_call(entry.audit_id, args=renamed(entry.args, old, new))
                assert isinstance(one.decide(), Fail), (entry.audit_id, old)


RENAMED_FACTS = {"error", "job_kind"}
NOT_A_NAME = {"amount", "currency", "pattern"}  # what is said of the subject: amounts of money, a word for an error


def renamed(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: renamed(child, old, new) for key, child in value.items()}
    if isinstance(value, list):
        return [renamed(child, old, new) for child in value]
    if isinstance(value, str) and isinstance(old, str):
        return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", lambda _: str(new), value)
    return new if same(value, old) else value


# 10 Determinism

AGAIN = """
import json
from tests.triage.worlds import EARNED
print(json.dumps([EARNED[name]().decide().receipt["sha256"] for name in sorted(EARNED)]))
"""


def test_another_process_with_another_hash_seed_and_locale_gives_the_same_receipts() -> None:
    here = [EARNED[name]().decide().receipt["sha256"] for name in sorted(EARNED)]
    for seed, language in (("1", "C"), ("2026", "de_DE.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": language, "TZ": "Asia/Kathmandu"}
        answer = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, env=environment, check=True)
        assert json.loads(answer.stdout) == here


def test_a_thousand_evaluations_give_one_receipt() -> None:
    world = WORLDS["transient_failure_recovered"]()
    before = locale.setlocale(locale.LC_ALL)
    assert len({world.decide().receipt["sha256"] for _ in range(1000)}) == 1
    assert locale.setlocale(locale.LC_ALL) == before


@EVERY
def test_a_receipt_says_what_was_read_by_which_rule(name: str) -> None:
    world = EARNED[name]()
    decided = world.decide()
    receipt, rule = decided.receipt, RULES[world.hypothesis]
    assert receipt["sha256"] == receipt_hash(receipt)
    assert receipt_hash(json.loads(json.dumps(receipt))) == receipt["sha256"]
    assert rule.rule is not None
    assert (receipt["hash"], receipt["version"]) == (rule.hash, rule.rule.version)
    assert all(receipt["entries"][entry.audit_id]["digest"] == entry.digest for entry in world.cited())
    for line in receipt["checks"]:
        assert line["predicate"]
        for ref, values in line["read"].items():
            assert set(values) <= {"", *all_pointers(world.entry(ref).result)}
            assert ref in receipt["entries"]


def all_pointers(value: Any, at: tuple[Any, ...] = ()) -> set[str]:
    found = {pointer(at)}
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found |= all_pointers(child, (*at, key))
    return found


# 11 Round trip


@pytest.mark.parametrize("file", sorted(CASES.rglob("*.json")), ids=lambda file: file.stem)
def test_a_case_written_and_read_again_gives_the_same_verdict_to_the_byte(file: Any) -> None:
    document = recorded_cases.load(file.read_bytes())
    again = recorded_cases.load(simplejson.dumps(document, use_decimal=True, indent=1).encode())
    one, other = (decide(recorded_cases.parse(kept), RULES) for kept in (document, again))
    assert one == other
    assert isinstance(one, Pass) == (document["actual"] == "pass")


# 12 Twins


def test_every_hypothesis_with_a_case_that_fails_has_one_that_passes() -> None:
    """Failing everything would be no false pass either."""
    ends: dict[str, set[str]] = {}
    for file in CASES.glob("*.json"):
        document = recorded_cases.load(file.read_bytes())
        ends.setdefault(document["hypothesis"], set()).add(document["actual"])
    alone = {name for name, seen in ends.items() if seen == {"fail"}}
    assert alone <= {"order_cancelled_correctly"}
    assert {entry.hypothesis for entry in (make() for make in EARNED.values())} == set(ends) - alone


def test_now_is_not_asked() -> None:
    """A verdict long after is the same: nothing in it reads a clock."""
    assert datetime.now(UTC) != DECIDED
    assert isinstance(WORLDS["refund_completed"]().decide(), Pass)
