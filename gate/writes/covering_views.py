"""What is asked about before agents act, and what nobody asks about, on one page."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gate.writes import covering


@require_safe
@permission_required("audit.view", raise_exception=True)
def coverage_page(request: HttpRequest) -> HttpResponse:
    """Families of consequence over tools and targets, with their questions and the empty cells."""
    return render(request, "gate/coverage.html", {"coverage": covering.coverage()})
