"""Metrics as pages: the list, one metric, and the questions that people ask of it through the reads worker."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit import definition_pages
from audit.models import Definition
from audit.refusing import NotAllowed
from evidence import metric_asks, metric_list
from evidence.metric_asked import Asked
from evidence.metric_page import MetricPage
from evidence.metric_questions import FOLLOWING, ValueForm, initial_of
from evidence.metrics import registry, serving
from evidence.metrics.registry import METRIC
from evidence.models import MetricAsk

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every metric, by source."""
    return render(request, "evidence/metrics.html", {"page": metric_list.listed(request.GET.get("after", "")[:80])})


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One metric, at the place of the question that the address names."""
    number = _number(request.GET.get("ask"))
    ask = None if number is None else _asked(name, number)
    return _render(request, name, ask)


@require_safe
@may_view
def asked(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """One question: the fragment that asks for itself until it is answered; to a browser without script, its page."""
    ask = _asked(name, pk)
    if request.headers.get("HX-Request") != "true":
        return redirect(address(name, ask))
    context = {"asked": Asked(ask), "name": name, "page": _page(request, name, ask), "is_fragment": True}
    return render(request, "evidence/_metric_asked.html", context)


@require_POST
@may_view
def asking(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for the value, or, of the value that the page shows, for a trace or a bounded counterfactual."""
    kind = request.POST.get("kind", "")
    if kind in FOLLOWING:
        return _follow(request, name, kind)
    version = get_object_or_404(Definition, kind=METRIC, name=name, version=_number(request.POST.get("version")) or 0)
    form = ValueForm(registry.of(version), request.POST)
    if not form.is_valid():
        return _render(request, name, None, form=form, status=422)
    at = form.cleaned_data["decision_point"]
    return _ask(request, version, MetricAsk.Kind.EXPLAIN, form.arguments(), at=at, form=form)


def _follow(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    form = FOLLOWING[kind](request.POST)
    number = _number(request.POST.get("of"))
    of = _asked(name, number) if number is not None else None
    if of is None or not form.is_valid():
        return _render(request, name, of, notice="Say what it is about: something was left empty.", status=422)
    arguments = {"scope": of.arguments["scope"], **form.arguments()}
    flaw = serving.misfit(kind, registry.of(of.version), arguments)
    if flaw:
        return _render(request, name, of, notice=flaw, status=422)
    return _ask(request, of.version, kind, arguments, at=of.decision_point)


def _ask(
    request: HttpRequest, version: Definition, kind: str, arguments: Mapping[str, Any], *, at: datetime | None,
    form: ValueForm | None = None,
) -> HttpResponse:  # fmt: skip
    try:
        ask = metric_asks.ask(version, kind, arguments, by=request.user, decision_point=at)
    except NotAllowed as refusal:
        return _render(request, version.name, None, form=form, notice=str(refusal), status=409)
    return redirect(address(version.name, ask))


def address(name: str, ask: MetricAsk) -> str:
    """Where a question and its answer are shown."""
    return f"{reverse('metrics:one', args=[name])}?ask={ask.pk}"


def _asked(name: str, pk: int) -> MetricAsk:
    """A question about this metric. Raises Http404; golden values are on the page of their version."""
    asks = MetricAsk.objects.select_related("version").exclude(kind=MetricAsk.Kind.GOLDEN)
    return get_object_or_404(asks, pk=pk, version__kind=METRIC, version__name=name)


def _number(text: str | None) -> int | None:
    """A number of an address or a form; None for anything else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else None


def _page(request: HttpRequest, name: str, ask: MetricAsk | None) -> MetricPage:
    found = definition_pages.one(METRIC, name, request.user)
    if found is None:
        raise Http404(f"There is no metric {name}.")
    return MetricPage(*found, ask, _number(request.GET.get("before")))


def _render(
    request: HttpRequest, name: str, ask: MetricAsk | None, *, form: ValueForm | None = None, notice: str = "",
    status: int = 200,
) -> HttpResponse:  # fmt: skip
    page = _page(request, name, ask)
    context = {
        "page": page, "row": page.row, "name": name, "notice": notice,
        "form": form or ValueForm(page.version, initial=_initial(page)),
    }  # fmt: skip
    return render(request, "evidence/metric.html", context, status=status)


def _initial(page: MetricPage) -> dict[str, Any]:
    shown = page.value.ask if page.value is not None else None
    return initial_of(page.version, shown.arguments if shown else None, shown.decision_point if shown else None)
