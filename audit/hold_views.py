"""Holds as a page: which lie on what, putting one, lifting one."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from audit import answering, holds
from audit.models import Hold
from audit.refusing import NotAllowed
from audit.upkeep_forms import HoldForm, WhyForm


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("audit.view", raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """Every hold; or put one."""
    if request.method != "POST":
        return _render(request, HoldForm(initial={"what": request.GET.get("what", "")[:30]}))
    if not request.user.has_perm(holds.PERMISSION):
        raise PermissionDenied("Your role puts and lifts no holds; an admin or an auditor does.")

    def hold(what: dict[str, Any], reason: str) -> Hold:
        return holds.hold(by=request.user, reason=reason, **what)

    return answering.typed(HoldForm(request.POST), hold, page=partial(_render, request), done=_to_the_holds)


@require_POST
@permission_required(holds.PERMISSION, raise_exception=True)
def lifting(request: HttpRequest, pk: int) -> HttpResponse:
    """Lift a hold."""
    form, found = WhyForm(request.POST), get_object_or_404(Hold, pk=pk)
    if not form.is_valid():
        return _render(request, HoldForm(), lifting=found, why=form, status=422)
    lift = partial(holds.lift, pk, by=request.user, reason=form.cleaned_data["reason"])
    return answering.pressed(lift, page=partial(_render, request, HoldForm()), done=_to_the_holds)


def _to_the_holds(changed: Hold) -> HttpResponse:
    return redirect("audit:holds")


def _render(
    request: HttpRequest,
    form: HoldForm,
    *,
    lifting: Hold | None = None,
    why: WhyForm | None = None,
    refusal: NotAllowed | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "standing": holds.standing(),
        "lifted": holds.lifted(),
        "form": form,
        "lifting": lifting,
        "why": why,
        "refusal": refusal,
    }
    return render(request, "audit/holds.html", context, status=status)
