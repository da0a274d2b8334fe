"""Sources as pages: what agents may read, and the proof that they cannot write."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_pages, definition_views
from audit.refusing import NotAllowed
from evidence import proof_asks, source_page
from evidence.kinds import KINDS
from evidence.source_forms import SourceForm, initial_of

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def sources(request: HttpRequest) -> HttpResponse:
    """Every source with its certificate."""
    return render(request, "evidence/sources.html", {"sources": source_page.listed()})


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HttpRequest, name: str = "") -> HttpResponse:
    """Draft a source or a new version of one, in the fields of its kind; as JSON too, for whoever keeps it in files."""
    base = definition_views.base_of("source", name) if name else {}
    kind = KINDS.get(str(base.get("kind") or request.POST.get("kind") or request.GET.get("kind")))
    if definition_views.is_as_json(request):
        return definition_views.new(request, "sources", name, example=kind.source_example if kind else None)
    definition_views.check_may(request, "source")
    if kind is None:
        return render(request, "evidence/source_kinds.html", {"kinds": KINDS.values()})
    show = partial(_render_form, request, name)
    if request.method != "POST":
        return show(SourceForm(kind, initial={"name": name, **initial_of(kind, base)}))
    return definition_views.submitted(request, "source", SourceForm(kind, request.POST), show, "sources:one")


def _render_form(
    request: HttpRequest, name: str, form: SourceForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    context = {"name": name, "form": form, "notice": notice}
    return render(request, "evidence/source_form.html", context, status=status)


@require_safe
@may_view
def source(request: HttpRequest, name: str) -> HttpResponse:
    """One source: what was proven, what stops what, who reads it, and its versions."""
    return _render(request, name)


@require_POST
@may_view
def prove(request: HttpRequest, name: str) -> HttpResponse:
    """Have its credential proven again, now."""
    try:
        proof_asks.ask(name, by=request.user)
    except NotAllowed as refusal:
        return _render(request, name, notice=str(refusal), status=409)
    return redirect("sources:one", name)


def _render(request: HttpRequest, name: str, *, notice: str = "", status: int = 200) -> HttpResponse:
    found = definition_pages.one("source", name, request.user)
    if found is None:
        raise Http404(f"There is no source {name}.")
    row, versions = found
    context = {
        "page": source_page.SourcePage(row), "row": row, "versions": versions, "notice": notice,
        "body": definition_pages.body_lines(row.shown),
    }  # fmt: skip
    return render(request, "evidence/source.html", context, status=status)
