"""One's own passkeys, and what admins do about those of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from audit import answering
from gate.errors import NotAllowed
from gate.people import keys, letters
from gate.people.forms import AssertionForm, ChangeForm, NewKeyForm
from gate.people.key_page import KeysPage
from gate.people.models import Key
from gate.people.people_views import may_change, render_person
from gate.people.requests import person_of


@require_GET
def keys_page(request: HttpRequest) -> HttpResponse:
    """Every key that one has or had, and how to add one."""
    return _page(request)


def _page(request: HttpRequest, refusal: str = "", status: int = 200, **more: Any) -> HttpResponse:
    person = person_of(request)
    context = {"page": KeysPage(person), "refusal": refusal, "origin": settings.ORIGIN, **more}
    return render(request, "people/keys.html", context, status=status)


@sensitive_post_parameters("own_password")
@require_POST
def options(request: HttpRequest) -> HttpResponse:
    """What the browser makes a new key with, for the password."""
    person = person_of(request)
    form = NewKeyForm(person, request.POST)
    if not form.is_valid():
        sentences = [str(one) for errors in form.errors.values() for one in errors]
        return JsonResponse({"sentence": " ".join(sentences)}, status=422)
    try:
        made = keys.begin(person, form.cleaned_data["name"], request.session.session_key)
    except NotAllowed as refusal:
        return JsonResponse({"sentence": str(refusal)}, status=409)
    return JsonResponse({"publicKey": made})


@require_POST
def enrollment(request: HttpRequest) -> HttpResponse:
    """A new key, which waits for its confirmation."""
    form = AssertionForm(request.POST)
    if not form.is_valid():
        return _page(request, str(form.errors["assertion"][0]), status=422)
    try:
        key = keys.enroll(person_of(request), form.cleaned_data["assertion"], request.session.session_key)
    except NotAllowed as refusal:
        return _page(request, str(refusal), status=409)
    messages.success(request, f"“{key.name}” waits: confirm it with a key you have, or ask an admin.")
    return redirect("people:keys")


@require_POST
def confirmation_options(request: HttpRequest, pk: int) -> HttpResponse:
    """What a key that one has is to sign for a new one."""
    key = get_object_or_404(Key.objects.select_related("person"), pk=pk, person=person_of(request))
    try:
        return JsonResponse({"publicKey": keys.options_to_confirm(key, request.session.session_key)})
    except NotAllowed as refusal:
        return JsonResponse({"sentence": str(refusal)}, status=409)


@require_POST
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a new key count by the signature of one that does."""
    key = get_object_or_404(Key.objects.select_related("person"), pk=pk, person=person_of(request))
    form = AssertionForm(request.POST)
    if not form.is_valid():
        return _page(request, str(form.errors["assertion"][0]), status=422)
    try:
        keys.confirm_with_key(key, form.cleaned_data["assertion"], request.session.session_key)
    except NotAllowed as refusal:
        return _page(request, str(refusal), status=409)
    letters.tell_of_key(key.person, by=key.person)
    messages.success(request, f"“{key.name}” counts from now on.")
    return redirect("people:keys")


@require_POST
def revocation(request: HttpRequest, pk: int) -> HttpResponse:
    """End one's own key."""
    get_object_or_404(Key, pk=pk, person=person_of(request))
    try:
        key = keys.revoke(pk, by=person_of(request))
    except NotAllowed as refusal:
        return _page(request, str(refusal), status=409)
    messages.success(request, f"“{key.name}” is revoked.")
    return redirect("people:keys")


@require_POST
@may_change
def second_hand(request: HttpRequest, pk: int) -> HttpResponse:
    """Let somebody's new key count, as an admin."""
    person = get_object_or_404(Key.objects.select_related("person"), pk=pk).person

    def done(key: Key) -> HttpResponse:
        letters.tell_of_key(person, by=person_of(request))
        messages.success(request, f"“{key.name}” of {person} counts from now on.")
        return redirect("people:person", person.pk)

    page = partial(render_person, request, person.pk, ChangeForm())
    return answering.pressed(partial(keys.confirm, pk, by=person_of(request)), page=page, done=done)


@require_POST
@may_change
def revocation_by_admin(request: HttpRequest, pk: int) -> HttpResponse:
    """End somebody's key that was lost, or refuse one that waits."""
    person = get_object_or_404(Key.objects.select_related("person"), pk=pk).person

    def done(key: Key) -> HttpResponse:
        messages.success(request, f"“{key.name}” of {person} is revoked.")
        return redirect("people:person", person.pk)

    page = partial(render_person, request, person.pk, ChangeForm())
    return answering.pressed(partial(keys.revoke, pk, by=person_of(request)), page=page, done=done)
