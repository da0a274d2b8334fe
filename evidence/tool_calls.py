"""How tools were used of late: one query, whatever the number of tools, and never more than so many calls of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

MOST = 1000  # calls of one tool that are looked at
DAYS = 7
SQL = """
select wanted.name, calls.number, calls.failed, calls.median, calls.latest
from unnest(%s::text[]) wanted (name)
cross join lateral (
  select count(*) as number, count(*) filter (where status <> 'ok') as failed,
    percentile_cont(0.5) within group (order by duration_ms) as median, max(at) as latest
  from (
    select status, duration_ms, at from audit_entry
    where tool = wanted.name and kind = 'call.finished' and at > now() - make_interval(days => %s)
    order by seq desc limit %s
  ) newest
) calls
"""


@dataclass(frozen=True)
class Lately:
    """The calls of a tool in the last days, or its newest ones when there are more."""

    number: int
    failed: int
    median_ms: int | None
    latest: datetime | None

    @property
    def is_more(self) -> bool:
        """Whether there may be more than were counted."""
        return self.number >= MOST


def lately(names: Sequence[str]) -> dict[str, Lately]:
    """The latest calls of each tool."""
    with connection.cursor() as cursor:
        cursor.execute(SQL, [list(names), DAYS, MOST])
        return {
            name: Lately(number, failed, None if median is None else round(median), latest)
            for name, number, failed, median, latest in cursor.fetchall()
        }
