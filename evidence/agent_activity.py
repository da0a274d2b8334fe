"""What an agent does, as its page shows it: alerts, its calls and how they ended, what it asked again, what is left.

Everything is read out of counted rows and small indexes, with the same number of queries however much it called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from django.db.models import Case, Count, Max, Min, Q, Sum, Value, When
from django.utils import timezone

from audit.kinds import Kind
from audit.models import Agent, Definition, Entry
from evidence import durations, rate
from evidence.models import AgentAlert, CallSlot, CallUse, MonitorState, Question

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MOST_SLOTS = 10_000  # rows of the day: 96 quarters of an hour, for each tool and each way that a call ended
MOST_QUESTIONS = 10
MOST_CALLS = 10
MOST_ALERTS = 20
CALL = (
    "id", "seq", "at", "kind", "tool", "source", "summary", "status", "error", "duration_ms", "incident_id", "truncated"
)  # fmt: skip


@dataclass
class Row:
    """How the calls of one tool went."""

    tool: str
    source: str
    ok: int = 0
    failed: int = 0
    refused: int = 0
    counts: list[int] = field(default_factory=durations.none)

    def add(self, slot: CallSlot) -> None:
        """The calls of one quarter of an hour that ended alike."""
        setattr(self, slot.outcome, getattr(self, slot.outcome) + slot.calls)
        self.counts = durations.added(self.counts, slot.durations)

    @property
    def median(self) -> int | None:
        return durations.quantile(self.counts, 0.5)

    @property
    def slow(self) -> int | None:
        """What 95 of 100 calls did not exceed."""
        return durations.quantile(self.counts, 0.95)


@dataclass(frozen=True)
class Repeated:
    """One question that was asked more than once."""

    tool: str
    incident_id: int | None
    times: int
    runs: int
    first_seq: int
    last_seq: int
    last_at: datetime


@dataclass(frozen=True)
class Minute:
    """How much an agent used of what a source takes from it in this minute."""

    source: str
    used: int
    allowed: int

    @property
    def left(self) -> int:
        return max(0, self.allowed - self.used)


def rows_of(slots: Iterable[CallSlot]) -> list[Row]:
    """Calls by tool and source, those that were called most first. What was no tool of ours stands last."""
    rows: dict[tuple[str, str], Row] = {}
    for slot in slots:
        rows.setdefault((slot.tool, slot.source), Row(slot.tool, slot.source)).add(slot)
    return sorted(rows.values(), key=lambda row: (not row.tool, -(row.ok + row.failed + row.refused), row.tool))


class Activity:
    """What the page of one agent shows of its calls."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.now = timezone.now()

    @cached_property
    def alerts(self) -> Sequence[AgentAlert]:
        """Those that stand, what nobody looked at first, and those that were over within the week."""
        found = AgentAlert.objects.filter(agent=self.agent.name).select_related("acknowledged_by")
        shown = found.filter(~Q(state=AgentAlert.State.OVER) | Q(over_at__gt=self.now - WEEK))
        order = Case(When(state="open", then=Value(0)), When(state="acknowledged", then=Value(1)), default=Value(2))
        return list(shown.order_by(order, "-opened_at")[:MOST_ALERTS])

    @cached_property
    def slots(self) -> Sequence[CallSlot]:
        found = CallSlot.objects.filter(agent=self.agent.name, since__gte=self.now - DAY)
        return list(found.order_by("-since")[:MOST_SLOTS])

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The calls of the last day by tool."""
        return rows_of(self.slots)

    @property
    def refused(self) -> Sequence[tuple[str, int]]:
        """The refusals of the day by their code."""
        return self._by_code("refused")

    @property
    def failed(self) -> Sequence[tuple[str, int]]:
        """The failures of the day by their class."""
        return self._by_code("failed")

    def _by_code(self, outcome: str) -> Sequence[tuple[str, int]]:
        sums: dict[str, int] = {}
        for slot in self.slots:
            if slot.outcome == outcome:
                sums[slot.code] = sums.get(slot.code, 0) + slot.calls
        return sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))

    @cached_property
    def questions(self) -> Sequence[Repeated]:
        """What it asked more than once in the last day, within one investigation or in several of one incident."""
        asked = Question.objects.filter(agent=self.agent.name, last_at__gte=self.now - DAY)
        found = (
            asked.values("tool", "incident_id", "digest")
            .annotate(
                runs=Count("pk"), asked=Sum("times"), first=Min("first_seq"), last=Max("last_seq"), at=Max("last_at")
            )
            .filter(asked__gt=1)
            .order_by("-asked", "-last")[:MOST_QUESTIONS]
        )
        return [
            Repeated(one["tool"], one["incident_id"], one["asked"], one["runs"], one["first"], one["last"], one["at"])
            for one in found
        ]

    @cached_property
    def minutes(self) -> Sequence[Minute]:
        """What it used of its minute, of each source that it called in it."""
        minute = self.now.replace(second=0, microsecond=0)
        used = dict(CallUse.objects.filter(agent=self.agent.pk, since__gte=minute).values_list("source", "used"))
        sources = Definition.objects.filter(kind="source", status=Definition.Status.ACTIVE).order_by("name")
        return [Minute(one.name, used.get(one.name, 0), rate.rates_of(one.body).agent) for one in sources]

    @cached_property
    def calls(self) -> Sequence[Entry]:
        """The last calls and refusals, as the log has them."""
        found = Entry.objects.filter(
            actor_kind=Entry.ActorKind.AGENT, actor=self.agent.name, kind__in=(Kind.CALL_FINISHED, Kind.CALL_REFUSED)
        )
        return list(found.only(*CALL).order_by("-seq")[:MOST_CALLS])

    @cached_property
    def counted_at(self) -> datetime | None:
        """Until when calls are counted."""
        return MonitorState.objects.values_list("at", flat=True).first()


def open_alerts() -> dict[str, int]:
    """The agents with alerts that nobody has looked at."""
    found = AgentAlert.objects.filter(state=AgentAlert.State.OPEN).values_list("agent").annotate(Count("pk"))
    return dict(found)
