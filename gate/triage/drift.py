"""How tools' answers change: values that no reader lists, new keys, first nulls, fields that are gone.

It looks at what verdicts read: the objects in which a check found something, in the calls that were cited. A rename
arrives here before it arrives as a row of fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import F

from audit.reading import seq_of
from gate.triage import altered
from gate.triage.cases import RecordedCall
from gate.triage.mutation import PLACE
from gate.triage.outcomes import Fail, Pass
from gate.triage.readers.document import pointer
from gate.triage.rule_models import Drift, SeenField
from gate.triage.situation import Situation

ENOUGH = 5  # answers of a tool before something in the next one can be new
LONGEST = 200
LONGEST_PATH = 300


@dataclass
class Seen:
    """One field in one answer. In a list it is there when it is in any element, and null when it is in any."""

    is_there: bool = False
    is_null: bool = False
    is_read: bool = False


@dataclass
class Look:
    """What one answer has, in the objects that were read."""

    tool: str
    seq: int
    fields: dict[str, Seen] = field(default_factory=dict)
    unlisted: list[tuple[str, str]] = field(default_factory=list)


def note(situation: Situation, decided: Pass | Fail) -> None:
    """Count the fields of the cited calls' answers, and keep what is new. Runs in the caller's transaction."""
    for call in situation.cited():
        seq = seq_of(call.audit_id)
        if seq is not None and call.is_intact is True and call.status == "ok":
            _count(_look(call, seq, decided))


def _look(call: RecordedCall, seq: int, decided: Pass | Fail) -> Look:
    look = Look(call.tool, seq)
    read = {path for check in decided.checks for path in check.paths.get(call.audit_id, ())}
    for path in sorted(read):
        for steps, is_there, is_null in _around(call, path):
            seen = look.fields.setdefault(_general(steps), Seen())
            seen.is_there, seen.is_null = seen.is_there or is_there, seen.is_null or is_null
            seen.is_read = seen.is_read or pointer(steps) in read
    for check in decided.checks:
        found = check.unlisted.get(call.audit_id, {})
        look.unlisted += [(PLACE.sub("/*", path), value) for path, value in found.items()]
    return look


def _around(call: RecordedCall, path: str) -> Iterator[tuple[tuple[altered.Step, ...], bool, bool]]:
    """The fields of the object in which a field was read."""
    try:
        steps = altered.steps_of(path, call.result)
    except (LookupError, TypeError, ValueError):
        return
    holder = altered.value_at(call.result, steps[:-1]) if steps else None
    if isinstance(holder, dict):
        for key, value in holder.items():
            yield (*steps[:-1], key), True, value is None


def _general(steps: tuple[altered.Step, ...]) -> str:
    return PLACE.sub("/*", pointer(steps))[:LONGEST_PATH]


def _count(look: Look) -> None:
    known = {one.path: one for one in SeenField.objects.filter(tool=look.tool)}
    for path, value in look.unlisted:
        _keep(look, path, Drift.What.UNLISTED, value)
    for path, seen in sorted(look.fields.items()):
        if path not in known and _siblings(known, path) >= ENOUGH:
            _keep(look, path, Drift.What.NEW_KEY)
        elif path in known and seen.is_null and known[path].nulls == 0 and known[path].there >= ENOUGH:
            _keep(look, path, Drift.What.NULL)
        _add(look.tool, path, seen)
    missing = _missing(look, known)
    for one in missing:
        if one.answers >= ENOUGH and one.there == one.answers:
            _keep(look, one.path, Drift.What.GONE)
    SeenField.objects.filter(pk__in=[one.pk for one in missing]).update(answers=F("answers") + 1)


def _siblings(known: dict[str, SeenField], path: str) -> int:
    """In how many answers the object was looked at that the field is in."""
    parent = path.rpartition("/")[0]
    return max((one.answers for one in known.values() if one.path.rpartition("/")[0] == parent), default=0)


def _missing(look: Look, known: dict[str, SeenField]) -> list[SeenField]:
    """Fields that are known of an object that was looked at now, and are not in it."""
    parents = {path.rpartition("/")[0] for path in look.fields}
    return [known[path] for path in sorted(known) if path not in look.fields and path.rpartition("/")[0] in parents]


def _add(tool: str, path: str, seen: Seen) -> None:
    SeenField.objects.get_or_create(tool=tool, path=path)
    field = SeenField.objects.filter(tool=tool, path=path)
    field.update(answers=F("answers") + 1, there=F("there") + int(seen.is_there), nulls=F("nulls") + int(seen.is_null))
    if seen.is_read:
        field.update(is_read=True)


def _keep(look: Look, path: str, what: str, value: str = "") -> None:
    """Keep it once per tool, field and value, and count how often it came."""
    about = {"tool": look.tool, "path": path, "what": what, "value": value[:LONGEST]}
    _, is_new = Drift.objects.get_or_create(**about, defaults={"entry_seq": look.seq})
    if not is_new:
        Drift.objects.filter(**about).update(times=F("times") + 1)
