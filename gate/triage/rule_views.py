"""Rules as pages: the list, one rule, trials, signatures, shadow and activation. Each view calls one action."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import twohands
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.people.requests import person_of
from gate.triage import rule_actions, rule_guards, rule_list, rule_pages, rule_versions
from gate.triage.rule_forms import SignForm
from gate.triage.rule_models import Trial

may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
def rules(request: HttpRequest) -> HttpResponse:
    """Every rule with its state, its score and what people made of its passes."""
    return render(request, "gate/rules.html", {"page": rule_list.rules()})


@require_safe
@may_view
def rule(request: HttpRequest, name: str) -> HttpResponse:
    """One rule with all that it has to show for itself."""
    return _render(request, name)


def _render(
    request: HttpRequest, name: str, *, status: int = 200, notice: str = "", form: SignForm | None = None
) -> HttpResponse:
    page = rule_pages.one(name, person_of(request))
    if page is None:
        raise Http404(f"There is no rule {name}.")
    return render(request, "gate/rule.html", {"page": page, "notice": notice, "form": form}, status=status)


@require_safe
@may_view
def trial(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """How far a trial is: the fragment that asks for itself while it runs."""
    found = get_object_or_404(Trial.objects.select_related("definition", "asked_by"), pk=pk, definition__name=name)
    return render(request, "gate/_trial.html", {"stand": rule_versions.Stand(found)})


@require_POST
@may_view
def trials(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Have a version tried on everything on record."""

    def ask(version: Definition, by: Person) -> str:
        rule_actions.ask_for_trial(version, by=by)
        return "is being tried"

    return _act(request, name, number, ask)


@require_POST
@may_view
def stop(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Stop a trial that runs."""
    found = get_object_or_404(Trial.objects.select_related("definition"), pk=pk, definition__name=name)

    def end(version: Definition, by: Person) -> str:
        rule_actions.stop(found, by=by)
        return "is not tried any more"

    return _act(request, name, found.definition.version, end)


@require_POST
@may_view
def shadow(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put a version in shadow."""

    def put(version: Definition, by: Person) -> str:
        twohands.shadow(version.pk, by=by)
        return "is in shadow"

    return _act(request, name, number, put)


@require_POST
@may_view
def activation(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Put a version in force, when it has earned that."""

    def put(version: Definition, by: Person) -> str:
        twohands.activate(version.pk, by=by)
        return "is in force"

    return _act(request, name, number, put)


@require_POST
@may_view
def signatures(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Sign fails that become passes."""
    version = _version(request, name, number)
    newest = rule_guards.newest_trial(version)
    flips = list(newest.flips.all()) if newest is not None else []
    form = SignForm([flip.pk for flip in flips], request.POST)
    if not form.is_valid():
        return _render(request, name, status=422, form=form)
    chosen = [flip for flip in flips if flip.pk in form.cleaned_data["flips"]]
    try:
        rule_actions.sign_flips(version, chosen, by=person_of(request), reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return _render(request, name, status=409, notice=str(refusal), form=form)
    messages.success(request, f"{len(chosen)} signed.")
    return redirect("gate:rule", name)


def _act(request: HttpRequest, name: str, number: int, act: Callable[[Definition, Person], str]) -> HttpResponse:
    version = _version(request, name, number)
    try:
        said = act(version, person_of(request))
    except (NotAllowed, ValueError) as refusal:
        return _render(request, name, status=409, notice=str(refusal))
    messages.success(request, f"Version {number} of {name} {said}.")
    return redirect("gate:rule", name)


def _version(request: HttpRequest, name: str, number: int) -> Definition:
    """The version, for somebody who changes rules. Raises PermissionDenied, Http404."""
    try:
        twohands.check_may_change("rule", request.user)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    return get_object_or_404(Definition, kind="rule", name=name, version=number)
