"""The one search box."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from gate.triage import search


@require_safe
@permission_required("audit.view", raise_exception=True)
def search_page(request: HttpRequest) -> HttpResponse:
    """What was found, or the very thing when an id was typed."""
    found = search.search(request.GET.get("q", ""))
    if found.place:
        return redirect(found.place)
    return render(request, "gate/search.html", {"found": found, "newest": search.NEWEST})
