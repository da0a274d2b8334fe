"""Signing in through the provider, and connecting oneself with an identity there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from gate.config.oidc import SignInProvider
from gate.errors import NotAllowed
from gate.people import guessing, identities, refusals, visits
from gate.people.forms import PasswordForm, SignInForm
from gate.people.own_views import CONNECTS_UNTIL, render_me
from gate.people.requests import person_of
from gate.people.safe_next import safe_next

if TYPE_CHECKING:
    from gate.people.provider import Claimed

SECONDS_TO_CONNECT = 300


def _ours() -> SignInProvider:
    if settings.OIDC is None:
        raise Http404
    return settings.OIDC


@never_cache
@login_not_required
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Go to the provider to sign in. A link and no form: where it leads on to is the provider's, not our policy's."""
    _ours()  # without one there is no allauth to import
    from gate.people import provider

    try:
        guessing.take_at_provider(request.META.get("REMOTE_ADDR", ""))
        return provider.begin(request, next_url=safe_next(request, request.GET.get("next", "")), connects=None)
    except NotAllowed as refusal:
        return _refused(request, str(refusal))


@never_cache
@login_not_required
@require_GET
def finish(request: HttpRequest) -> HttpResponse:
    """Come back from the provider."""
    _ours()  # without one there is no allauth to import
    from gate.people import provider

    try:
        claimed = provider.finish(request)
    except NotAllowed as refusal:
        return _refused(request, str(refusal))
    if claimed.connects is None:
        return _enter(request, claimed)
    return _connect(request, claimed)


def _enter(request: HttpRequest, claimed: Claimed) -> HttpResponse:
    try:
        person = identities.sign_in(claimed.issuer, claimed.subject)
    except NotAllowed as refusal:
        return _render_refused(request, str(refusal))
    visits.begin(request, person)
    return redirect(safe_next(request, claimed.next_url))


def _connect(request: HttpRequest, claimed: Claimed) -> HttpResponse:
    if request.user.pk != claimed.connects:
        return _refused(request, "Somebody else is signed in here now, or nobody; begin again.")
    try:
        identities.connect(person_of(request), claimed.issuer, claimed.subject)
    except NotAllowed as refusal:
        return _render_refused(request, str(refusal))
    messages.success(request, f"From now on you can sign in with {_ours().name}.")
    return redirect("people:me")


def _refused(request: HttpRequest, sentence: str) -> HttpResponse:
    name = request.user.get_username() if request.user.is_authenticated else refusals.UNKNOWN
    refusals.record_at_provider(name, _ours().url, sentence)
    return _render_refused(request, sentence)


def _render_refused(request: HttpRequest, sentence: str) -> HttpResponse:
    if request.user.is_authenticated:
        messages.error(request, sentence)
        return redirect("people:me")
    context = {"form": SignInForm(request), "next": "", "provider": settings.OIDC, "refusal": sentence}
    return render(request, "people/sign_in.html", context, status=403)


@sensitive_post_parameters("own_password")
@require_POST
def permit(request: HttpRequest) -> HttpResponse:
    """The password again, before an identity is connected; the link to the provider works for some minutes then."""
    _ours()
    form = PasswordForm(person_of(request), request.POST)
    if not form.is_valid():
        return render_me(request, connect=form, status=422)
    request.session[CONNECTS_UNTIL] = time.time() + SECONDS_TO_CONNECT
    return redirect("people:me")


@never_cache
@require_GET
def begin_connecting(request: HttpRequest) -> HttpResponse:
    """Go to the provider to connect who one is there; once per password."""
    _ours()  # without one there is no allauth to import
    from gate.people import provider

    if request.session.pop(CONNECTS_UNTIL, 0) < time.time():
        messages.error(request, "Type your password first.")
        return redirect("people:me")
    try:
        return provider.begin(request, next_url="", connects=person_of(request).pk)
    except NotAllowed as refusal:
        return _refused(request, str(refusal))


@require_POST
def disconnect(request: HttpRequest) -> HttpResponse:
    """Sign in with a password alone again. Also where no provider is set up any more."""
    ended = identities.disconnect(person_of(request))
    messages.success(request, f"Disconnected: {ended}.")
    return redirect("people:me")
