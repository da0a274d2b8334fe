"""Drafting and activating definitions. The same pages for every kind; what makes a body valid is the kind's matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

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


def is_as_json(request: HttpRequest) -> bool:
    """Whether somebody drafts a whole body as JSON, where there is a form of the kind's own."""
    return "body" in request.POST or request.GET.get("as") == "json"


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(
    request: HttpRequest, plural: str, name: str = "", example: Mapping[str, Any] | None = None
) -> HttpResponse:  # fmt: skip
    """Draft a definition, or a new version of the one that is named. `example` is where a new one starts from."""
    kind = _kind(plural)
    check_may(request, kind.name)
    if request.method != "POST":
        return _render_form(request, kind, name, DraftForm(initial=_initial(kind, name, example or kind.example)))
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


def _initial(kind: DefinitionKind, name: str, example: Mapping[str, Any]) -> dict[str, Any]:
    """The version in force, to be changed; without one the newest draft. Raises Http404 for an unknown name."""
    if not name:
        return {"body": twohands.canonical_body(dict(example))} if example else {}
    return {"name": name, "body": twohands.canonical_body(base_of(kind.name, name))}


def base_of(kind: str, name: str) -> dict[str, Any]:
    """The body that a next version starts from: that in force, else the newest draft's. Raises Http404."""
    newest = Definition.objects.filter(kind=kind, name=name).order_by("-version").first()
    base = twohands.active(kind, name) or newest
    if base is None:
        raise Http404(f"There is no {kind} {name}.")
    body: dict[str, Any] = base.body
    return body


class BodyForm(Protocol):
    """A form of one kind's own that gives a whole body, under a name and with a reason."""

    cleaned_data: dict[str, Any]

    def is_valid(self) -> bool: ...

    def body(self) -> dict[str, Any]: ...


def submitted(
    request: HttpRequest,
    kind: str,
    form: BodyForm,
    show: Callable[..., HttpResponse],
    leads_to: str,
    *,
    with_number: bool = False,
) -> HttpResponse:
    """Draft what such a form says and lead to its page; `show(form, status=, notice=)` draws what was typed again.

    `leads_to` is a page of the definition, or of the version where it takes a number too.
    """
    if not form.is_valid():
        return show(form, status=422)
    said = form.cleaned_data
    try:
        drafted = twohands.draft(kind, said["name"], form.body(), by=request.user, reason=said["reason"])
    except ValueError as problem:
        return show(form, status=422, notice=str(problem))
    except NotAllowed as refusal:
        return show(form, status=409, notice=str(refusal))
    return redirect(leads_to, drafted.name, *([drafted.version] if with_number else []))


@require_POST
@may_view
def activation(request: HttpRequest, plural: str, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    kind = _kind(plural)
    done, show = redirect("definitions:one", plural, name), partial(_render_one, request, kind, name)
    return put_in_force(request, kind.name, name, number, show, done)


def put_in_force(
    request: HttpRequest, kind: str, name: str, number: int, show: Callable[..., HttpResponse], done: HttpResponse
) -> HttpResponse:
    """Put one version in force, for a page of a kind's own; `show(notice=, status=)` draws the page with a refusal."""
    check_may(request, kind)
    version = get_object_or_404(Definition, kind=kind, name=name, version=number)
    try:
        twohands.activate(version.pk, by=request.user)
    except (NotAllowed, ValueError) as refusal:
        return show(notice=str(refusal), status=409)
    return done


def _kind(plural: str) -> DefinitionKind:
    for kind in twohands.KINDS.values():
        if kind.plural == plural:
            return kind
    raise Http404(f"There is no page /{plural}/.")


def check_may(request: HttpRequest, kind: str) -> None:
    """Raises PermissionDenied with a sentence unless the person drafts and activates this kind."""
    try:
        twohands.check_may_change(kind, request.user)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
