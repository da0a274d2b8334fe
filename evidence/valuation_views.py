"""Valuation tables as pages: what each prices and who answers for it, and a form with a row for each price."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_pages, definition_views
from evidence import valuation_pages
from evidence.metric_form_rows import with_more
from evidence.metrics import registry, valuation
from evidence.valuation_forms import ROWS, ValuationForm, initial_of
from evidence.valuation_pages import ValuationPage

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every table."""
    return render(request, "evidence/valuations.html", {"lines": valuation_pages.lines()})


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One table."""
    return _render_one(request, name)


def _render_one(request: HttpRequest, name: str, *, notice: str = "", status: int = 200) -> HttpResponse:
    found = definition_pages.one(registry.VALUATION, name, request.user)
    if found is None:
        raise Http404(f"There is no valuation table {name}.")
    context = {"page": ValuationPage(*found), "row": found[0], "notice": notice}
    return render(request, "evidence/valuation.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HttpRequest, name: str = "") -> HttpResponse:
    """Draft a table, or a new version of one; as JSON too, for whoever keeps tables in files."""
    if definition_views.is_as_json(request):
        return definition_views.new(request, "valuations", name)
    definition_views.check_may(request, registry.VALUATION)
    show = partial(_render_form, request, name)
    if request.method != "POST":
        return show(ValuationForm(initial=_initial(name)))
    act = request.POST.get("act", "")
    form = ValuationForm(with_more(request.POST, act))
    if act:
        return show(form)
    return definition_views.submitted(request, registry.VALUATION, form, show, "metrics:valuation")


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a new table. Raises Http404 for an unknown name."""
    if not name:
        return initial_of(valuation.EXAMPLE)
    return {"name": name, **initial_of(definition_views.base_of(registry.VALUATION, name))}


def _render_form(
    request: HttpRequest, name: str, form: ValuationForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    context = {"name": name, "form": form, "notice": notice, "more": f"more {ROWS}"}
    return render(request, "evidence/valuation_form.html", context, status=status)


@require_POST
@may_view
def activation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    done, show = redirect("metrics:valuation", name), partial(_render_one, request, name)
    return definition_views.put_in_force(request, registry.VALUATION, name, number, show, done)
