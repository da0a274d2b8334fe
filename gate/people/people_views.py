"""Who works here, what each may do, and how that changes. Each view fetches, calls one action, and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gate.errors import NotAllowed
from gate.people import actions, changes, letters, mail, permissions, presenting
from gate.people.forms import ChangeForm, InvitationForm
from gate.people.models import Change, Person
from gate.people.requests import person_of

may_view = permission_required("people.view", raise_exception=True)
may_change = permission_required("people.change", raise_exception=True)


@require_safe
@may_view
def people(request: HttpRequest) -> HttpResponse:
    """Everyone who works here or did."""
    return render(request, "people/people.html", {"rows": presenting.rows(), "waiting": presenting.waiting()})


@require_safe
@may_view
def roles(request: HttpRequest) -> HttpResponse:
    """The permission matrix."""
    lines = [
        (words, [permissions.allows(role, act) for role in Person.Role.values])
        for act, words in permissions.WORDS.items()
    ]
    return render(request, "people/roles.html", {"roles": Person.Role.labels, "lines": lines})


@require_safe
@may_view
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """One person."""
    return _render_person(request, pk, ChangeForm())


def _render_person(
    request: HttpRequest, pk: int, form: ChangeForm, *, refusal: NotAllowed | None = None, status: int = 200
) -> HttpResponse:
    page = presenting.PersonPage(get_object_or_404(Person, pk=pk), person_of(request))
    context = {"page": page, "form": form, "roles": Person.Role.choices, "refusal": refusal}
    return render(request, "people/person.html", context, status=status)


@require_POST
@may_change
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Draft a change of somebody."""
    somebody, form = get_object_or_404(Person, pk=pk), ChangeForm(request.POST)
    if not form.is_valid():
        return _render_person(request, pk, form, status=422)
    try:
        changes.draft(somebody, by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return _render_person(request, pk, form, refusal=refusal, status=409)
    return redirect("people:person", pk)


@never_cache
@require_POST
@may_change
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm a change that another admin drafted."""
    change = get_object_or_404(Change.objects.select_related("person"), pk=pk)
    try:
        token = changes.confirm(pk, by=person_of(request))
    except NotAllowed as refusal:
        return _render_person(request, change.person_id, ChangeForm(), refusal=refusal, status=409)
    if token:
        return _render_link(request, change.person, token, letters.send_password_link)
    messages.success(request, f"{change.person}: {changes.in_words(change)}.")
    return redirect("people:person", change.person_id)


@require_POST
@may_change
def withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a drafted change back."""
    change = get_object_or_404(Change, pk=pk)
    try:
        changes.withdraw(pk, by=person_of(request))
    except NotAllowed as refusal:
        return _render_person(request, change.person_id, ChangeForm(), refusal=refusal, status=409)
    return redirect("people:person", change.person_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@may_change
def invitation(request: HttpRequest) -> HttpResponse:
    """Invite somebody: the answer is the link, shown once."""
    form = InvitationForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"form": form, "roles": Person.Role.choices, "has_mail": mail.is_configured()}
    if request.method != "POST" or not form.is_valid():
        return render(request, "people/invitation.html", context, status=422 if form.errors else 200)
    try:
        invited, token = actions.invite(by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return render(request, "people/invitation.html", {**context, "refusal": refusal}, status=409)
    return _render_link(request, invited, token, letters.invite)


def _render_link(
    request: HttpRequest, somebody: Person, token: str, send: Callable[..., letters.Outcome]
) -> HttpResponse:
    # Only now: the action has committed, and a slow mail server keeps nobody's rows locked.
    somebody.refresh_from_db(fields=["email"])  # they may have changed it since the page was asked for
    is_mailed = bool(somebody.email) and mail.is_configured()
    context = {
        "person": somebody,
        "address": request.build_absolute_uri(reverse("people:password_link", args=[token])),
        "letter": send(somebody, token, by=person_of(request)) if is_mailed else None,
        "has_mail": mail.is_configured(),
    }
    return render(request, "people/link.html", context)
