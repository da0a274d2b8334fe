"""Incidents as pages: the list, one incident, and what people do to it. Each view calls one action and answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit import twohands
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import by_hand, incident_actions, incidents
from gate.triage.incident_forms import AssignForm, CommentForm, OpenForm, ReasonForm, StopForm
from gate.triage.models import Incident, Investigation


@require_GET
def incidents_page(request: HttpRequest) -> HttpResponse:
    """All incidents, newest first, open or closed."""
    return render(request, "gate/incidents.html", {"page": incidents.page(request.GET)})


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("gate.open_incident", raise_exception=True)
def new_page(request: HttpRequest) -> HttpResponse:
    """Open an incident by hand: first its class is chosen, then what that class asks for is typed."""
    definition = twohands.active("class", request.GET.get("class", "").replace("\0", ""))
    if definition is None:
        return render(request, "gate/incident_class.html", {"classes": _classes()})
    if request.method != "POST":
        return _render_new(request, OpenForm(definition, initial={"began_at": timezone.localtime()}))
    form = OpenForm(definition, request.POST)
    if not form.is_valid():
        return _render_new(request, form, status=422)
    try:
        incident = by_hand.open_incident(form.report(), by=person_of(request))
    except NotAllowed as refusal:
        return _render_new(request, form, status=409, refusal=refusal)
    return redirect("gate:incident", incident.pk)


def _classes() -> QuerySet[Definition]:
    return Definition.objects.filter(kind="class", status=Definition.Status.ACTIVE).order_by("name")


def _render_new(
    request: HttpRequest, form: OpenForm, *, status: int = 200, refusal: NotAllowed | None = None
) -> HttpResponse:
    means: Definition = form.definition
    context = {"form": form, "class": means, "zone": timezone.get_current_timezone_name(), "refusal": refusal}
    return render(request, "gate/incident_new.html", context, status=status)


@require_GET
def incident_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One incident: its drafts, writes and timeline."""
    return _render(request, pk)


@require_POST
def closing(request: HttpRequest, pk: int) -> HttpResponse:
    """Close an incident."""
    return _act(request, pk, "close", ReasonForm(request.POST), partial(incident_actions.close, pk), "closed")


@require_POST
def reopening(request: HttpRequest, pk: int) -> HttpResponse:
    """Open a closed incident again."""
    return _act(request, pk, "reopen", ReasonForm(request.POST), partial(incident_actions.reopen, pk), "open again")


@require_POST
def assignment(request: HttpRequest, pk: int) -> HttpResponse:
    """Give an incident to a person."""
    return _act(request, pk, "assign", AssignForm(request.POST), partial(incident_actions.assign, pk), "assigned")


@require_POST
def comments(request: HttpRequest, pk: int) -> HttpResponse:
    """Comment on an incident."""
    return _act(request, pk, "comment", CommentForm(request.POST), partial(incident_actions.comment, pk), "commented")


@require_POST
def stop(request: HttpRequest, pk: int, investigation: int) -> HttpResponse:
    """Stop a running investigation of the incident."""
    found = get_object_or_404(Investigation, pk=investigation, incident_id=pk)
    action = partial(incident_actions.stop, found.pk)
    return _act(request, pk, "stop", StopForm(request.POST), action, "investigation stopped")


def _act(
    request: HttpRequest, pk: int, name: str, form: forms.Form, action: Callable[..., object], said: str
) -> HttpResponse:
    """Run an action with what was typed; a form or an action that refuses keeps the typing under `name`."""
    incident = get_object_or_404(Incident, pk=pk)
    if not form.is_valid():
        return _render(request, pk, {name: form}, status=422)
    try:
        action(by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return _render(request, pk, {name: form}, status=409, refusal=refusal)
    messages.success(request, f"{incident.ref}: {said}.")
    return redirect("gate:incident", pk)


def _render(
    request: HttpRequest, pk: int, typed: dict[str, forms.Form] | None = None, *, status: int = 200,
    refusal: NotAllowed | None = None,
) -> HttpResponse:  # fmt: skip
    incident = get_object_or_404(Incident.objects.select_related("incident_class", "owner"), pk=pk)
    page = incidents.IncidentPage(incident, person_of(request))
    context = {"page": page, "typed": typed or {}, "refusal": refusal, "kept": _prose(typed or {}) if refusal else ""}
    return render(request, "gate/incident.html", context, status=status)


def _prose(typed: dict[str, forms.Form]) -> str:
    """What was written in the form that was refused: the page may not show that form any more."""
    fields = (form[name] for form in typed.values() for name in ("reason", "text") if name in form.fields)
    return next((str(field.value() or "") for field in fields), "")
