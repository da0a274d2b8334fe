"""What an agent may use: calls in an hour, proposals in a day, investigations at once. Counted in the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction

from audit import log, vouching
from audit.at_once import Row, Taking, ask
from audit.kinds import Kind
from audit.models import Agent, AgentUse

MOST = 1_000_000


@dataclass(frozen=True)
class Limit:
    """A limit that fills up again: where the agent's row keeps it, and how it is said."""

    what: str
    column: str
    period: str
    length: timedelta


CALLS = Limit("calls", "calls_per_hour", "hour", timedelta(hours=1))
PROPOSALS = Limit("proposals", "proposals_per_day", "day", timedelta(days=1))
AT_ONCE = "open_investigations"
COLUMNS = (CALLS.column, AT_ONCE, PROPOSALS.column)

# One statement counts and tells: two calls at once cannot both take the last one. A period that is over starts again.
TAKE = """
insert into audit_agentuse as kept (agent_id, what, since, used)
select id, $1::text, date_trunc($2, clock_timestamp(), 'UTC'), 1
from audit_agent where id = $3 and {column} > 0
on conflict (agent_id, what) do update set
  used = case when kept.since < excluded.since then 1 else kept.used + 1 end,
  since = greatest(kept.since, excluded.since)
where kept.since < excluded.since or kept.used < (select {column} from audit_agent where id = $3)
returning greatest(0, (select {column} from audit_agent where id = $3) - used)
"""


class Spent(Exception):
    """The agent used all that it may; the sentence says of what, and when there is more: in so many seconds."""

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


def take(agent_id: int, limit: Limit) -> int:
    """Count one use and say how many are left. Raises Spent when none is."""
    return ask(taking(agent_id, limit))


def taking(agent_id: int, limit: Limit) -> Taking[int]:
    """The same as a statement, for who counts more at once."""
    values = [limit.what, limit.period, agent_id]
    return Taking(TAKE.format(column=limit.column), values, lambda rows: _left(agent_id, limit, rows))


def _left(agent_id: int, limit: Limit, rows: list[Row]) -> int:
    if not rows:
        raise _spent(agent_id, limit)
    return int(rows[0][0])


def _spent(agent_id: int, limit: Limit) -> Spent:
    allowed, now = getattr(Agent.objects.get(pk=agent_id), limit.column), _now()
    again = _began(limit, now) + limit.length
    sentence = (
        f"{allowed:,} of {allowed:,} {limit.what} of this {limit.period} are used; "
        f"the next {limit.period} begins at {again:%H:%M} UTC. An admin can allow more."
    )
    return Spent(sentence, max(1, int((again - now).total_seconds()) + 1))


def used(agent: Agent, limit: Limit) -> int:
    """How much of a limit the agent used in the period that runs now."""
    began = _began(limit, _now())
    kept = AgentUse.objects.filter(agent=agent, what=limit.what, since__gte=began).first()
    return kept.used if kept else 0


def _began(limit: Limit, moment: datetime) -> datetime:
    # As date_trunc does it in UTC, whose hours and days are whole since the epoch.
    length = int(limit.length.total_seconds())
    return datetime.fromtimestamp(int(moment.timestamp()) // length * length, UTC)


def _now() -> datetime:
    # The clock that counts is the database's.
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment.astimezone(UTC)


@transaction.atomic
def change(agent_id: int, limits: Mapping[str, int], *, by: log.Actor) -> Agent:
    """Set an agent's limits, named as its columns. To set what is set already records nothing.

    Raises Agent.DoesNotExist.
    """
    agent = Agent.objects.select_for_update(of=("self",)).get(pk=agent_id)
    before = {name: getattr(agent, name) for name in COLUMNS}
    after = {name: limits[name] for name in COLUMNS}
    if before == after:
        return agent
    for name, value in after.items():
        setattr(agent, name, value)
    agent.save(update_fields=list(COLUMNS))
    log.record_with(
        Kind.AGENT_CHANGED, by, subject=f"agent {agent.name}", summary=_in_words(before, after),
        args={"agent": agent.name, "owner": agent.owner_name, "before": before, "after": after,
              "rows": vouching.rows(agent)},
    )  # fmt: skip
    return agent


def _in_words(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    moved = [name for name in COLUMNS if before[name] != after[name]]
    return "budget: " + ", ".join(f"{name.replace('_', ' ')} {before[name]:,} to {after[name]:,}" for name in moved)
