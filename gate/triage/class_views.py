"""Classes of incidents as pages: what each means in words, and a form that writes a new version for a second person."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from audit import definition_pages, definition_views, twohands
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import classes
from gate.triage.class_forms import ClassForm, initial_of
from gate.triage.models import Incident

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every class with what it means."""
    rows = definition_pages.rows("class")
    with_rule = set(_names_in_force("rule"))
    context = {"rows": rows, "with_rule": with_rule}
    return render(request, "gate/classes.html", context)


def _names_in_force(kind: str) -> list[str]:
    return list(Definition.objects.filter(kind=kind, status=Definition.Status.ACTIVE).values_list("name", flat=True))


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One class: what it means, its versions, and how many incidents each version keeps."""
    found = definition_pages.one("class", name, request.user)
    if found is None:
        raise Http404(f"There is no class {name}.")
    row, versions = found
    incidents = dict(
        Incident.objects.filter(incident_class__name=name).values_list("incident_class").annotate(Count("pk"))
    )
    context = {
        "row": row, "means": row.shown.body, "with_rule": set(_names_in_force("rule")),
        "versions": [(one, incidents.get(one.definition.pk, 0)) for one in versions],
    }  # fmt: skip
    return render(request, "gate/class.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HttpRequest, name: str = "") -> HttpResponse:
    """Draft a class, or a new version of one; as JSON too, for whoever keeps classes in files."""
    if "body" in request.POST or request.GET.get("as") == "json":
        return definition_views.new(request, "classes", name)
    try:
        twohands.check_may_change("class", request.user)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    if request.method != "POST":
        return _render(request, name, ClassForm(initial=_initial(name)))
    form = ClassForm(request.POST)
    if not form.is_valid():
        return _render(request, name, form, status=422)
    return _draft(request, name, form)


def _draft(request: HttpRequest, name: str, form: ClassForm) -> HttpResponse:
    reason, called = form.cleaned_data["reason"], form.cleaned_data["name"]
    try:
        drafted = twohands.draft("class", called, form.body(), by=person_of(request), reason=reason)
    except ValueError as problem:
        return _render(request, name, form, status=422, notice=str(problem))
    except NotAllowed as refusal:
        return _render(request, name, form, status=409, notice=str(refusal))
    return redirect("gate:class", drafted.name)


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a class that is new. Raises Http404 for an unknown name."""
    if not name:
        return initial_of(classes.EXAMPLE)
    newest = Definition.objects.filter(kind="class", name=name).order_by("-version").first()
    base = twohands.active("class", name) or newest
    if base is None:
        raise Http404(f"There is no class {name}.")
    return {"name": name, **initial_of(base.body)}


def _render(request: HttpRequest, name: str, form: ClassForm, *, status: int = 200, notice: str = "") -> HttpResponse:
    tools = _names_in_force("tool")
    context = {"name": name, "form": form, "notice": notice, "rules": _names_in_force("rule"), "tools": tools}
    return render(request, "gate/class_form.html", context, status=status)
