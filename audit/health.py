"""How the log does: seal lag, what holds the sealer, what left the building, what is missing, and what was removed.

A handful of queries, however large the log is.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from audit import verify_asks
from audit.drill import recorded as drills
from audit.models import Witnessed
from audit.verify import note

MOST_COUNTED = 10_000
MOST_STARTS = 5_000  # calls looked at for those without a finish
MOST_LISTED = 50
MOST_MONTHS = 24
RUNS_FOR = timedelta(minutes=5)  # a call that began less long ago may well be at work
MOST_CHECKPOINTS = 3_600
CHECKPOINTS_SHOWN = 5
MOST_BEHIND = 1_000  # leaves; the follower looks every few seconds
VERIFIED_EVERY = timedelta(hours=24)  # as the verifier is started
FULL_EVERY = timedelta(hours=36)  # a nightly full verification that is older than this did not run


@dataclass(frozen=True)
class Holder:
    """A transaction that everything newer waits for. What the owner may not see, or what just ended, is None."""

    pid: int | None
    role: str | None
    database: str | None
    application: str | None
    since: datetime | None
    state: str | None
    query: str | None


def holders() -> list[Holder]:
    """Who may hold the sealer back, longest first."""
    return [Holder(*row) for row in _rows("select * from audit_horizon()", [])]


# The first leaf under a checkpoint waited the longest for it.
_LAG = """
select sealed.size, sealed.at, extract(epoch from sealed.at - entry.at)::float8
from (
  select size, at, coalesce(lag(size) over (order by size), 0) as before
  from (select size, at from audit_checkpoint order by size desc limit %s) newest
) sealed
left join audit_leaf leaf on leaf.idx = sealed.before
left join audit_entry entry on entry.id = leaf.entry_id
order by sealed.size desc
"""


@dataclass(frozen=True)
class Sealed:
    """A checkpoint, and how long the first entry under it waited; None when that entry is gone."""

    size: int
    at: datetime
    lag: float | None


@dataclass(frozen=True)
class Lag:
    """How long entries waited to be sealed: the newest checkpoints, and the last hour."""

    checkpoints: Sequence[Sealed]
    now: datetime

    @cached_property
    def last_hour(self) -> list[Sealed]:
        """The checkpoints of the last hour, oldest first. The oldest of all that were read has no beginning."""
        recent = [one for one in self.checkpoints[: MOST_CHECKPOINTS - 1] if self.now - one.at < timedelta(hours=1)]
        return recent[::-1]

    @property
    def newest(self) -> Sequence[Sealed]:
        return self.checkpoints[:CHECKPOINTS_SHOWN]

    @property
    def median(self) -> float | None:
        """Seconds from commit to seal, in the last hour."""
        return statistics.median(self._seconds) if self._seconds else None

    @property
    def worst(self) -> Sealed | None:
        return max((one for one in self.last_hour if one.lag is not None), key=lambda one: one.lag or 0, default=None)

    @cached_property
    def _seconds(self) -> list[float]:
        return [one.lag for one in self.last_hour if one.lag is not None]


def lag() -> Lag:
    """How long sealing takes."""
    return Lag([Sealed(*row) for row in _rows(_LAG, [MOST_CHECKPOINTS])], timezone.now())


@dataclass(frozen=True)
class Start:
    """A call that has a start and no finish."""

    seq: int
    at: datetime
    tool: str
    actor: str
    incident_id: int | None

    @property
    def is_running(self) -> bool:
        """Whether it may well be at work; else its outcome is unknown."""
        return timezone.now() - self.at < RUNS_FOR


@dataclass(frozen=True)
class Starts:
    """Calls without a finish, newest first: those that are shown, how many there are, and where to look on."""

    shown: Sequence[Start]
    count: int
    unknown: int
    looked_at: int
    older: int | None

    @property
    def is_all(self) -> bool:
        """Whether every call was looked at."""
        return self.looked_at < MOST_STARTS


# The lateral join looks each finish up: an anti-join might read every finish there is.
_STARTS = """
with start as materialized (
  select seq, at, tool, actor, incident_id, call_id from audit_entry
  where kind = 'call.started' and seq < %s order by seq desc limit %s
), looked (number, lowest) as (select count(*), min(seq) from start)
select start.seq, start.at, start.tool, start.actor, start.incident_id, looked.number, looked.lowest
from looked left join (
  start left join lateral (
    select true as is_there from audit_entry finish
    where finish.call_id = start.call_id and finish.kind = 'call.finished' limit 1
  ) finish on true
) on finish.is_there is null
order by start.seq desc
"""


def starts(before: int | None = None) -> Starts:
    """Calls below a number that have no finish, among the newest that are looked at."""
    rows = _rows(_STARTS, [before if before is not None else 1 << 62, MOST_STARTS])
    looked_at, lowest = rows[0][5:]
    open_ones = [Start(*row[:5]) for row in rows if row[0] is not None]
    shown = open_ones[:MOST_LISTED]
    older = shown[-1].seq if len(open_ones) > MOST_LISTED else lowest if looked_at == MOST_STARTS else None
    unknown = sum(not one.is_running for one in open_ones)
    return Starts(shown, len(open_ones), unknown, looked_at, older)


_MONTHS = """
select part.month, sum(pg_total_relation_size(part.oid))::bigint,
  max(part.reltuples::bigint) filter (where part.parent = 'audit_entry'),
  exists (select from audit_hold h where h.lifted_at is null and h.month = to_date(part.month, 'YYYYMM'))
