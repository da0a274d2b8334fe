"""What we ask of the sign-in provider, and what becomes of its answer. Imported only where a provider is set up.

allauth checks the answer's state (once, in this browser, for ten minutes), PKCE, and the token's issuer, audience and
expiry. Here the nonce and the issuer's name are checked besides, and there every way on through allauth is cut short:
none of its pages is shown, its lookup finds nobody, and nothing is signed up, connected or mailed by it.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from typing import Any, NoReturn

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from requests import RequestException

from gate.config.oidc import PROVIDER, SignInProvider
from gate.errors import NotAllowed

UNREACHED = "The sign-in provider does not answer as it should; use your password, and tell an admin."
UNFINISHED = "The sign-in was not finished at the provider; begin again, or use your password."
UNSOUND = "What the sign-in provider answered does not hold; begin again, or use your password."
NOT_OURS = "That sign-in was not begun in this browser, or it took too long; begin again."
# What a provider may do to us by answering something else than the standard says.
UNREADABLE = (RequestException, OAuth2Error, ImproperlyConfigured, AttributeError, KeyError, TypeError, ValueError)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claimed:
    """Who somebody is at the provider, and what the browser went there for."""

    issuer: str
    subject: str
    connects: int | None  # the person who asked to be connected; None for a sign-in
    next_url: str


class Answered(Exception):
    """Carries an answer that holds out of allauth's flow, before it goes on in its own way."""

    def __init__(self, claimed: Claimed) -> None:
        super().__init__("answered")
        self.claimed = claimed


def begin(request: HttpRequest, *, next_url: str, connects: int | None) -> HttpResponse:
    """Send a browser to the provider: to sign in, or to connect what comes back with a person. Raises NotAllowed."""
    nonce = secrets.token_urlsafe(24)
    asked, kept = {"nonce": nonce}, {"nonce": nonce, "connects": connects}
    if connects is not None:
        asked["prompt"] = "login"  # who is signed in there already may be somebody else
    there = Adapter(request).get_provider(request, PROVIDER)
    try:
        answer: HttpResponse = there.redirect(
            request, AuthProcess.LOGIN, next_url=next_url, auth_params=asked, data=kept
        )
    except UNREADABLE as error:
        raise _unreached(error) from error
    return answer


def finish(request: HttpRequest) -> Claimed:
    """Take the provider's answer. Raises NotAllowed."""
    try:
        OAuth2CallbackView.adapter_view(Protocol(request, PROVIDER))(request)
    except Answered as answered:
        return answered.claimed
    except UNREADABLE as error:
        raise _unreached(error) from error
    raise NotAllowed(UNFINISHED)  # whatever page it made instead is not shown


def _unreached(error: Exception) -> NotAllowed:
    logger.warning("The sign-in provider: %s: %s", type(error).__name__, error)
    return NotAllowed(UNREACHED)


def _ours() -> SignInProvider:
    assert settings.OIDC is not None  # or this module would not be imported
    return settings.OIDC


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """allauth's provider, speaking our protocol."""

    def get_oauth2_adapter(self, request: HttpRequest) -> Protocol:
        """The one with our address and our checks."""
        return Protocol(request, PROVIDER)


class Protocol(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """OpenID Connect, with an address from the settings and without what is no token about somebody."""

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Never from the request: its Host header is the caller's."""
        return f"{settings.ORIGIN}{reverse('people:provider_return')}"

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any) -> Answer:
        """Who the token is about. Raises OAuth2Error for a token that is missing, or made by or for somebody else."""
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("There is no id_token.")
        found = super().complete_login(request, app, token, **kwargs)
        claims = found.account.extra_data["id_token"]
        if str(claims["iss"]).rstrip("/") != _ours().url:
            raise OAuth2Error("The provider calls itself something else than we do.")
        return Answer(provider=found.provider, account=found.account)


class Answer(SocialLogin):  # type: ignore[misc]
    """What the provider says. Whom it means here is not allauth's to look up."""

    def lookup(self) -> None:
        """Nobody, ever."""


class Adapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Where allauth asks what to do next."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """The one provider of the environment; allauth has no tables to look into."""
        return [SocialApp(provider=OpenIDConnectProvider.id, **_ours().as_allauth())]

    def get_provider(self, request: HttpRequest, provider: Any, client_id: Any = None) -> Provider:
        """Ours, whatever is asked for."""
        return Provider(request, app=self.get_app(request, provider))

    def on_authentication_error(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        """Nobody came back who was sent, or without what they were sent for. Raises NotAllowed."""
        context, error = kwargs.get("extra_context") or {}, kwargs.get("exception")
        if error is not None:
            logger.warning("The sign-in provider's answer: %s: %s", type(error).__name__, error)
            raise NotAllowed(UNSOUND)
        raise NotAllowed(UNFINISHED if context.get("state") else NOT_OURS)

    def pre_social_login(self, request: HttpRequest, sociallogin: Answer) -> NoReturn:
        """The token holds: it goes on with us and in no other way. Raises Answered, or NotAllowed."""
        begun, claims = sociallogin.state["data"], sociallogin.account.extra_data["id_token"]
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), begun["nonce"].encode()):
            raise NotAllowed(NOT_OURS)
        next_url = sociallogin.state.get("next", "")
        raise Answered(Claimed(_ours().url, sociallogin.account.uid, begun["connects"], next_url))
