"""Agents as pages: the list, one agent, its tokens, and stopping it now."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import agents as identities
from audit import budgets, log
from audit.agent_forms import AgentForm, BudgetForm, TokenForm
from audit.agent_page import AgentPage, marks
from audit.models import Agent, AgentToken

CHANGE = "audit.change_agents"
may_view = permission_required("audit.view", raise_exception=True)
may_change = permission_required(CHANGE, raise_exception=True)


@require_http_methods(["GET", "HEAD", "POST"])
@may_view
def agents(request: HttpRequest) -> HttpResponse:
    """Who investigates, each with its owner and what its tokens may do; or add one."""
    if request.method != "POST":
        return _render_list(request, AgentForm())
    if not request.user.has_perm(CHANGE):
        raise PermissionDenied("Your role changes no agents; an admin does.")
    form = AgentForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form, status=422)
    try:
        added = identities.add(**form.cleaned_data, by=log.Actor.person(request.user))
    except ValueError as refusal:
        form.add_error("name", str(refusal))
        return _render_list(request, form, status=422)
    return redirect("audit:agent", added.name)


def _render_list(request: HttpRequest, form: AgentForm, *, status: int = 200) -> HttpResponse:
    found = Agent.objects.prefetch_related("tokens").order_by("name")
    marked = marks()
    context = {"agents": [(one, marked.get(one.name, 0)) for one in found], "now": timezone.now(), "form": form}
    return render(request, "audit/agents.html", context, status=status)


@require_safe
@may_view
def agent(request: HttpRequest, name: str) -> HttpResponse:
    """One agent. No secret is stored, so none is shown."""
    return _render_one(request, _agent(name), TokenForm())


# A token is on the page that issues it and nowhere else: not in a session, not in a cache, not in the log.
@never_cache
@require_POST
@may_change
def tokens(request: HttpRequest, name: str) -> HttpResponse:
    """Issue a token, and show it once."""
    found, form = _agent(name), TokenForm(request.POST)
    if not form.is_valid():
        return _render_one(request, found, form, status=422)
    said = form.cleaned_data
    try:
        token = identities.issue_token(
            found.name, owner=found.owner, scopes=said["scopes"], label=said["label"],
            by=log.Actor.person(request.user), lifetime=timedelta(days=said["days"]),
        )  # fmt: skip
    except ValueError as refusal:
        return _render_one(request, found, form, refusal=str(refusal), status=409)
    return _render_one(request, found, TokenForm(), token=token)


def _render_one(
    request: HttpRequest, found: Agent, form: TokenForm, *, budget: BudgetForm | None = None, token: str = "",
    refusal: str = "", status: int = 200,
) -> HttpResponse:  # fmt: skip
    budget = budget or BudgetForm.of(found)
    context = {
        "page": AgentPage(found), "agent": found, "form": form, "budget": budget, "token": token, "refusal": refusal,
    }  # fmt: skip
    return render(request, "audit/agent.html", context, status=status)


def refused(request: HttpRequest, name: str, sentence: str, *, status: int) -> HttpResponse:
    """The page of an agent that says why something about it was not done. Raises Http404."""
    return _render_one(request, _agent(name), TokenForm(), refusal=sentence, status=status)


@require_POST
@may_change
def budget(request: HttpRequest, name: str) -> HttpResponse:
    """Set what an agent may use."""
    found, form = _agent(name), BudgetForm(request.POST)
    if not form.is_valid():
        return _render_one(request, found, TokenForm(), budget=form, status=422)
    budgets.change(found.pk, form.cleaned_data, by=log.Actor.person(request.user))
    return redirect("audit:agent", name)


@require_POST
@may_change
def revocation(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke a token."""
    token = get_object_or_404(AgentToken, pk=pk)
    return redirect("audit:agent", identities.revoke_token(token.pk, by=log.Actor.person(request.user)).agent.name)


@require_POST
@may_change
def stop(request: HttpRequest, name: str) -> HttpResponse:
    """Stop an agent now."""
    identities.stop(_agent(name).pk, by=log.Actor.person(request.user))
    return redirect("audit:agent", name)


@require_POST
@may_change
def start(request: HttpRequest, name: str) -> HttpResponse:
    """Let a stopped agent work again."""
    found = _agent(name)
    try:
        identities.start(found.pk, by=log.Actor.person(request.user))
    except ValueError as refusal:
        return _render_one(request, found, TokenForm(), refusal=str(refusal), status=409)
    return redirect("audit:agent", name)


def _agent(name: str) -> Agent:
    return get_object_or_404(Agent.objects.select_related("owner"), name=name)
