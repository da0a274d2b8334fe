"""What people change about themselves: how pages look, their password, where they are signed in."""

from __future__ import annotations

import time
import zoneinfo
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from gate.people import actions, permissions, visits
from gate.people.forms import AddressForm, OwnPasswordForm, PasswordForm
from gate.people.models import Person
from gate.people.requests import person_of

YEAR = 365 * 24 * 3600
CONNECTS_UNTIL = "counterseal_connects_until"  # in the session, once the password was typed again


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    """Who you are here, what your role may do, and how pages look to you."""
    return render_me(request)


def render_me(request: HttpRequest, status: int = 200, **forms: Any) -> HttpResponse:
    """One's own page, with the forms that were filled in wrongly."""
    person = person_of(request)
    context = {
        "form": OwnPasswordForm(person),
        "address": AddressForm(person),
        "acts": [(words, permissions.allows(person.role, act)) for act, words in permissions.WORDS.items()],
        "zones": sorted(zoneinfo.available_timezones()),
        "visits": visits.of(person),
        "here": request.session.session_key,
        "connect": PasswordForm(person),
        "identities": person.identities.all(),
        "provider": settings.OIDC,
        "may_connect": request.session.get(CONNECTS_UNTIL, 0) > time.time(),
        **forms,
    }
    return render(request, "people/me.html", context, status=status)


@sensitive_post_parameters("old_password", "new_password1", "new_password2")
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password, and sign out everywhere else."""
    person = person_of(request)
    form = OwnPasswordForm(person, request.POST)
    if not form.is_valid():
        return render_me(request, form=form, status=422)
    actions.change_password(person, form.cleaned_data["new_password1"])
    was = request.session.session_key or ""
    update_session_auth_hash(request, person)
    visits.keep_after_new_password(request, was)
    visits.end_others(request, person)
    messages.success(request, "Your password is changed; other browsers are signed out.")
    return redirect("people:me")


@sensitive_post_parameters("own_password")
@require_POST
def address(request: HttpRequest) -> HttpResponse:
    """Change one's own e-mail address."""
    person = person_of(request)
    form = AddressForm(person, request.POST)
    if not form.is_valid():
        return render_me(request, address=form, status=422)
    actions.change_address(person, form.cleaned_data["email"])
    messages.success(request, "Your e-mail address is changed.")
    return redirect("people:me")


@require_POST
def end_visits(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Sign out one other browser, or all others."""
    ended = visits.end_others(request, person_of(request), pk)
    messages.success(request, f"Signed out elsewhere: {ended}.")
    return redirect("people:me")


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Keep the time zone with the person and the colors with the browser."""
    zone, theme = request.POST.get("time_zone", ""), request.POST.get("theme", "")
    if zone not in zoneinfo.available_timezones() or theme not in {"", "light", "dark"}:
        return HttpResponse("Choose a time zone and colors from the lists.", status=422, content_type="text/plain")
    Person.objects.filter(pk=person_of(request).pk).update(time_zone=zone)
    response = redirect("people:me")
    response.set_cookie("counterseal_theme", theme, max_age=YEAR, httponly=True, samesite="Lax")
    return response
