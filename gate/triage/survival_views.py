"""Survival as pages: one run, its traces, two runs beside each other, tools over time, and a report to send on."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evidence.survival.formats.collected import TraceError
from gate.people.requests import person_of
from gate.triage import survival_diff, survival_report, survival_reports, survival_times, trace_uploads, traces
from gate.triage.models import Incident, Investigation
from gate.triage.survival_pages import Asked, SurvivalPage
from gate.triage.trace_forms import TraceForm
from gate.triage.trace_models import Trace

may_view = permission_required("audit.view", raise_exception=True)
may_upload = permission_required("gate.upload_trace", raise_exception=True)


@require_safe
@may_view
def survival(request: HttpRequest, pk: int, investigation: int) -> HttpResponse:
    """What became of what an agent read in one investigation."""
    page = SurvivalPage(_investigation(pk, investigation), Asked.of(request.GET.dict()))
    is_fragment = request.headers.get("HX-Target") == "measuring"
    return render(request, "gate/_survival_body.html" if is_fragment else "gate/survival.html", {"page": page})


@require_POST
@may_upload
def measuring(request: HttpRequest, pk: int, investigation: int) -> HttpResponse:
    """Have a worker measure what the log has, where that is much."""
    found = _investigation(pk, investigation)
    with transaction.atomic():
        survival_reports.ask_for_log(found.pk)
    return redirect("gate:survival", pk, investigation)


@require_http_methods(["GET", "HEAD", "POST"])
@may_upload
def upload(request: HttpRequest, pk: int, investigation: int) -> HttpResponse:
    """The traces of an investigation, and the form that takes one more."""
    found = _investigation(pk, investigation)
    if request.method != "POST":
        return _render_traces(request, found, TraceForm())
    form = TraceForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render_traces(request, found, form, status=422)
    try:
        read = traces.read(form.cleaned_data["file"], form.cleaned_data["form"])
        trace, _ = traces.keep(found.pk, read, origin=Trace.Origin.PERSON, by=person_of(request).actor())
    except TraceError as error:
        form.add_error("file", error.sentence)
        return _render_traces(request, found, form, status=422)
    except traces.TooMany:
        form.add_error("file", traces.TOO_MANY)
        return _render_traces(request, found, form, status=409)
    response = redirect("gate:survival", pk, investigation)
    response["Location"] += f"?trace={trace.pk}"
    return response


@require_safe
@may_view
def report(request: HttpRequest, pk: int, investigation: int) -> HttpResponse:
    """The page as one file, to be sent on."""
    page = SurvivalPage(_investigation(pk, investigation), Asked.of(request.GET.dict()))
    if page.report is None:
        return redirect("gate:survival", pk, investigation)
    response = HttpResponse(survival_report.document(page))
    response["Content-Disposition"] = f'attachment; filename="survival-{page.incident.ref}-{investigation}.html"'
    return response


@require_safe
@may_view
def difference(request: HttpRequest, pk: int) -> HttpResponse:
    """Two investigations of one incident beside each other."""
    incident = get_object_or_404(Incident, pk=pk)
    page = survival_diff.DifferencePage(incident, request.GET.dict())
    return render(request, "gate/survival_diff.html", {"page": page})


@require_safe
@may_view
def over_time(request: HttpRequest) -> HttpResponse:
    """Tools and sources by month."""
    return render(request, "gate/survival_times.html", {"page": survival_times.TimesPage()})


def _investigation(pk: int, investigation: int) -> Investigation:
    found = Investigation.objects.select_related("incident", "agent")
    return get_object_or_404(found, pk=investigation, incident_id=pk)


def _render_traces(request: HttpRequest, found: Investigation, form: TraceForm, *, status: int = 200) -> HttpResponse:
    context = {"page": SurvivalPage(found, Asked()), "form": form, "longest": trace_uploads.LONGEST // (1024 * 1024)}
    return render(request, "gate/survival_traces.html", context, status=status)
