"""The replay of every case by the rules in force, with live progress; and cases as files."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import replay_page, rule_actions
from gate.triage.rule_models import PromotedCase, Replay

may_view = permission_required("audit.view", raise_exception=True)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def replays(request: HttpRequest) -> HttpResponse:
    """The newest replay; posting asks for another."""
    if request.method != "POST":
        return _render(request, Replay.objects.order_by("-pk").first())
    try:
        replay = rule_actions.ask_for_replay(by=person_of(request))
    except NotAllowed as refusal:
        return _render(request, Replay.objects.order_by("-pk").first(), status=403, notice=str(refusal))
    return redirect("gate:replay", replay.pk)


@require_safe
@may_view
def replay(request: HttpRequest, pk: int) -> HttpResponse:
    """One replay: its page, or the fragment that asks for itself while it runs."""
    return _render(request, get_object_or_404(Replay, pk=pk))


@require_POST
@permission_required("gate.replay_cases", raise_exception=True)
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop a replay that runs."""
    found = get_object_or_404(Replay, pk=pk)
    try:
        rule_actions.stop(found, by=person_of(request))
    except NotAllowed as refusal:
        return _render(request, found, status=409, notice=str(refusal))
    return redirect("gate:replay", pk)


def _render(request: HttpRequest, found: Replay | None, *, status: int = 200, notice: str = "") -> HttpResponse:
    is_fragment = request.headers.get("HX-Target") == "replay"
    context = {"page": replay_page.ReplayPage(found) if found is not None else None, "notice": notice}
    return render(request, "gate/_replay.html" if is_fragment else "gate/replay.html", context, status=status)


@require_safe
@may_view
def case_file(request: HttpRequest, name: str) -> HttpResponse:
    """A case as the file that `manage.py replay` reads."""
    case = get_object_or_404(PromotedCase, name=name)
    response = HttpResponse(case.document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{case.name}.json"'
    return response
