"""One agent as a page shows it: its tokens, what it called and was refused in the last day, what it is at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.utils import timezone

from audit import agents, browse, budgets
from audit.kinds import Kind
from audit.models import Agent, AgentToken, Entry
from audit.sentences import sentence

DAY = timedelta(days=1)
MOST_COUNTED = 10_000
MOST_TOKENS = 100
MOST_REFUSALS = 10
MOST_CHANGES = 5
REFUSAL = ("id", "seq", "at", "tool", "error", "summary")
CHANGE = ("id", "seq", "at", "actor", "kind", "subject", "tool", "summary")
CHANGES = (Kind.AGENT_CHANGED, Kind.TOKEN_ISSUED, Kind.TOKEN_REVOKED)


@dataclass(frozen=True)
class Work:
    """Something that the agent is at, as the layer above knows it."""

    title: str
    url: str
    started_at: datetime
    note: str


@dataclass(frozen=True)
class Share:
    """A limit of the budget: how much of it is used."""

    what: str
    used: int
    allowed: int

    @property
    def is_used_up(self) -> bool:
        return self.used >= self.allowed


def _nothing_runs(agent_id: int) -> Sequence[Work]:
    return ()


_running: Callable[[int], Sequence[Work]] = _nothing_runs


def set_running(find: Callable[[int], Sequence[Work]]) -> None:
    """Say who knows what an agent is at: investigations belong to a layer above this one."""
    global _running
    _running = find


_parts: dict[str, Callable[[Agent], object]] = {}
_marks: list[Callable[[], Mapping[str, int]]] = []


def register_part(template: str, find: Callable[[Agent], object]) -> None:
    """Have a layer above show more of an agent: a template that gets what `find` says as `part`. Safe to call again."""
    _parts[template] = find


def set_marks(find: Callable[[], Mapping[str, int]]) -> None:
    """Say who knows which agents a person should look at, by name, and for how many reasons."""
    _marks[:] = [find]


def marks() -> Mapping[str, int]:
    """The agents that a person should look at."""
    return _marks[0]() if _marks else {}


class AgentPage:
    """What the page of one agent shows."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.now = timezone.now()

    @cached_property
    def tokens(self) -> Sequence[AgentToken]:
        """The newest tokens, also those that are over."""
        return list(self.agent.tokens.order_by("-pk")[:MOST_TOKENS])

    @cached_property
    def running(self) -> Sequence[Work]:
        return _running(self.agent.pk)

    @cached_property
    def parts(self) -> Sequence[tuple[str, object]]:
        """What layers above show of it: each with its template."""
        return [(template, find(self.agent)) for template, find in _parts.items()]

    @property
    def usable(self) -> int:
        """How many tokens a stop would revoke."""
        return agents.usable_tokens(self.agent).count()

    @property
    def budget(self) -> Sequence[Share]:
        """What it used of what it may."""
        agent = self.agent
        return [
            Share("Calls in this hour", budgets.used(agent, budgets.CALLS), agent.calls_per_hour),
            Share("Investigations now", len(self.running), agent.open_investigations),
            Share("Writes proposed today", budgets.used(agent, budgets.PROPOSALS), agent.proposals_per_day),
        ]

    @cached_property
    def changes(self) -> Sequence[tuple[Entry, str]]:
        """The last changes of the agent, its tokens and its budget, each with its sentence."""
        found = Entry.objects.filter(kind__in=CHANGES, subject=f"agent {self.agent.name}")
        return [(entry, sentence(entry)) for entry in found.only(*CHANGE).order_by("-seq")[:MOST_CHANGES]]

    @cached_property
    def _since(self) -> int:
        return browse.position_of(self.now - DAY)

    @property
    def calls(self) -> str:
        """How many calls finished within the last day, in words; counting stops early."""
        return self._counted(Kind.CALL_FINISHED)

    @property
    def refused(self) -> str:
        """How many were refused."""
        return self._counted(Kind.CALL_REFUSED)

    def _counted(self, kind: Kind) -> str:
        found = Entry.objects.filter(actor_kind="agent", actor=self.agent.name, kind=kind, seq__gte=self._since)
        number = found.order_by()[: MOST_COUNTED + 1].count()
        return f"more than {MOST_COUNTED:,}" if number > MOST_COUNTED else f"{number:,}"

    @cached_property
    def refusals(self) -> Sequence[Entry]:
        """The last refusals of the day."""
        found = Entry.objects.filter(
            actor_kind="agent", actor=self.agent.name, kind=Kind.CALL_REFUSED, seq__gte=self._since
        )
        return list(found.only(*REFUSAL).order_by("-seq")[:MOST_REFUSALS])
