"""The second step of a sign-in: whoever has a passkey signs with it after the password."""

from __future__ import annotations

import time

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people import keys, refusals, visits
from gate.people.forms import AssertionForm
from gate.people.models import Person
from gate.people.safe_next import safe_next

PENDING = "counterseal_second_step"  # in the session: who typed the right password, until when, and where they go
SECONDS = 300


def begin(request: HttpRequest, person: Person, wanted: str) -> HttpResponse:
    """Ask for a key. Nobody is signed in yet."""
    request.session.flush()  # whoever was signed in here is not any more
    request.session[PENDING] = {
        "person": person.pk, "until": time.time() + SECONDS, "next": wanted,
        "password": person.get_session_auth_hash(),
    }  # fmt: skip
    request.session.save()
    return redirect("people:second_step")


def _pending(request: HttpRequest) -> Person | None:
    """Who typed the right password here, while it is still that."""
    kept = request.session.get(PENDING)
    if kept is None or kept["until"] < time.time():
        return None
    person = Person.objects.filter(pk=kept["person"], is_active=True).first()
    return person if person is not None and person.get_session_auth_hash() == kept["password"] else None


@never_cache
@login_not_required
@require_POST
def options(request: HttpRequest) -> HttpResponse:
    """What a key of theirs is to sign."""
    person = _pending(request)
    if person is None:
        return JsonResponse({"sentence": "Sign in with your password first."}, status=409)
    try:
        return JsonResponse({"publicKey": keys.options_to_sign_in(person, request.session.session_key)})
    except NotAllowed as refusal:
        return JsonResponse({"sentence": str(refusal)}, status=409)


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """A key's signature opens the session; the entry is committed before the session is."""
    person = _pending(request)
    if person is None:
        return redirect("people:sign_in")
    if request.method == "GET":
        return _page(request, person)
    form = AssertionForm(request.POST)
    if not form.is_valid():
        return _page(request, person, str(form.errors["assertion"][0]), status=422)
    try:
        key = keys.sign_in(person, form.cleaned_data["assertion"], request.session.session_key)
    except NotAllowed as refusal:
        refusals.record_second_step(person, str(refusal))
        return _page(request, person, str(refusal), status=422)
    wanted = request.session.pop(PENDING)["next"]
    summary = f"with a password and the passkey “{key.name}”"
    log.record(Kind.PERSON_SIGNED_IN, person.actor(), subject=person.username, summary=summary)
    visits.begin(request, person)
    return redirect(safe_next(request, wanted))


def _page(request: HttpRequest, person: Person, refusal: str = "", status: int = 200) -> HttpResponse:
    context = {"person": person, "refusal": refusal, "origin": settings.ORIGIN}
    return render(request, "people/second_step.html", context, status=status)
