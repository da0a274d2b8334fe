"""How long entries wait to be sealed, and who may hold the sealer back."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.utils import timezone

from audit.health_rows import rows
from audit.models.times import readable

MOST_CHECKPOINTS = 3_600
CHECKPOINTS_SHOWN = 5


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
    return [Holder(*row) for row in rows("select * from audit_horizon()", [])]


# The first leaf under a checkpoint waited the longest for it.
_LAG = f"""
select sealed.size, sealed.at, extract(epoch from sealed.at - {readable("entry.at")})::float8
from (
  select size, {readable("at")} as at, coalesce(lag(size) over (order by size), 0) as before
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
    return Lag([Sealed(*row) for row in rows(_LAG, [MOST_CHECKPOINTS])], timezone.now())
