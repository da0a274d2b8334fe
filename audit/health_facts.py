"""Single numbers about the log, and the newest of what its processes have said: all in one query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit import verify_asks
from audit.health_followers import FOLLOWERS, Followers, followers
from audit.health_months import MONTHS, Month, months
from audit.health_rows import rows
from audit.models import Witnessed
from audit.models.times import readable

MOST_COUNTED = 10_000

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
  (select {readable("at")} from audit_entry where kind = 'log.sealed_key' order by seq desc limit 1),
  (select coalesce(json_agg(w order by target), '[]')::text from audit_witnessed w),
  (select row_to_json(v)::text from audit_verification v where is_full order by id desc limit 1),
  (select row_to_json(v)::text from audit_verification v where not is_full order by id desc limit 1),
  (select row_to_json(state)::text from ({verify_asks.STATE}) state),
  ({FOLLOWERS}),
  ({MONTHS})
from (select) one
left join (
  select seq, {readable("at")} as at, tool_hash, summary from audit_entry
  where kind = 'log.schema' order by seq desc limit 1
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
    witnessed_rows: str  # JSON, as are the next ones
    full_row: str | None
    partial_row: str | None
    verifier_row: str
    followers_row: str
    month_rows: str

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
    def followers(self) -> Followers:
        """Who follows the log by leaf."""
        return followers(self.followers_row)

    @property
    def months(self) -> list[Month]:
        """The months that are kept, newest first."""
        return months(self.month_rows)

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
    return Facts(*rows(_FACTS, [MOST_COUNTED + 1])[0])
