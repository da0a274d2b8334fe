"""Receivers that follow the log by leaf, as `export_log --follow` records it: when it begins, and when it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.models.times import readable

MOST_LOOKED_AT = 50  # of the newest exports that began
# What begins has no parent and what ends has: its own beginning. The summary is that of the command. A JSON text, so
# that it can be asked for with other things.
FOLLOWERS = f"""
select coalesce(json_agg(json_build_object('seq', begun.seq, 'at', begun.at, 'ended_as', ended.seq,
    'ended_at', ended.at) order by begun.seq desc), '[]')::text
from (
  select id, seq, {readable("at")} as at from audit_entry
  where kind = 'log.exported' and parent is null and summary like 'Following as %%'
  order by seq desc limit {MOST_LOOKED_AT}
) begun left join lateral (
  select seq, {readable("at")} as at from audit_entry e
  where e.kind = 'log.exported' and e.parent = begun.id and e.seq > begun.seq limit 1
) ended on true
"""


@dataclass(frozen=True)
class Follower:
    """One follower: the entries that say when it began and when it ended, when it has."""

    seq: int
    at: datetime
    ended_as: int | None
    ended_at: datetime | None


@dataclass(frozen=True)
class Followers:
    """The newest followers."""

    all: Sequence[Follower]

    @property
    def at_work(self) -> Sequence[Follower]:
        """Those that have not ended, as far as the log knows: one that was killed says nothing."""
        return [one for one in self.all if one.ended_as is None]

    @property
    def last(self) -> Follower | None:
        """The newest one."""
        return self.all[0] if self.all else None


def followers(found: str) -> Followers:
    """Who follows the log, from what the statement gave."""
    return Followers([Follower(**_with_times(row)) for row in json.loads(found)])


def _with_times(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: row[name] and datetime.fromisoformat(row[name]) for name in ("at", "ended_at")}
