"""Counting calls out of the log: sealed entries one after another, each once, into rows that pages can afford to read.

A page that counted in the log itself would read as many entries as the agent made calls. So the worker does it, by
leaf: leaves are dense, and no commit slips behind one that was counted. Its place is a row that is locked while a batch
is taken, and moves in the transaction that counts it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import simplejson
from django.db import transaction
from django.utils import timezone

from audit import reading
from audit.kinds import Kind
from audit.models import Entry, Leaf, Payload
from evidence import durations
from evidence.models import CallSlot, CallTotal, MonitorState, Question

BATCH = 500
SLOT = timedelta(minutes=15)
KEPT = timedelta(days=8)  # how long slots and questions stay: a week, with which the last day is compared
FIRST = 1  # the key of the one row of MonitorState
SlotKey = tuple[datetime, str, str, str, str, str]


@dataclass
class Sum:
    """Some calls that went alike."""

    calls: int = 0
    milliseconds: int = 0
    durations: list[int] = field(default_factory=durations.none)

    def add(self, calls: int, took: int | None) -> None:
        """So many more; one that ran took so long."""
        self.calls += calls
        if took is not None:
            self.milliseconds += took
            self.durations[durations.place(took)] += 1


def follow(seconds: float) -> int:
    """Count sealed entries for so long, or until there are no more; how many. One follower works at a time."""
    until, counted = time.monotonic() + seconds, 0
    _make_state()
    while (batch := _next_batch()) and time.monotonic() < until:
        counted += batch
    forget()
    return counted + batch


def slot_of(moment: datetime) -> datetime:
    """The beginning of the quarter of an hour that a moment lies in."""
    length = int(SLOT.total_seconds())
    return datetime.fromtimestamp(int(moment.timestamp()) // length * length, UTC)


def forget() -> None:
    """Take away what is too old to be compared with."""
    before = timezone.now() - KEPT
    CallSlot.objects.filter(since__lt=before).delete()
    Question.objects.filter(last_at__lt=before).delete()


def _make_state() -> None:
    state = MonitorState(pk=FIRST, next_leaf=0, key=os.urandom(32), at=timezone.now())
    MonitorState.objects.bulk_create([state], ignore_conflicts=True)


@transaction.atomic
def _next_batch() -> int:
    state = MonitorState.objects.select_for_update(skip_locked=True).filter(pk=FIRST).first()
    if state is None:
        return 0
    leaves = list(Leaf.objects.filter(index__gte=state.next_leaf).order_by("index")[:BATCH])
    if leaves:
        _take([leaf.entry_id for leaf in leaves], bytes(state.key))
        state.next_leaf = leaves[-1].index + 1
    state.at = timezone.now()
    state.save(update_fields=["next_leaf", "at"])
    return len(leaves)


def _take(keys: list[UUID], key: bytes) -> None:
    calls = Entry.objects.filter(pk__in=keys, kind__in=("call.started", "call.finished", "call.refused"))
    entries = list(calls.filter(actor_kind=Entry.ActorKind.AGENT).order_by("seq"))
    started = [entry for entry in entries if entry.kind == Kind.CALL_STARTED]
    counts = [entry for entry in entries if entry.kind == Kind.CALL_REFUSED and entry.error_class and not entry.tool]
    stored = Payload.objects.in_bulk([entry.pk for entry in (*started, *counts)])
    said = {entry.pk: reading.check(entry, stored.get(entry.pk)).args for entry in (*started, *counts)}
    _add_slots(_sums(entries, said))
    _add_questions(started, said, key)


def _sums(entries: Iterable[Entry], said: dict[UUID, Any]) -> dict[SlotKey, Sum]:
    sums: dict[SlotKey, Sum] = {}
    for entry in entries:
        if entry.kind == Kind.CALL_STARTED:
            continue
        outcome = _outcome(entry)
        # A name that is no tool of ours would make a row of its own each time: an agent may ask for any text at all.
        tool = entry.tool if entry.tool_version is not None else ""
        # An answer that was not whole has codes, too, but nothing failed.
        code = "" if outcome == "ok" else entry.error_class
        place = (slot_of(entry.at), entry.actor, tool, entry.source, outcome, code)
        sums.setdefault(place, Sum()).add(_number(said.get(entry.pk)), entry.duration_ms)
    return sums


def _outcome(entry: Entry) -> str:
    if entry.kind == Kind.CALL_REFUSED:
        return "refused"
    return "ok" if entry.status == "ok" else "failed"


def _number(said: Any) -> int:
    """How many refusals an entry stands for: where a flood was counted, it says so."""
    number = said.get("refusals") if isinstance(said, dict) else None
    return number if type(number) is int and number > 0 else 1


def _add_slots(sums: dict[SlotKey, Sum]) -> None:
    if not sums:
        return
    agents, since = {place[1] for place in sums}, min(place[0] for place in sums)
    rows = {
        (row.since, row.agent, row.tool, row.source, row.outcome, row.code): row
        for row in CallSlot.objects.filter(agent__in=agents, since__gte=since)
    }
    new, old = [], []
    for place, one in sums.items():
        row = rows.get(place)
        if row is None:
            new.append(_slot(place, one))
            continue
        row.calls, row.durations = row.calls + one.calls, durations.added(row.durations, one.durations)
        old.append(row)
    CallSlot.objects.bulk_create(new)
    CallSlot.objects.bulk_update(old, ["calls", "durations"])
    _add_totals(sums)


def _slot(place: SlotKey, one: Sum) -> CallSlot:
    since, agent, tool, source, outcome, code = place
    return CallSlot(
        since=since, agent=agent, tool=tool, source=source, outcome=outcome, code=code, calls=one.calls,
        durations=one.durations,
    )  # fmt: skip


def _add_totals(sums: dict[SlotKey, Sum]) -> None:
    rows = {(row.tool, row.source, row.outcome, row.code): row for row in CallTotal.objects.all()}
    for (_, _, tool, source, outcome, code), one in sums.items():
        place = tool, source, outcome, code
        row = rows.setdefault(place, _no_total(*place))
        row.calls, row.milliseconds = row.calls + one.calls, row.milliseconds + one.milliseconds
        row.durations = durations.added(row.durations, one.durations)
    CallTotal.objects.bulk_create([row for row in rows.values() if row.pk is None])
    CallTotal.objects.bulk_update([row for row in rows.values() if row.pk], ["calls", "milliseconds", "durations"])


def _no_total(tool: str, source: str, outcome: str, code: str) -> CallTotal:
    return CallTotal(
        tool=tool, source=source, outcome=outcome, code=code, calls=0, milliseconds=0, durations=durations.none()
    )


def _add_questions(started: list[Entry], said: dict[UUID, Any], key: bytes) -> None:
    # What was cut, damaged or redacted since says nothing: nobody can tell what was asked.
    asked = [(digest_of(key, one.tool, said[one.pk]), one) for one in started if said[one.pk] is not None]
    known = Question.objects.filter(digest__in={digest for digest, _ in asked})
    rows = {(row.agent, row.run_id, row.digest): row for row in known}
    for digest, entry in asked:
        row = rows.setdefault((entry.actor, entry.run_id, digest), _no_question(digest, entry))
        row.times, row.last_seq, row.last_at = row.times + 1, entry.seq, entry.at
    new, old = [row for row in rows.values() if row.pk is None], [row for row in rows.values() if row.pk]
    Question.objects.bulk_create(new)
    Question.objects.bulk_update(old, ["times", "last_seq", "last_at"])


def _no_question(digest: str, entry: Entry) -> Question:
    return Question(
        agent=entry.actor, run_id=entry.run_id, incident_id=entry.incident_id, tool=entry.tool, digest=digest, times=0,
        first_seq=entry.seq, last_seq=entry.seq, last_at=entry.at,
    )  # fmt: skip


def digest_of(key: bytes, tool: str, args: Any) -> str:
    """What tells two questions apart, without saying them: HMAC-SHA256 of the tool and its canonical arguments.

    It is keyed, so that arguments that were redacted later cannot be tried on it by who has not the key.
    """
    text = simplejson.dumps([tool, args], sort_keys=True, use_decimal=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
