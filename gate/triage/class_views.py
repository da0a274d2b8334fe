"""Classes of incidents as pages: what each means in words, and a form that writes a new version for a second person."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import permission_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from audit import definition_pages, definition_views
from audit.models import Definition
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
    if definition_views.is_as_json(request):
        return definition_views.new(request, "classes", name)
    definition_views.check_may(request, "class")
    show = partial(_render, request, name)
    if request.method != "POST":
        return show(ClassForm(initial=_initial(name)))
    return definition_views.submitted(request, "class", ClassForm(request.POST), show, "gate:class")


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a class that is new. Raises Http404 for an unknown name."""
    if not name:
        return initial_of(classes.EXAMPLE)
    return {"name": name, **initial_of(definition_views.base_of("class", name))}


def _render(request: HttpRequest, name: str, form: ClassForm, *, status: int = 200, notice: str = "") -> HttpResponse:
    tools = _names_in_force("tool")
    context = {"name": name, "form": form, "notice": notice, "rules": _names_in_force("rule"), "tools": tools}
    return render(request, "gate/class_form.html", context, status=status)
