"""Who an agent is: its token, its owner, and what it may ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit import log, tokens, vouching
from audit.at_once import Asked, Row, ask
from audit.kinds import Kind
from audit.models import Agent, AgentToken

TOKEN_PREFIX = "csa"
DEFAULT_LIFETIME = timedelta(days=90)
# What a token may carry: calling evidence tools, handing in investigations, proposing writes, asking for admission, and
# asking what a metric would have been.
SCOPES = ("tools", "investigate", "propose", "admit", "what_if")
# Asked at every message, so they are written out: the ORM would take longer to write them than the server to answer.
BEHIND_TOKEN = """
select a.id, a.name, a.owner_id, a.owner_name, t.scopes::text from audit_agenttoken t join audit_agent a
  on a.id = t.agent_id where t.digest = $1 and t.revoked_at is null and t.expires_at > $2 and a.stopped_at is null
"""
AT_WORK = "select from audit_agent where id = $1 and stopped_at is null"


@dataclass(frozen=True)
class Principal:
    """An authenticated agent, as one request knows it."""

    agent_id: int
    agent: str
    owner_id: int
    owner: str
    scopes: frozenset[str]

    is_authenticated = True  # what REST framework's permission asks for

    def actor(self) -> log.Actor:
        """The agent in the log's words: it acts, its owner answers for it."""
        return log.Actor("agent", self.agent, self.owner)


def authenticate(token: str) -> Principal | None:
    """The agent behind a bearer token, or None when it is unknown, expired, revoked, or its agent was stopped."""
    return ask(Asked(BEHIND_TOKEN, [tokens.digest(token), timezone.now()], _behind))


def _behind(rows: list[Row]) -> Principal | None:
    if not rows:
        return None
    agent_id, name, owner_id, owner, scopes = rows[0]
    return Principal(agent_id, name, owner_id, owner, frozenset(json.loads(scopes)))


@transaction.atomic
def add(name: str, *, owner: Any, by: log.Actor) -> Agent:
    """A new agent, without a token yet. Raises ValueError when the name is taken."""
    agent, is_new = Agent.objects.get_or_create(name=name, defaults={"owner": owner, "owner_name": owner.username})
    if not is_new:
        raise ValueError(f"There is an agent named {name} already; choose another name.")
    _record_change(agent, by, f"added, owned by {owner}")
    return agent


# Ends what an agent is at and names it, in the caller's transaction: investigations belong to a layer above this one.
Ending = Callable[[int, log.Actor], Sequence[str]]


def _nothing_to_end(agent_id: int, by: log.Actor) -> Sequence[str]:
    return ()


_end_work: Ending = _nothing_to_end


def set_ending(end: Ending) -> None:
    """Say who ends what an agent is at; called once when the application starts."""
    global _end_work
    _end_work = end


def is_stopped(agent_id: int) -> bool:
    """Whether an agent was stopped, also since its token was looked at."""
    return ask(Asked(AT_WORK, [agent_id], lambda rows: not rows))


@transaction.atomic
def stop(agent_id: int, *, by: log.Actor) -> Agent:
    """Revoke every token of an agent and end what it is at. Stopping it again changes nothing.

    Raises Agent.DoesNotExist.
    """
    agent = Agent.objects.select_for_update(of=("self",)).get(pk=agent_id)
    if agent.stopped_at is None:
        agent.stopped_at = timezone.now()
        agent.save(update_fields=["stopped_at"])
        revoked = [revoke_token(token.pk, by=by).label for token in usable_tokens(agent)]
        ended = list(_end_work(agent.pk, by))
        summary = f"stopped: {len(revoked)} tokens revoked, {len(ended)} investigations ended"
        _record_change(agent, by, summary, revoked=revoked, ended=ended)
    return agent


def usable_tokens(agent: Agent) -> QuerySet[AgentToken]:
    """The tokens that would work if the agent does."""
    return AgentToken.objects.filter(agent=agent, revoked_at=None, expires_at__gt=timezone.now()).order_by("pk")


@transaction.atomic
def start(agent_id: int, *, by: log.Actor) -> Agent:
    """Let a stopped agent work again; it needs a new token.

    Raises Agent.DoesNotExist, and ValueError when nobody answers for it.
    """
    agent = Agent.objects.select_for_update(of=("self",)).select_related("owner").get(pk=agent_id)
    if agent.stopped_at is not None:
        _check_answers(agent.owner)
        agent.stopped_at = None
        agent.save(update_fields=["stopped_at"])
        _record_change(agent, by, "started again")
    return agent


def _check_answers(owner: Any) -> None:
    if not owner.is_active:
        raise ValueError(
            f"{owner.username} is deactivated and answers for nobody; reactivate them, or add an agent of someone else."
        )


def _record_change(agent: Agent, by: log.Actor, summary: str, **more: Any) -> None:
    log.record_with(
        Kind.AGENT_CHANGED, by, subject=f"agent {agent.name}", summary=summary,
        args={"agent": agent.name, "owner": agent.owner_name, "stopped": agent.stopped_at is not None,
              "rows": vouching.rows(agent), **more},
    )  # fmt: skip


@transaction.atomic
def issue_token(
    name: str, *, owner: Any, scopes: list[str], label: str, by: log.Actor, lifetime: timedelta = DEFAULT_LIFETIME
) -> str:
    """A new token for the agent `name` (made when it is new). The answer is the only time it can be read.

    Raises ValueError for an unknown scope, or when its owner is another person or deactivated.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise ValueError(f"Unknown scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}.")
    if not scopes:
        raise ValueError(f"A token needs at least one scope of {', '.join(SCOPES)}.")
    _check_answers(owner)
    agent, is_new = Agent.objects.get_or_create(name=name, defaults={"owner": owner, "owner_name": owner.username})
    if agent.owner_id != owner.pk:
        raise ValueError(f"{name} is owned by someone else; only its owner's name goes with a new token.")
    token, kept = tokens.draw(TOKEN_PREFIX)
    made = AgentToken.objects.create(
        agent=agent, label=label, digest=kept, scopes=sorted(scopes), expires_at=timezone.now() + lifetime
    )
    log.record_with(
        Kind.TOKEN_ISSUED, by, subject=f"agent {name}", summary=f"{label}: {', '.join(sorted(scopes))}",
        args={"agent": name, "owner": owner.username, "scopes": sorted(scopes), "label": label, "days": lifetime.days,
              # An agent that was there stands as the last entry about it says.
              "rows": vouching.rows(*([agent] if is_new else []), made)},
    )  # fmt: skip
    return token


@transaction.atomic
def revoke_token(token_id: int, *, by: log.Actor) -> AgentToken:
    """Make a token useless from now on. Revoking it again changes nothing. Raises AgentToken.DoesNotExist."""
    token = AgentToken.objects.select_for_update(of=("self",)).select_related("agent").get(pk=token_id)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        log.record_with(
            Kind.TOKEN_REVOKED, by, subject=f"agent {token.agent.name}", summary=token.label,
            args={"agent": token.agent.name, "label": token.label, "rows": vouching.rows(token)},
        )  # fmt: skip
    return token