from (
  select c.oid, c.reltuples, i.inhparent::regclass::text as parent, substring(c.relname from '[0-9]{6}$') as month
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('audit_entry'::regclass, 'audit_payload'::regclass, 'audit_search'::regclass)
) part
where part.month is not null group by part.month order by part.month desc limit %s
"""


@dataclass(frozen=True)
class Month:
    """A month's partitions: their size, about how many entries, and whether a hold lies on the month itself."""

    month: str  # 202611
    size: int
    entries: int
    is_held: bool

    @property
    def name(self) -> str:
        return f"{self.month[:4]}-{self.month[4:]}"


def months() -> list[Month]:
    """The months that are kept, newest first."""
    return [Month(*row) for row in _rows(_MONTHS, [MOST_MONTHS])]


_FACTS = f"""
select
  coalesce((select seq from audit_entry order by seq desc limit 1), 0),
  (select count(*) from (
    select from audit_entry where seq > coalesce((select seq from audit_entry where id = (
      select entry_id from audit_leaf order by idx desc limit 1)), 0) limit %s) waiting),
  audit_default_rows(),
  (select next_leaf from audit_searchstate),
  (select count(*) from audit_hold where lifted_at is null),
  (select count(*) from audit_redaction where recorded_as is not null),
  (select count(*) from audit_retained),
  (select recorded_as from audit_retained order by month desc limit 1),
  guards.seq, guards.at, guards.tool_hash, guards.summary,
  (select note from audit_checkpoint order by size desc limit 1),
  (select at from audit_entry where kind = 'log.sealed_key' order by seq desc limit 1),
  (select coalesce(json_agg(w order by target), '[]')::text from audit_witnessed w),
  (select row_to_json(v)::text from audit_verification v where is_full order by id desc limit 1),
  (select row_to_json(v)::text from audit_verification v where not is_full order by id desc limit 1),
  (select row_to_json(state)::text from ({verify_asks.STATE}) state)
from (select) one
left join (
  select seq, at, tool_hash, summary from audit_entry where kind = 'log.schema' order by seq desc limit 1
) guards on true
"""


@dataclass(frozen=True)
class Ran:
    """A verification, as its row says it."""

    id: int
    at: datetime
    size: int
    is_full: bool
    findings: list[dict[str, str]]
    finding_count: int
    is_clean: bool
    took_ms: int | None


