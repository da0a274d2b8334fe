"""The page of one group of a preview's rows. Opening it is remembered: approving asks for all of them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from gate.people.requests import person_of
from gate.writes import opened
from gate.writes.effect_panel import GroupTable
from gate.writes.models import WriteRequest


@never_cache
@require_GET
def group_page(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    """Every row of the group."""
    write = get_object_or_404(WriteRequest, pk=pk)
    group = opened.look(person_of(request), write, key)
    if group is None:
        raise Http404
    return render(request, "gate/write_group.html", {"write": write, "table": GroupTable(group)})
