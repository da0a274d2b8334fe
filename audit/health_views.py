"""The page about the log's health, and the calls that have no finish."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import health, health_plot, health_starts, verify_asks
from audit.models import Verification
from audit.refusing import NotAllowed


@require_safe
@permission_required("audit.view", raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """How the log does now."""
    found = health.health()
    plot = health_plot.plot(found.lag.last_hour, found.lag.now)
    return render(
        request, "audit/health.html", {"health": found, "facts": found.facts, "plot": plot, "verifier": found.verifier}
    )


@require_safe
@permission_required("audit.view", raise_exception=True)
def verifying(request: HttpRequest) -> HttpResponse:
    """Whether the whole log is being verified: a strip that asks for itself, until it can say what was found."""
    now = verify_asks.state()
    last = Verification.objects.filter(is_full=True).order_by("-id").first()
    return render(request, "audit/_verifying.html", {"verifier": now, "last": last})


@require_POST
@permission_required(verify_asks.PERMISSION, raise_exception=True)
def ask(request: HttpRequest) -> HttpResponse:
    """Have the whole log verified now, by the process that may."""
    try:
        is_new = verify_asks.ask(by=request.user)
    except NotAllowed as refusal:
        messages.error(request, str(refusal))
        return redirect("audit:health")
    if not is_new:
        messages.info(request, "A verification of the whole log is asked for or runs already.")
    return redirect("audit:health")


@require_safe
@permission_required("audit.view", raise_exception=True)
def starts(request: HttpRequest) -> HttpResponse:
    """Calls that began and did not end, page by page."""
    typed = request.GET.get("before", "")
    before = int(typed) if typed.isdecimal() and len(typed) <= 18 else None
    return render(request, "audit/starts.html", {"starts": health_starts.starts(before)})
