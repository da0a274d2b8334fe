"""Evidence mutation: every field that a check read is changed in every way, and the verdict must notice. Pure.

The mutants are generated from what the verdict itself says that it read. A change that leaves a pass a pass is a blind
spot of the rule; a score without its blind spots says nothing, so both are kept together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import Any

from gate.triage import altered
from gate.triage.cases import RecordedCall
from gate.triage.outcomes import ActiveRule, CheckResult, Fail, Pass
from gate.triage.readers.document import shown
from gate.triage.situation import Situation

RESULT, ARGS, CALL = "result", "args", "call"
MOMENT = timedelta(seconds=1)
PLACE = re.compile(r"/\d+(?=/|$)", re.ASCII)
MOST_ALIKE = 5


@dataclass(frozen=True)
class Mutant:
    """A situation that differs in one thing, and what that is."""

    audit_id: str
    tool: str
    part: str  # result, args, or the call itself
    pointer: str
    change: str  # "absent", "null", "shifted", …
    was: str
    value: str  # what stands there instead; empty where nothing does
    situation: Situation


@dataclass(frozen=True)
class Told:
    """A mutant and what became of it."""

    mutant: Mutant
    is_noticed: bool
    failing: tuple[int, ...]  # numbers of the checks that do not hold

    def as_json(self) -> dict[str, Any]:
        """The line as it is kept."""
        mutant = self.mutant
        return {
            "audit_id": mutant.audit_id, "tool": mutant.tool, "part": mutant.part, "pointer": mutant.pointer,
            "change": mutant.change, "was": mutant.was, "value": mutant.value, "is_noticed": self.is_noticed,
            "failing": list(self.failing),
        }  # fmt: skip


def mutants(situation: Situation, checks: tuple[CheckResult, ...]) -> Iterator[Mutant]:
    """Every single change to what the checks read of the cited calls, and to those calls themselves."""
    for call in situation.cited():
        for part, document, pointers in (
            (RESULT, call.result, _read(call, (check.paths for check in checks))),
            (ARGS, call.args, _read(call, (check.args for check in checks))),
        ):
            for pointer in pointers:
                yield from _of_field(situation, call, part, document, pointer)
        yield from _of_call(situation, call)


def tell(
    situation: Situation, rules: Mapping[str, ActiveRule], *, decided: Pass | Fail, most: int | None = None
) -> Iterator[Told]:
    """What becomes of each change, up to `most` of them. `decided` is the verdict of the situation as it is."""
    for mutant in islice(mutants(situation, decided.checks), most):
        other = mutant.situation.decide(rules)
        failing = tuple(check.number for check in other.checks if check.outcome != "holds")
        yield Told(mutant, isinstance(other, Pass) != isinstance(decided, Pass), failing)


def _read(call: RecordedCall, parts: Iterator[Mapping[str, list[str]]]) -> list[str]:
    """The fields that were read. Of the alike places of a list a few are changed: the first, the last, and between."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for pointer in sorted({pointer for read in parts for pointer in read.get(call.audit_id, ())}, key=_in_order):
        alike[PLACE.sub("/*", pointer)].append(pointer)
    return [pointer for places in alike.values() for pointer in _spread(places)]


def _in_order(pointer: str) -> list[tuple[int, str]]:
    return [(len(part), part) if part.isdecimal() else (0, part) for part in pointer.split("/")]


def _spread(places: list[str]) -> list[str]:
    if len(places) <= MOST_ALIKE:
        return places
    last = len(places) - 1
    return [places[last * number // (MOST_ALIKE - 1)] for number in range(MOST_ALIKE)]


def _of_field(situation: Situation, call: RecordedCall, part: str, document: Any, pointer: str) -> Iterator[Mutant]:
    try:
        steps = altered.steps_of(pointer, document)
    except (LookupError, TypeError, ValueError):
        return  # the verdict read past the end of the document, and said so
    was = altered.value_at(document, steps)
    if steps:
        yield _mutant(situation, call, part, pointer, "absent", was, "", altered.without(document, steps))
    for change, value in altered.alterations(was):
        yield _mutant(situation, call, part, pointer, change, was, shown(value), altered.put(document, steps, value))


def _mutant(
    situation: Situation, call: RecordedCall, part: str, pointer: str, change: str, was: Any, value: str, document: Any
) -> Mutant:
    other = situation.with_call(replace(call, result=document) if part == RESULT else replace(call, args=document))
    return Mutant(call.audit_id, call.tool, part, pointer, change, shown(was), value, other)


def _of_call(situation: Situation, call: RecordedCall) -> Iterator[Mutant]:
    """The entry itself: gone, of another incident, cut, failed, made too early; or another one in its place."""
    yield _entry(call, "not there", "", _without(situation, call))
    for change, value, other in _other_entries(situation, call):
        yield _entry(call, change, value, situation.with_call(other))
    for other in situation.calls:
        if other.audit_id != call.audit_id:
            swapped = replace(call, tool=other.tool, args=other.args, result=other.result)
            yield _entry(call, "another answer", other.audit_id, situation.with_call(swapped))


def _without(situation: Situation, call: RecordedCall) -> Situation:
    return replace(situation, calls=tuple(other for other in situation.calls if other.audit_id != call.audit_id))


def _other_entries(situation: Situation, call: RecordedCall) -> Iterator[tuple[str, str, RecordedCall]]:
    elsewhere = f"{situation.incident.id}0"
    yield "of another incident", elsewhere, replace(call, incident_id=_like(situation.incident.id, elsewhere))
    yield "cut at a limit", "", replace(call, truncated=True)
    yield "failed", "", replace(call, status="failed")
    yield "not as recorded", "", replace(call, is_intact=False)
    yield "asked with one argument more", "", replace(call, args=_with_one_more(call.args))
    if call.called_at is not None:
        early = situation.incident.began_at - MOMENT
        yield "asked before it began", f"{early:%H:%M:%S}", replace(call, called_at=early)
        late = situation.decided_at + MOMENT
        yield "finished after the decision", f"{late:%H:%M:%S}", replace(call, finished_at=late)
    stale = situation.decided_at - timedelta(seconds=situation.incident.freshness_seconds) - MOMENT
    if call.called_at is not None and stale > situation.incident.began_at:
        yield "asked too long ago", f"{stale:%H:%M:%S}", replace(call, called_at=stale)


def _like(known: int | str, text: str) -> Any:
    return int(text) if isinstance(known, int) else text


def _with_one_more(args: Any) -> Any:
    return {**args, "only": "one"} if isinstance(args, dict) else ["only", args]


def _entry(call: RecordedCall, change: str, value: str, situation: Situation) -> Mutant:
    return Mutant(call.audit_id, call.tool, CALL, "", change, "", value, situation)
