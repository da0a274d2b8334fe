"""Targets as pages: what each asks for in words, who may approve there, and a form that writes its next version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from audit import definition_pages, definition_views, marked_json
from audit.definition_pages import Row
from gate.people.models import Person
from gate.writes import admission_words, policy_words, targets
from gate.writes.http_target import HttpAction
from gate.writes.models import WriteRequest
from gate.writes.policy import Policy
from gate.writes.queue import NOT_OVER
from gate.writes.target_forms import TargetForm, initial_of

may_view = permission_required("audit.view", raise_exception=True)


@dataclass(frozen=True)
class Seat:
    """The people of one role who may approve, and how many of them are needed."""

    role: str
    needed: int
    people: list[Person]

    @property
    def is_short(self) -> bool:
        return len(self.people) < self.needed


@require_safe
@may_view
def list_page(request: HttpRequest) -> HttpResponse:
    """Every target with what it asks for."""
    rows = [(row, policy_words.in_short(row.shown)) for row in definition_pages.rows("target")]
    return render(request, "gate/targets.html", {"rows": rows})


@require_safe
@may_view
def one(request: HttpRequest, name: str) -> HttpResponse:
    """One target: its policy in words, who may approve, what waits there, and its versions."""
    found = definition_pages.one("target", name, request.user)
    if found is None:
        raise Http404(f"There is no target {name}.")
    row, versions = found
    target = targets.of(row.shown)
    context = {
        "row": row, "target": target, "parts": policy_words.parts(target.policy),
        "admission": admission_words.parts(row.shown.body), "seats": _seats(target.policy),
        "versions": versions, "waiting": _waiting(row),
        **_action(target.action),
    }  # fmt: skip
    return render(request, "gate/target.html", context)


def _action(action: HttpAction | None) -> dict[str, object]:
    if action is None:
        return {}
    expected = json.dumps(action.probe.equals, ensure_ascii=False) if action.probe else ""
    return {"schema_lines": marked_json.lines(action.body), "hosts": sorted(action.named_hosts), "expected": expected}


def _seats(policy: Policy) -> list[Seat]:
    active = Person.objects.filter(is_active=True).order_by("full_name", "username")
    return [
        Seat(Person.Role(role).label, number, [one for one in active if one.role == role])
        for role, number in policy.approvers
    ]


def _waiting(row: Row) -> int:
    return WriteRequest.objects.filter(target__kind="target", target__name=row.name, status__in=NOT_OVER).count()


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def new(request: HttpRequest, name: str = "") -> HttpResponse:
    """Draft a target, or the next version of one; as JSON too, for whoever keeps targets in files."""
    if definition_views.is_as_json(request):
        return definition_views.new(request, "targets", name)
    definition_views.check_may(request, "target")
    show = partial(_render, request, name)
    if request.method != "POST":
        return show(TargetForm(initial=_initial(name)))
    return definition_views.submitted(request, "target", TargetForm(request.POST), show, "writes:target")


def _initial(name: str) -> dict[str, object]:
    """What is in force, to be changed; the example for a target that is new. Raises Http404 for an unknown name."""
    if not name:
        return initial_of(dict(targets.EXAMPLE))
    return {"name": name, **initial_of(definition_views.base_of("target", name))}


def _render(request: HttpRequest, name: str, form: TargetForm, *, status: int = 200, notice: str = "") -> HttpResponse:
    return render(request, "gate/target_form.html", {"name": name, "form": form, "notice": notice}, status=status)
