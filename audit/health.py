"""How the log does: seal lag, what holds the sealer, what left the building, what is missing, and what was removed.

A handful of queries, however large the log is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from audit import health_facts, health_key, health_lag, health_resting, health_starts, verify_asks
from audit.drill import recorded as drills
from audit.health_facts import Facts, Ran
from audit.health_followers import Followers
from audit.health_key import Key
from audit.health_lag import Holder, Lag
from audit.health_months import Month
from audit.health_resting import Resting
from audit.health_starts import Starts
from audit.models import Witnessed

MOST_BEHIND = 1_000  # leaves; the follower looks every few seconds
VERIFIED_EVERY = timedelta(hours=24)  # as the verifier is started
FULL_EVERY = timedelta(hours=36)  # a nightly full verification that is older than this did not run


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
    followers: Followers
    resting: Sequence[Resting]

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
    single = health_facts.facts()
    return Health(
        lag=health_lag.lag(),
        holders=health_lag.holders(),
        starts=health_starts.starts(),
        months=single.months,
        facts=single,
        witnessed=single.witnessed,
        full=single.full,
        partial=single.partial,
        verifier=single.verifier,
        drill=drills.last(),
        key=health_key.key(single),
        followers=single.followers,
        resting=health_resting.resting(),
    )
