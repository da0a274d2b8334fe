"""What stands beside an entry: its leaf, who holds checkpoints, who looked at it. One query for all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from audit import heads, log
from audit.heads import Head
from audit.kinds import Kind
from audit.models import Entry, Link
from audit.models.times import readable

MOST_VIEWERS = 20

LOOK = f"""
select
  (select idx from audit_leaf where entry_id = %s),
  (select h from audit_leaf where entry_id = %s),
  (select id from audit_redaction where entry_id = %s and status = 'waiting'),
  (select coalesce(json_agg(json_build_object('target', target, 'size', size, 'at', extract(epoch from at),
      'state', state, 'sentence', sentence, 'note', note) order by target), '[]')::text from audit_witnessed),
  (select coalesce(json_agg(json_build_object('actor', actor, 'principal', principal, 'hours', hours,
      'at', extract(epoch from last), 'seq', seq) order by last desc), '[]')::text
    from (
      select actor, principal, count(*) as hours, max({readable("at")}) as last, max(seq) as seq from audit_entry
      where subject = %s and kind = 'log.viewed' group by actor, principal order by max(at) desc limit %s
    ) looked),
  (select coalesce(json_agg(json_build_object('id', id, 'entry_seq', entry_seq, 'subject', subject, 'url', url,
      'note', note, 'paths', paths) order by id), '[]')::text from audit_link where entry_seq = %s),
  last.size, last.root, last.note
from (select 1) one
left join (select size, root, note from audit_checkpoint order by size desc limit 1) last on true
"""


@dataclass(frozen=True)
class Held:
    """How far one of the places outside holds our checkpoints."""

    target: str
    size: int
    at: datetime | None
    state: str
    sentence: str
    note: str  # as it arrived there; a witness's with its signature


@dataclass(frozen=True)
class Viewer:
    """A person who looked at what an entry holds: in how many hours, and when last."""

    actor: str
    principal: str
    hours: int
    at: datetime
    seq: int  # the entry that says so last


@dataclass(frozen=True)
class Surroundings:
    """What one look has found beside an entry."""

    leaf: int | None
    leaf_hash: bytes
    redaction: int | None  # a request that waits
    held: Sequence[Held]
    viewers: Sequence[Viewer]
    cited_by: Sequence[Link]
    head: Head | None  # the newest checkpoint


def of(entry: Entry) -> Surroundings:
    """Look what stands beside an entry."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK, [entry.pk, entry.pk, entry.pk, entry.ref, MOST_VIEWERS, entry.seq])
        leaf, leaf_hash, redaction, held, viewers, links, *last = cursor.fetchone()
    return Surroundings(
        leaf,
        bytes(leaf_hash or b""),
        redaction,
        [Held(**_with_time(one)) for one in json.loads(held)],
        [Viewer(**_with_time(one)) for one in json.loads(viewers)],
        [Link(**one) for one in json.loads(links)],
        None if last[0] is None else heads.head_of(*last),
    )


def _with_time(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "at": datetime.fromtimestamp(row["at"], UTC) if row["at"] is not None else None}


def recorded_view(entry: Entry, beside: Surroundings, by: Any) -> Surroundings:
    """Record that a person looks at what an entry holds, before it is shown; what stands beside it then.

    Once for each person, entry and hour: who read production data is in the log, and reading cannot flood it. Entries
    about the log itself show nothing of production, and looking at them would beget entries without end.
    """
    now, who = timezone.now(), by.get_username()
    if entry.kind.startswith("log.") or any(_is_known(one, who, now) for one in beside.viewers):
        return beside
    said = {"entry": entry.seq, "entry_id": str(entry.pk)}
    receipt = log.record(
        Kind.LOG_VIEWED, log.Actor.person(by), subject=entry.ref, summary="arguments and result", args=said
    )
    before = next((one.hours for one in beside.viewers if one.principal == who), 0)
    mine = Viewer(str(by), who, before + 1, receipt.at, receipt.seq)
    return replace(beside, viewers=[mine, *(one for one in beside.viewers if one.principal != who)])


def _is_known(one: Viewer, who: str, now: datetime) -> bool:
    return one.principal == who and one.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0) == (
        now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    )
