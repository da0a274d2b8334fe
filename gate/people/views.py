"""Signing in and out, and setting a password with a link."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people import actions, keys, refusals, second_step_views, visits
from gate.people.forms import SignInForm
from gate.people.models import Person
from gate.people.safe_next import safe_next


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """A password opens a session; the entry is committed before the session is."""
    form = SignInForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        person: Person = form.get_user()
        if keys.live(person).exists():
            return second_step_views.begin(request, person, request.POST.get("next", ""))
        log.record(Kind.PERSON_SIGNED_IN, person.actor(), subject=person.username, summary="with a password")
        visits.begin(request, person)
        return redirect(safe_next(request, request.POST.get("next", "")))
    if request.method == "POST":
        refusals.record(form.cleaned_data.get("username", "") if form.is_bound else "", waits=form.waits)
    wanted = request.POST.get("next") or request.GET.get("next", "")
    context = {"form": form, "next": wanted, "provider": settings.OIDC}
    return render(request, "people/sign_in.html", context, status=422 if form.errors else 200)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this session."""
    visits.end_this(request)
    logout(request)
    return redirect("people:sign_in")


@sensitive_post_parameters("new_password1", "new_password2")
@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def password_link(request: HttpRequest, token: str) -> HttpResponse:
    """Set a password with a link that an admin handed over; whoever did it signs in then."""
    try:
        person = actions.link(token).person
        form = SetPasswordForm(person, request.POST or None)
        if request.method != "POST" or not form.is_valid():
            context = {"form": form, "person": person}
            return render(request, "people/password_link.html", context, status=422 if form.errors else 200)
        actions.use_link(token, form.cleaned_data["new_password1"])
    except NotAllowed as refusal:
        return render(request, "people/password_link.html", {"refusal": refusal}, status=404)
    messages.success(request, "Your password is set. Sign in with it.")
    return redirect("people:sign_in")