@dataclass(frozen=True)
class Facts:
    """Single numbers about the log."""

    newest: int
    unsealed: int
    default_rows: int
    searched_leaves: int
    holds: int
    redactions: int
    retained: int
    retained_by: int | None
    guards_seq: int | None
    guards_at: datetime | None
    guards_hash: str | None
    guards_summary: str | None
    note: str | None
    key_since: datetime | None
    witnessed_rows: str  # JSON, as are the next two
    full_row: str | None
    partial_row: str | None
    verifier_row: str

    @property
    def witnessed(self) -> list[Witnessed]:
        """How far checkpoints have arrived at each place."""
        return [Witnessed(**_with_times(row, "at", "tried_at")) for row in json.loads(self.witnessed_rows)]

    @property
    def full(self) -> Ran | None:
        """The newest verification of the whole log."""
        return _ran(self.full_row)

    @property
    def partial(self) -> Ran | None:
        """The newest one of a part of it."""
        return _ran(self.partial_row)

    @property
    def verifier(self) -> verify_asks.State:
        """What the verifier does."""
        return verify_asks.State(**_with_times(json.loads(self.verifier_row), "at", "since", "new_at", "asked_at"))


def _ran(row: str | None) -> Ran | None:
    return None if row is None else Ran(**_with_times(json.loads(row), "at"))


def _with_times(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return row | {name: datetime.fromisoformat(row[name]) for name in names if row[name] is not None}


def facts() -> Facts:
    """Single numbers about the log, in one query."""
    return Facts(*_rows(_FACTS, [MOST_COUNTED + 1])[0])


@dataclass(frozen=True)
class Key:
    """The key that has signed the last checkpoint, held against those that this process was told of."""

    name: str
    known: Sequence[str]  # as they are written
    fault: str  # a sentence; empty when a known key has signed
    since: datetime | None  # when the sealer recorded its keys last


def key(found: Facts) -> Key | None:
    """Whose signature the last checkpoint carries, checked now; None while nothing is sealed."""
    if found.note is None:
        return None
    known = list(settings.LOG_PUBLIC_KEYS)
    try:
        signed, keys = note.parse(found.note), note.parse_keys("\n".join(known)) if known else []
    except note.Unreadable as problem:
        return Key("–", known, str(problem), found.key_since)
    return Key(signed.origin, known, signed.fault(keys) if keys else "", found.key_since)


@dataclass(frozen=True)
class Health:
    """All that the page shows."""

    lag: Lag
    holders: Sequence[Holder]
    starts: Starts
    months: Sequence[Month]
    facts: Facts
    witnessed: Sequence[Witnessed]
    full: Ran | None
    partial: Ran | None
    verifier: verify_asks.State
    drill: drills.Drill | None
    key: Key | None

    @property
    def gaps(self) -> int:
        """How many gaps and doubles in writers' numbers the last whole verification has kept."""
        return sum(one["code"] in ("G1", "G2") for one in self.full.findings) if self.full else 0

    @property
    def next_full(self) -> datetime | None:
        """About when the whole log is verified next, when a verifier is at work."""
        return None if self.full is None or self.verifier.is_silent else self.full.at + VERIFIED_EVERY

    @property
    def is_drill_due(self) -> bool:
        """Whether nobody has tried for long whether tampering is found."""
        return self.drill is None or self.drill.is_late

    @property
    def search_behind(self) -> int:
        """How many leaves the search has not taken in yet."""
        size = self.lag.checkpoints[0].size if self.lag.checkpoints else 0
        return max(0, size - self.facts.searched_leaves)

    @property
    def is_search_late(self) -> bool:
        """Whether the search's follower does not keep up."""
        return self.search_behind > MOST_BEHIND

    @property
    def keeps(self) -> int:
        """For how many months the log is kept; 0 for ever."""
        return int(settings.RETENTION_MONTHS)

    @property
    def is_full_due(self) -> bool:
        """Whether the whole log was not verified for long."""
        return self.full is None or timezone.now() - self.full.at > FULL_EVERY


def health() -> Health:
    """Look at everything."""
    single = facts()
    return Health(
        lag(), holders(), starts(), months(), single, single.witnessed, single.full, single.partial,
        single.verifier, drills.last(), key(single),
    )  # fmt: skip


def _rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
