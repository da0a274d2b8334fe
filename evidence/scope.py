"""What an agent may ask right now. The layer that knows investigations implements it and sets the resolver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from audit.agents import Principal
from audit.at_once import Asked, Taking, ask
from evidence.errors import Problem


class Scope(Protocol):
    """One agent's running investigation, as the gateway sees it."""

    @property
    def principal(self) -> Principal:
        """The agent that asks."""

    @property
    def run_id(self) -> str:
        """The investigation's id, as entries carry it."""

    @property
    def incident_id(self) -> int:
        """The incident that is investigated."""

    @property
    def decision_point(self) -> datetime | None:
        """The moment that answers are about: in the past for evaluations, None when it is the time of each call."""

    def allows(self, tool: str) -> bool:
        """Whether the incident's class offers this tool."""

    def allows_metric(self, metric_id: str) -> bool:
        """Whether the incident's class lets this metric be asked about."""

    def taking_call(self) -> Taking[int]:
        """Takes one call from the budget and tells how many are left; that raises Problem when none is."""


Resolver = Callable[[Principal, int | None], Asked[Scope]]
Finder = Callable[[Principal], Sequence[Scope]]
_resolvers: list[Resolver] = []
_finders: list[Finder] = []


def set_resolver(resolver: Resolver, finder: Finder) -> None:
    """Say how an agent's scope is found, and all that it has; called once when the application starts."""
    _resolvers[:] = [resolver]
    _finders[:] = [finder]


def running(principal: Principal) -> list[Scope]:
    """The scopes of all investigations that the agent runs; none without a layer that knows of any."""
    return [one for finder in _finders for one in finder(principal)]


def is_offered(tool: str, visibility_scope: str, within: Scope) -> bool:
    """Whether the class offers the tool, and the tool can speak about the decision point."""
    return within.allows(tool) and (visibility_scope != "live" or within.decision_point is None)


def resolve(principal: Principal, investigation: int | None) -> Scope:
    """The scope of the agent's named investigation, or of its only running one. Raises Problem when there is none."""
    return ask(resolving(principal, investigation))


def resolving(principal: Principal, investigation: int | None) -> Asked[Scope]:
    """The same as a statement, for who asks for more at once. Raises Problem when nothing knows of investigations."""
    if not _resolvers:
        raise Problem(503, "no_investigations", "This server takes no investigations, so no tool can be called.")
    return _resolvers[0](principal, investigation)
