"""Drafting and activating definitions. The same pages for every kind; what makes a body valid is the kind's matter."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_pages, twohands
from audit.definition_forms import DraftForm
from audit.models import Definition
from audit.refusing import NotAllowed
from audit.twohands import DefinitionKind

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def definitions(request: HttpRequest, plural: str) -> HttpResponse:
    """Every definition of a kind."""
    kind = _kind(plural)
    rows = definition_pages.rows(kind.name)
    standings = kind.standings([row.in_force for row in rows if row.in_force])
    context = {"kind": kind, "rows": [(row, standings.get(row.name)) for row in rows]}
    return render(request, "audit/definitions.html", context)


@require_safe
@may_view
def definition(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """One definition with its versions."""
    return _render_one(request, _kind(plural), name)


def _render_one(
    request: HttpRequest, kind: DefinitionKind, name: str, *, notice: str = "", status: int = 200
) -> HttpResponse:
    found = definition_pages.one(kind.name, name, request.user)
    if found is None:
        raise Http404(f"There is no {kind.name} {name}.")
    row, versions = found
    context = {
        "kind": kind,
        "row": row,
        "versions": versions,
        "body": definition_pages.body_lines(row.shown),
        "standing": kind.standings([row.in_force]).get(name) if row.in_force else None,
        "long_texts": definition_pages.long_texts(row.shown),
        "notice": notice,
    }
    return render(request, "audit/definition.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HttpRequest, plural: str, name: str = "") -> HttpResponse:
    """Draft a definition, or a new version of the one that is named."""
    kind = _kind(plural)
    _check_may(request, kind)
    if request.method != "POST":
        return _render_form(request, kind, name, DraftForm(initial=_initial(kind, name)))
    form = DraftForm(request.POST)
    if not form.is_valid():
        return _render_form(request, kind, name, form, status=422)
    try:
        drafted = twohands.draft(kind.name, by=request.user, **form.cleaned_data)
    except ValueError as problem:
        form.add_error("body", str(problem))
        return _render_form(request, kind, name, form, status=422)
    except NotAllowed as refusal:
        return _render_form(request, kind, name, form, notice=str(refusal), status=409)
    return redirect("definitions:one", plural, drafted.name)


def _render_form(
    request: HttpRequest, kind: DefinitionKind, name: str, form: DraftForm, *, notice: str = "", status: int = 200
) -> HttpResponse:
    context = {"kind": kind, "name": name, "form": form, "notice": notice}
    return render(request, "audit/definition_form.html", context, status=status)


def _initial(kind: DefinitionKind, name: str) -> dict[str, Any]:
    """The version in force, to be changed; without one the newest draft. Raises Http404 for an unknown name."""
    if not name:
        return {"body": twohands.canonical_body(dict(kind.example))} if kind.example else {}
    versions = Definition.objects.filter(kind=kind.name, name=name).order_by("-version")
    base = twohands.active(kind.name, name) or versions.first()
    if base is None:
        raise Http404(f"There is no {kind.name} {name}.")
    return {"name": name, "body": twohands.canonical_body(base.body)}


@require_POST
@may_view
def activation(request: HttpRequest, plural: str, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    kind = _kind(plural)
    _check_may(request, kind)
    version = get_object_or_404(Definition, kind=kind.name, name=name, version=number)
    try:
        twohands.activate(version.pk, by=request.user)
    except (NotAllowed, ValueError) as refusal:
        return _render_one(request, kind, name, notice=str(refusal), status=409)
    return redirect("definitions:one", plural, name)


def _kind(plural: str) -> DefinitionKind:
    for kind in twohands.KINDS.values():
        if kind.plural == plural:
            return kind
    raise Http404(f"There is no page /{plural}/.")


def _check_may(request: HttpRequest, kind: DefinitionKind) -> None:
    try:
        twohands.check_may_change(kind.name, request.user)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
