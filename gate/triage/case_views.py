"""Making a case of a closed incident."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from audit.refusing import why_not
from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import promoting
from gate.triage.models import Incident
from gate.triage.rule_forms import PromoteForm


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("gate.promote_case", raise_exception=True)
def case(request: HttpRequest, pk: int) -> HttpResponse:
    """Say how a closed incident ended, and keep it as a case."""
    incident = get_object_or_404(Incident, pk=pk)
    if request.method != "POST":
        return _render(request, incident, PromoteForm())
    form = PromoteForm(request.POST)
    if not form.is_valid():
        return _render(request, incident, form, status=422)
    try:
        promoted = promoting.promote(pk, promoting.Told(**form.cleaned_data), by=person_of(request))
    except NotAllowed as refusal:
        return _render(request, incident, form, status=409, notice=str(refusal))
    messages.success(request, f"{incident.ref} is the case {promoted.name}.")
    return redirect("gate:incident", pk)


def _render(
    request: HttpRequest, incident: Incident, form: PromoteForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    not_now = why_not(lambda: promoting.check_can_promote(person_of(request), incident))
    draft = promoting.candidate(incident)
    context = {"incident": incident, "form": form, "notice": notice, "not_now": not_now, "draft": draft}
    return render(request, "gate/case_new.html", context, status=status)
