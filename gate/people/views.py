"""Signing in and out, and how pages look to a person."""

from __future__ import annotations

import zoneinfo

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit import log
from audit.kinds import Kind
from gate.people import permissions, refusals
from gate.people.models import Person
from gate.people.requests import person_of

YEAR = 365 * 24 * 3600


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """A password opens a session; the entry is committed before the session is."""
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        person: Person = form.get_user()
        log.record(Kind.PERSON_SIGNED_IN, person.actor(), subject=person.username, summary="with a password")
        login(request, person)
        return redirect(_safe_next(request))
    if request.method == "POST":
        refusals.record(form.cleaned_data.get("username", "") if form.is_bound else "")
    context = {"form": form, "next": request.POST.get("next") or request.GET.get("next", "")}
    return render(request, "people/sign_in.html", context, status=422 if form.errors else 200)


def _safe_next(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url("gate:inbox")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this session."""
    logout(request)
    return redirect("people:sign_in")


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    """Who you are here, what your role may do, and how pages look to you."""
    role = person_of(request).role
    acts = [(words, permissions.allows(role, act)) for act, words in permissions.WORDS.items()]
    return render(request, "people/me.html", {"acts": acts, "zones": sorted(zoneinfo.available_timezones())})


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
