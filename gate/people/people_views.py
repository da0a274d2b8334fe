"""Who works here, what each may do, and how that changes. Each view fetches, calls one action, and answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import answering
from gate.errors import NotAllowed
from gate.people import actions, changes, keys, letters, mail, permissions, presenting
from gate.people.forms import ChangeForm, InvitationForm
from gate.people.models import Change, Person
from gate.people.requests import person_of

may_view = permission_required("people.view", raise_exception=True)
may_change = permission_required("people.change", raise_exception=True)


@require_safe
@may_view
def people(request: HttpRequest) -> HttpResponse:
    """Everyone who works here or did."""
    context = {"rows": presenting.rows(), "waiting": presenting.waiting(), "keys": keys.waiting()}
    return render(request, "people/people.html", context)


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
    return render_person(request, pk, ChangeForm())


def render_person(
    request: HttpRequest, pk: int, form: ChangeForm, *, refusal: NotAllowed | None = None, status: int = 200
) -> HttpResponse:
    """The page of one person, with what kept an act from being done."""
    page = presenting.PersonPage(get_object_or_404(Person, pk=pk), person_of(request))
    context = {"page": page, "form": form, "roles": Person.Role.choices, "refusal": refusal}
    return render(request, "people/person.html", context, status=status)


@require_POST
@may_change
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Draft a change of somebody."""
    somebody, form = get_object_or_404(Person, pk=pk), ChangeForm(request.POST)
    return answering.typed(
        form, partial(changes.draft, somebody, by=person_of(request)), page=partial(render_person, request, pk),
        done=lambda drafted: redirect("people:person", pk),
    )  # fmt: skip


@never_cache
@require_POST
@may_change
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm a change that another admin drafted."""
    change = get_object_or_404(Change.objects.select_related("person"), pk=pk)

    def done(token: str) -> HttpResponse:
        if token:
            return _render_link(request, change.person, token, letters.send_password_link)
        messages.success(request, f"{change.person}: {changes.in_words(change)}.")
        return redirect("people:person", change.person_id)

    confirm = partial(changes.confirm, pk, by=person_of(request))
    return answering.pressed(confirm, page=_page_of(request, change), done=done)


@require_POST
@may_change
def withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a drafted change back."""
    change = get_object_or_404(Change, pk=pk)
    return answering.pressed(
        partial(changes.withdraw, pk, by=person_of(request)), page=_page_of(request, change),
        done=lambda withdrawn: redirect("people:person", withdrawn.person_id),
    )  # fmt: skip


def _page_of(request: HttpRequest, change: Change) -> answering.Page:
    return partial(render_person, request, change.person_id, ChangeForm())


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
