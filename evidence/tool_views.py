"""Tools as pages: what each promises and how it is used, and a form that writes a version for a second person."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_pages, definition_views, twohands
from audit.definition_forms import RetireForm
from audit.models import Definition
from audit.refusing import NotAllowed
from audit.views import HtmxRequest
from evidence import contracts, sources
from evidence.tool_forms import ToolForm, asks_by_request, initial_of
from evidence.tool_pages import ToolPage, lines

may_view = permission_required("audit.view", raise_exception=True)
CHECK = "check"  # what the form asks for besides drafting: look at the words, and draft nothing


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every tool."""
    return render(request, "evidence/tools.html", {"lines": lines()})


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One tool."""
    return _render_one(request, name)


def _render_one(
    request: HttpRequest, name: str, *, notice: str = "", form: RetireForm | None = None, status: int = 200
) -> HttpResponse:
    found = definition_pages.one("tool", name, request.user)
    if found is None:
        raise Http404(f"There is no tool {name}.")
    context = {"page": ToolPage(*found), "row": found[0], "notice": notice, "form": form}
    return render(request, "evidence/tool.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HtmxRequest, name: str = "") -> HttpResponse:
    """Draft a tool, or a new version of one; as JSON too, for whoever keeps tools in files."""
    if definition_views.is_as_json(request):
        return definition_views.new(request, "tools", name)
    definition_views.check_may(request, "tool")
    show = partial(_render_form, request, name)
    if request.method != "POST":
        return show(ToolForm(initial=_initial(name)))
    form = ToolForm(request.POST)
    if request.POST.get("act") == CHECK:
        return _render_words(request, form) if request.htmx else show(form)
    findings = form.findings()
    if findings:
        form.refuse(findings)
    return definition_views.submitted(request, "tool", form, show, "tools:one")


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a tool that is new. Raises Http404 for an unknown name."""
    if not name:
        return initial_of({**contracts.EXAMPLE, "source": ""})
    return {"name": name, **initial_of(definition_views.base_of("tool", name))}


def _render_form(
    request: HttpRequest, name: str, form: ToolForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    known = sources.known(str(form["source"].value() or ""))
    by_request = known is not None and asks_by_request(known)
    context = {"name": name, "form": form, "notice": notice, "findings": form.findings(), "by_request": by_request}
    return render(request, "evidence/tool_form.html", context, status=status)


def _render_words(request: HttpRequest, form: ToolForm) -> HttpResponse:
    return render(request, "evidence/_tool_words.html", {"findings": form.findings()})


@require_POST
@may_view
def activation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    show = partial(_render_one, request, name)
    return definition_views.put_in_force(request, "tool", name, number, show, redirect("tools:one", name))


@require_POST
@may_view
def retirement(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Take the version in force out of force."""
    definition_views.check_may(request, "tool")
    version = get_object_or_404(Definition, kind="tool", name=name, version=number)
    form = RetireForm(request.POST)
    if not form.is_valid():
        return _render_one(request, name, form=form, status=422)
    try:
        twohands.retire(version.pk, by=request.user, reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return _render_one(request, name, notice=str(refusal), form=form, status=409)
    return redirect("tools:one", name)
