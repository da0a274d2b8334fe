"""The tokens of monitors: issue one, shown once, and revoke it."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from gate.people.requests import person_of
from gate.triage import intake
from gate.triage.models import IntakeToken

CHANGE = "audit.change_agents"
MOST = 500


class IntakeTokenForm(forms.Form):
    """The name of a new token: incidents that it opens carry it."""

    name = forms.SlugField(
        max_length=80, error_messages={"required": "Name the monitor.", "invalid": "Letters, digits, - and _ alone."}
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("audit.view", raise_exception=True)
def intake_tokens(request: HttpRequest) -> HttpResponse:
    """Every token of a monitor, and one more. The page that issues it is the only place where it can be read."""
    if request.method != "POST":
        return _render(request, IntakeTokenForm())
    if not request.user.has_perm(CHANGE):
        raise PermissionDenied("Your role issues no tokens; an admin does.")
    form = IntakeTokenForm(request.POST)
    if not form.is_valid():
        return _render(request, form, status=422)
    try:
        token = intake.issue_token(form.cleaned_data["name"], person_of(request).actor())
    except ValueError as refusal:
        form.add_error("name", str(refusal))
        return _render(request, form, status=422)
    return _render(request, IntakeTokenForm(), token=token)


def _render(request: HttpRequest, form: IntakeTokenForm, *, token: str = "", status: int = 200) -> HttpResponse:
    found = IntakeToken.objects.order_by("-pk")[:MOST]
    return render(request, "gate/intake_tokens.html", {"tokens": found, "form": form, "token": token}, status=status)


@require_POST
@permission_required(CHANGE, raise_exception=True)
def revocation(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token."""
    token = get_object_or_404(IntakeToken, pk=pk)
    intake.revoke_token(token.pk, by=person_of(request).actor())
    return redirect("gate:intake_tokens")
