"""The sign-in provider that the environment names, when there is one: OpenID Connect through django-allauth.

allauth speaks the protocol and no more. It gets no table, no page and no address of its own: who is connected with
whom stands in `gate.people.models.Identity`, and what becomes of an answer is decided in `gate.people.provider`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.core.exceptions import ImproperlyConfigured

from gate.config import environment
from gate.config.environment import HERE

URL, CLIENT_ID, CLIENT_SECRET = "COUNTERSEAL_OIDC_URL", "COUNTERSEAL_OIDC_CLIENT_ID", "COUNTERSEAL_OIDC_CLIENT_SECRET"
VARIABLES = (URL, CLIENT_ID, CLIENT_SECRET)
PROVIDER = "oidc"
APPS = ["allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware"]
NO_TABLES = {"account": None, "socialaccount": None}


@dataclass(frozen=True)
class SignInProvider:
    """Where somebody may sign in instead, and who we are there."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)

    @property
    def name(self) -> str:
        """What buttons call it."""
        return urlsplit(self.url).netloc

    def as_allauth(self) -> dict[str, Any]:
        """The same in allauth's words."""
        how = {
            "server_url": self.url,
            "scope": ["openid"],  # who somebody is there; names, addresses and roles are not taken from outside
            "fetch_userinfo": False,  # only the signed token says who it is, and for whom it was made
            "oauth_pkce_enabled": True,
        }
        return {
            "provider_id": PROVIDER, "name": self.name, "client_id": self.client_id, "secret": self.client_secret,
            "settings": how,
        }  # fmt: skip


def configured() -> SignInProvider | None:
    """The provider of the environment; None when there is none. Raises ImproperlyConfigured with what to set."""
    url, client_id, secret = (environment.text(name, "") for name in VARIABLES)
    if not url and not client_id and not secret:
        return None
    if not url or not client_id or not secret:
        raise ImproperlyConfigured(f"Set {URL}, {CLIENT_ID} and {CLIENT_SECRET}, or none of them.")
    _check(url)
    if find_spec("allauth") is None:
        raise ImproperlyConfigured(f"{URL} needs django-allauth; install what requirements-oidc.txt lists.")
    return SignInProvider(url.rstrip("/"), client_id, secret)


def _check(url: str) -> None:
    if not url.isprintable() or " " in url:
        raise _wrong("it holds spaces or line breaks")
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise _wrong("its host or port cannot be read") from error
    if not host or _more_than_a_place(parts):
        raise _wrong("it must be the issuer alone")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in HERE):
        raise _wrong("it must begin with https://")


def _more_than_a_place(parts: SplitResult) -> bool:
    return bool(parts.query or parts.fragment or "@" in parts.netloc or "/.well-known" in parts.path)


def _wrong(why: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{URL} cannot be used: {why}, like https://login.example.org/realms/ours.")
