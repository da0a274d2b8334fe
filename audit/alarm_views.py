"""What verifications have found, as pages, and the two people's way past it."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import answering, overriding
from audit.alarm_page import AlarmPage
from audit.models import Override, Verification
from audit.refusing import NotAllowed
from audit.upkeep_forms import OverrideForm

may_override = permission_required(overriding.PERMISSION, raise_exception=True)


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("audit.view", raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """What is wrong with the log now; or ask that approving goes on."""
    if request.method != "POST":
        return _render(request, OverrideForm())
    if not request.user.has_perm(overriding.PERMISSION):
        raise PermissionDenied("Your role overrides no alarm; an admin does.")
    ask = partial(overriding.ask, by=request.user)
    return answering.typed(OverrideForm(request.POST), ask, page=partial(_render, request), done=_to_the_alarm)


@require_POST
@may_override
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Let approving go on, as another person asked."""
    get_object_or_404(Override, pk=pk)
    confirm = partial(overriding.confirm, pk, by=request.user)

    def done(confirmed: Override) -> HttpResponse:
        messages.success(request, "Approving and running writes is on again.")
        return _to_the_alarm(confirmed)

    return answering.pressed(confirm, page=partial(_render, request, OverrideForm()), done=done)


@require_POST
@may_override
def withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a request back."""
    get_object_or_404(Override, pk=pk)
    withdraw = partial(overriding.withdraw, pk, by=request.user)
    return answering.pressed(withdraw, page=partial(_render, request, OverrideForm()), done=_to_the_alarm)


def _to_the_alarm(about: Override) -> HttpResponse:
    return redirect("audit:alarm")


@require_safe
@permission_required("audit.view", raise_exception=True)
def verification(request: HttpRequest, pk: int) -> HttpResponse:
    """What one verification has found."""
    found = get_object_or_404(Verification, pk=pk)
    return render(request, "audit/verification.html", {"verification": found})


def _render(
    request: HttpRequest, form: OverrideForm, *, refusal: NotAllowed | None = None, status: int = 200
) -> HttpResponse:
    context = {"page": AlarmPage(request.user), "form": form, "refusal": refusal}
    return render(request, "audit/alarm.html", context, status=status)
