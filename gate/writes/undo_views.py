"""Proposing the way back from a write."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.writes import undo as undoing
from gate.writes.forms import DecisionForm
from gate.writes.models import WriteRequest
from gate.writes.views import render_write


@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Propose to put the rows of an executed write back."""
    write = get_object_or_404(WriteRequest, pk=pk)
    try:
        proposed = undoing.propose(write, person_of(request))
    except NotAllowed as refusal:
        return render_write(request, pk, DecisionForm(), status=409, refusal=refusal)
    return redirect("writes:write", proposed.pk)
