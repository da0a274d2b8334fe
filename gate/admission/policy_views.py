"""Policies as pages: what is asked and how it is decided, drafts with their lint, observing and putting in force."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import definition_views, twohands
from audit.models import Definition
from audit.refusing import NotAllowed
from audit.views import HtmxRequest
from gate.admission import decision_page, layout, pages, policies, policy_list
from gate.admission import labels as labeling
from gate.admission.decision_page import DecisionPage
from gate.admission.policy_forms import PolicyForm

may_view = permission_required("audit.view", raise_exception=True)
KIND = policies.KIND.name
CHECK = "check"  # what the form asks for besides drafting: look at it, and draft nothing


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every policy, and those that are shipped and not drafted here."""
    lines = policy_list.lines()
    deciding = policy_list.in_force(lines)
    context = {
        "lines": lines, "shipped": policy_list.not_drafted(), "deciding": deciding,
        "covered": policy_list.covered(deciding),
    }  # fmt: skip
    return render(request, "gate/policies.html", context)


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One policy."""
    return _render_one(request, name)


def _render_one(request: HttpRequest, name: str, *, notice: str = "", status: int = 200) -> HttpResponse:
    page = pages.one(name, request.user)
    if page is None:
        raise Http404(f"There is no policy {name}.")
    context = {"page": page, "row": page.row, "notice": notice}
    return render(request, "gate/policy.html", context, status=status)


@require_safe
@may_view
def decision(request: HttpRequest, name: str, seq: int) -> HttpResponse:
    """One decision, with the answers that it rests on."""
    return _render_decision(request, _decision(name, seq))


def _decision(name: str, seq: int) -> DecisionPage:
    page = decision_page.one(name, seq)
    if page is None or page.version is None:
        raise Http404(f"There is no decision A-{seq} of {name}.")
    return page


def _render_decision(
    request: HttpRequest, page: DecisionPage, *, notice: str = "", status: int = 200
) -> HttpResponse:  # fmt: skip
    context = {"page": page, "labels": labeling.asked(page, request.user), "notice": notice}
    return render(request, "gate/policy_decision.html", context, status=status)


@require_POST
@may_view
@permission_required(labeling.PERMISSION, raise_exception=True)
def labels(request: HttpRequest, name: str, seq: int) -> HttpResponse:
    """Keep what somebody says of a decision's answers."""
    page = _decision(name, seq)
    fields = {one.field: one.line.question.id for one in labeling.asked(page, request.user).lines}
    said = {question: request.POST[field] for field, question in fields.items() if field in request.POST}
    try:
        number = labeling.say(page, said, by=request.user)
    except NotAllowed as refusal:
        return _render_decision(request, page, notice=str(refusal), status=409)
    messages.success(request, f"Recorded about {number} of the answers.")
    return redirect(_back(request, name, seq))


def _back(request: HttpRequest, name: str, seq: int) -> str:
    """The page that the form stood on, when it is one of ours; else the decision's."""
    wanted = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return reverse("policies:decision", args=[name, seq])


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HtmxRequest, name: str = "") -> HttpResponse:
    """Draft a policy, or a new version of one; as JSON of a whole body too, for whoever keeps policies in files."""
    if "body" in request.POST:
        return definition_views.new(request, policies.KIND.plural, name)
    definition_views.check_may(request, KIND)
    show = partial(_render_form, request, name)
    if request.method != "POST":
        return show(PolicyForm(initial=_initial(request, name)))
    form = PolicyForm(request.POST)
    if request.POST.get("act") == CHECK:
        if not request.htmx:
            return show(PolicyForm(initial=request.POST.dict()))
        return render(request, "gate/_policy_checked.html", _checked(form))
    return definition_views.submitted(request, KIND, form, show, "policies:one")


def _initial(request: HttpRequest, name: str) -> dict[str, Any]:
    """The version that is asked for, else what is in force; a shipped policy or the example for a new one.

    Raises Http404 for an unknown name or version.
    """
    if name:
        number = request.GET.get("from", "")
        is_number = number.isascii() and number.isdecimal() and len(number) < 10
        body = _version(name, int(number)).body if is_number else definition_views.base_of(KIND, name)
        return {"name": name, "policy": layout.text(body)}
    shipped = request.GET.get("shipped", "")
    body = policies.shipped_body(shipped)
    return {"name": shipped if body else "", "policy": layout.text(body or policies.EXAMPLE)}


def _checked(form: PolicyForm) -> dict[str, Any]:
    return {"findings": form.findings(), "why_not": form.why_not(), "beside": form.would_change()}


def _render_form(
    request: HttpRequest, name: str, form: PolicyForm, *, status: int = 200, notice: str = ""
) -> HttpResponse:
    checked = _checked(form if form.is_bound else PolicyForm(form.initial))
    context = {"name": name, "form": form, "notice": notice, **checked}
    return render(request, "gate/policy_form.html", context, status=status)


@require_POST
@may_view
def observation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Have a version observe: what it would decide is recorded, and nothing is held back."""
    return _act(request, name, number, lambda version: twohands.shadow(version.pk, by=request.user))


@require_POST
@may_view
def activation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put one version in force."""
    return _act(request, name, number, lambda version: twohands.activate(version.pk, by=request.user))


def _act(request: HttpRequest, name: str, number: int, act: Callable[[Definition], Definition]) -> HttpResponse:
    definition_views.check_may(request, KIND)
    try:
        act(_version(name, number))
    except (NotAllowed, ValueError) as refusal:
        return _render_one(request, name, notice=str(refusal), status=409)
    return redirect("policies:one", name)


def _version(name: str, number: int) -> Definition:
    return get_object_or_404(Definition, kind=KIND, name=name, version=number)
