"""Agents' bearer tokens, for REST."""

from __future__ import annotations

from typing import cast

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from audit import agents
from audit.agents import Principal

SENTENCE = "The bearer token is unknown, expired or revoked."


def bearer_of(request: Request) -> str | None:
    """The bearer token that a request brings, or None."""
    scheme, _, token = get_authorization_header(request).partition(b" ")
    return token.decode("latin-1").strip() if scheme.lower() == b"bearer" else None


def principal_of(request: Request) -> Principal:
    """The agent behind a request; the permission class lets nobody else through to the views that ask."""
    return cast(Principal, request.user)


class AgentTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer csa_…`. Nothing else is looked at: no cookie, no query string."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """The agent behind the token, or None without a bearer token. Raises AuthenticationFailed."""
        token = bearer_of(request)
        if token is None:
            return None
        principal = agents.authenticate(token)
        if principal is None:
            raise AuthenticationFailed(SENTENCE)
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="counterseal"'
