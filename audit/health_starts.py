"""Calls that have a start and no finish: at work, or with an outcome that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from audit.health_rows import rows
from audit.models.times import readable

MOST_STARTS = 5_000  # calls looked at for those without a finish
MOST_LISTED = 50
RUNS_FOR = timedelta(minutes=5)  # a call that began less long ago may well be at work


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
_STARTS = f"""
with start as materialized (
  select seq, {readable("at")} as at, tool, actor, incident_id, call_id from audit_entry
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
    found = rows(_STARTS, [before if before is not None else 1 << 62, MOST_STARTS])
    looked_at, lowest = found[0][5:]
    open_ones = [Start(*row[:5]) for row in found if row[0] is not None]
    shown = open_ones[:MOST_LISTED]
    older = shown[-1].seq if len(open_ones) > MOST_LISTED else lowest if looked_at == MOST_STARTS else None
    unknown = sum(not one.is_running for one in open_ones)
    return Starts(shown, len(open_ones), unknown, looked_at, older)
