"""How many calls a minute a source takes from one agent, and from all agents together. Counted in the database.

A minute is one of the clock: around its end twice the number may come within sixty seconds. What is over is answered
429 with the seconds until the next minute. Source by source the definition may say its own numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from audit.at_once import Row, Taking, ask
from evidence.errors import Problem
from evidence.models import CallUse

EVERYONE = 0  # in the place of an agent's id
MOST = 100_000
KEY = "calls_per_minute"  # in a source's body: {"agent": 120, "all": 600}

# One statement counts both and tells both: two calls at once cannot both take the last one. The source's own count is
# touched only by a call that its agent still had.
TAKE = """
with minute as materialized (
  select date_trunc('minute', clock_timestamp(), 'UTC') as began
), mine as (
  insert into evidence_calluse as kept (source, agent, since, used) select $1, $2::bigint, began, 1 from minute
  on conflict (source, agent) do update set
    used = case when kept.since < excluded.since then 1 else kept.used + 1 end,
    since = greatest(kept.since, excluded.since)
  where kept.since < excluded.since or kept.used < $3::bigint
  returning used
), everyones as (
  insert into evidence_calluse as kept (source, agent, since, used)
  select $1, 0, began, 1 from minute where exists (select from mine)
  on conflict (source, agent) do update set
    used = case when kept.since < excluded.since then 1 else kept.used + 1 end,
    since = greatest(kept.since, excluded.since)
  where kept.since < excluded.since or kept.used < $4::bigint
  returning used
)
select (select used from mine), (select used from everyones),
  ceil(extract(epoch from began + interval '1 minute' - clock_timestamp()))::integer
from minute
"""


@dataclass(frozen=True)
class Rates:
    """Calls in a minute: of one agent, and of all together."""

    agent: int = 120
    everyone: int = 600


DEFAULT = Rates()


@dataclass(frozen=True)
class Left:
    """What is left of this minute: the agent's own calls of the source, and the source's."""

    agent: int
    source: int


def rates_of(body: Mapping[str, Any]) -> Rates:
    """What a source's definition says, with the defaults for what it leaves out."""
    said = body.get(KEY, {})
    return Rates(said.get("agent", DEFAULT.agent), said.get("all", DEFAULT.everyone))


def check(body: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the body's rates, where it says any, can be counted."""
    said = body.get(KEY, {})
    if not isinstance(said, dict) or set(said) - {"agent", "all"}:
        raise ValueError(f'{KEY} says how many calls "agent" (one agent) and "all" (all together) may make.')
    for name, number in said.items():
        if type(number) is not int or not 0 < number <= MOST:
            raise ValueError(f"{KEY} of {name} is a whole number from 1 to {MOST:,}.")


def take(source: str, agent_id: int, rates: Rates) -> Left:
    """Count one call of a source. Raises Problem when the agent's minute or the source's is used up."""
    return ask(taking(source, agent_id, rates))


def taking(source: str, agent_id: int, rates: Rates) -> Taking[Left]:
    """The same as a statement, for who counts more at once."""
    values = [source, agent_id, rates.agent, rates.everyone]
    return Taking(TAKE, values, lambda rows: _told(source, rates, rows), lambda rows: None not in rows[0])


def _told(source: str, rates: Rates, rows: list[Row]) -> Left:
    mine, everyones, seconds = rows[0]
    wait = max(1, seconds)
    if mine is None:
        raise _spent(f"All {rates.agent:,} calls that one agent may make of {source} in a minute are used", wait)
    if everyones is None:
        raise _spent(f"All {rates.everyone:,} calls that agents may make of {source} in a minute are used", wait)
    return Left(rates.agent - mine, rates.everyone - everyones)


def _spent(sentence: str, wait: int) -> Problem:
    seconds = f"{wait} second{'s' if wait > 1 else ''}"
    return Problem(429, "rate_limited", f"{sentence}; ask again in {seconds}.", retry_after=wait)


def used(source: str) -> int:
    """How many calls the source took in the minute that runs now."""
    minute = timezone.now().replace(second=0, microsecond=0)
    kept = CallUse.objects.filter(source=source, agent=EVERYONE, since__gte=minute).first()
    return kept.used if kept else 0
