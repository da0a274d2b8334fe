"""How tools' answers change, as a page; and saying what a change is about."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import drift_page, rule_actions
from gate.triage.rule_forms import SettleForm
from gate.triage.rule_models import Drift

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def drift(request: HttpRequest) -> HttpResponse:
    """What is new in the answers, and how often each field that is read was null or not there."""
    return _render(request)


@require_POST
@permission_required("gate.change_definition", raise_exception=True)
def settling(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what a change is about."""
    get_object_or_404(Drift, pk=pk)
    form = SettleForm(request.POST)
    if not form.is_valid():
        return _render(request, status=422, form=form, about=pk)
    try:
        settled = rule_actions.settle_drift(pk, by=person_of(request), reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return _render(request, status=409, form=form, about=pk, notice=str(refusal))
    messages.success(request, f"{settled.tool} {settled.path}: settled.")
    return redirect("gate:drift")


def _render(
    request: HttpRequest, *, status: int = 200, form: SettleForm | None = None, about: int = 0, notice: str = ""
) -> HttpResponse:
    context = {"page": drift_page.DriftPage(), "form": form, "about": about, "notice": notice}
    return render(request, "gate/drift.html", context, status=status)
