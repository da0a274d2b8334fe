"""The page about the log's health, and the calls that have no finish."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import health, health_plot


@require_safe
@permission_required("audit.view", raise_exception=True)
def page(request: HttpRequest) -> HttpResponse:
    """How the log does now."""
    found = health.health()
    plot = health_plot.plot(found.lag.last_hour, found.lag.now)
    return render(request, "audit/health.html", {"health": found, "facts": found.facts, "plot": plot})


@require_safe
@permission_required("audit.view", raise_exception=True)
def starts(request: HttpRequest) -> HttpResponse:
    """Calls that began and did not end, page by page."""
    typed = request.GET.get("before", "")
    before = int(typed) if typed.isdecimal() and len(typed) <= 18 else None
    return render(request, "audit/starts.html", {"starts": health.starts(before)})
