"""Drafting a metric, and one version's page: its golden values are run here, and a second person puts it in force."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_views, twohands
from audit.definition_forms import RetireForm
from audit.models import Definition
from audit.refusing import NotAllowed
from audit.views import HtmxRequest
from evidence import metric_asks, metric_drafts
from evidence.metric_form_rows import with_more
from evidence.metric_forms import MetricForm, initial_of
from evidence.metrics import example, registry
from evidence.models import MetricAsk

may_view = permission_required("audit.view", raise_exception=True)
CHECK = "check"  # what the form asks for besides drafting: look at it, and draft nothing


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HtmxRequest, name: str = "") -> HttpResponse:
    """Draft a metric, or a new version of one; as JSON too, for whoever keeps metrics in files."""
    if definition_views.is_as_json(request):
        return definition_views.new(request, "metrics", name)
    definition_views.check_may(request, registry.METRIC)
    show = partial(_render_form, request, name)
    if request.method != "POST":
        return show(MetricForm(initial=_initial(name)))
    act = request.POST.get("act", "")
    form = MetricForm(with_more(request.POST, act))
    if act:
        return _render_findings(request, form) if request.htmx and act == CHECK else show(form)
    findings = form.findings()
    if findings and form.is_valid():
        form.refuse(findings)
        return show(form, status=422, notice=findings[0].flaw.advice)
    return definition_views.submitted(request, registry.METRIC, form, show, "metrics:draft", with_number=True)


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a metric that is new. Raises Http404 for an unknown name."""
    if not name:
        return initial_of({**example.EXAMPLE, "source": ""})
    return {"name": name, **initial_of(definition_views.base_of(registry.METRIC, name))}


def _render_form(
    request: HttpRequest, name: str, form: MetricForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    context = {"name": name, "form": form, "notice": notice, "findings": form.findings(), "why_not": form.why_not()}
    return render(request, "evidence/metric_form.html", context, status=status)


def _render_findings(request: HttpRequest, form: MetricForm) -> HttpResponse:
    context = {"findings": form.findings(), "why_not": form.why_not()}
    return render(request, "evidence/_metric_findings.html", context)


@require_safe
@may_view
def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """One version."""
    return _render(request, name, number)


def _render(
    request: HttpRequest, name: str, number: int, *, notice: str = "", form: RetireForm | None = None, status: int = 200
) -> HttpResponse:
    found = metric_drafts.page(name, number, request.user)
    if found is None:
        raise Http404(f"There is no version {number} of {name}.")
    context = {"page": found, "row": found.row, "notice": notice, "form": form}
    return render(request, "evidence/metric_version.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def golden(request: HtmxRequest, name: str, number: int) -> HttpResponse:
    """Have the golden values run; or how far that is, the fragment that asks for itself until there is an answer.

    To a browser without script it leads to the version's page.
    """
    found = _version(name, number)
    if request.method == "POST":
        definition_views.check_may(request, registry.METRIC)
        try:
            metric_asks.ask(found, MetricAsk.Kind.GOLDEN, {}, by=request.user)
        except NotAllowed as refusal:
            return _render(request, name, number, notice=str(refusal), status=409)
    if not request.htmx:
        return redirect("metrics:draft", name, number)
    context = {"run": metric_drafts.GoldenRun(found, request.user)}
    return render(request, "evidence/_metric_golden.html", context)


@require_POST
@may_view
def activation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    done, show = redirect("metrics:one", name), partial(_render, request, name, number)
    return definition_views.put_in_force(request, registry.METRIC, name, number, show, done)


@require_POST
@may_view
def retirement(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Take the version in force out of force."""
    definition_views.check_may(request, registry.METRIC)
    form = RetireForm(request.POST)
    if not form.is_valid():
        return _render(request, name, number, form=form, status=422)
    try:
        twohands.retire(_version(name, number).pk, by=request.user, reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return _render(request, name, number, notice=str(refusal), form=form, status=409)
    return redirect("metrics:one", name)


def _version(name: str, number: int) -> Definition:
    found: Definition = get_object_or_404(Definition, kind=registry.METRIC, name=name, version=number)
    return found
