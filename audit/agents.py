"""Who an agent is: its token, its owner, and what it may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log, tokens
from audit.kinds import Kind
from audit.models import Agent, AgentToken

TOKEN_PREFIX = "csa"
DEFAULT_LIFETIME = timedelta(days=90)
# What a token may carry: calling evidence tools, handing in investigations, proposing writes.
SCOPES = ("tools", "investigate", "propose")


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
    found = (
        AgentToken.objects.filter(
            digest=tokens.digest(token), revoked_at=None, expires_at__gt=timezone.now(), agent__stopped_at=None
        )
        .values_list("agent_id", "agent__name", "agent__owner_id", "agent__owner_name", "scopes")
        .first()
    )
    if found is None:
        return None
    agent_id, name, owner_id, owner, scopes = found
    return Principal(agent_id, name, owner_id, owner, frozenset(scopes))


@transaction.atomic
def issue_token(name: str, *, owner: Any, scopes: list[str], label: str, by: log.Actor) -> str:
    """A new token for the agent `name` (made when it is new). The answer is the only time it can be read.

    Raises ValueError for an unknown scope or when another person owns the agent.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise ValueError(f"Unknown scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}.")
    if not scopes:
        raise ValueError(f"A token needs at least one scope of {', '.join(SCOPES)}.")
    agent, _ = Agent.objects.get_or_create(name=name, defaults={"owner": owner, "owner_name": owner.username})
    if agent.owner_id != owner.pk:
        raise ValueError(f"{name} is owned by someone else; only its owner's name goes with a new token.")
    token, kept = tokens.draw(TOKEN_PREFIX)
    AgentToken.objects.create(
        agent=agent, label=label, digest=kept, scopes=sorted(scopes), expires_at=timezone.now() + DEFAULT_LIFETIME
    )
    log.record_with(
        Kind.TOKEN_ISSUED, by, subject=f"agent {name}", summary=f"{label}: {', '.join(sorted(scopes))}",
        args={"agent": name, "owner": owner.username, "scopes": sorted(scopes), "label": label},
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
            args={"agent": token.agent.name, "label": token.label},
        )  # fmt: skip
    return token
