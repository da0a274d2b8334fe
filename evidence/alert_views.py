"""A person says that an alert about an agent was looked at."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from audit import agent_views
from audit.refusing import NotAllowed
from audit.upkeep_forms import WhyForm
from evidence import alert_actions
from evidence.models import AgentAlert


class AcknowledgeForm(WhyForm):
    """Why it needs nothing more."""

    reason = forms.CharField(max_length=500, error_messages={"required": "Say why this alert needs nothing more."})


@require_POST
@permission_required(alert_actions.PERMISSION, raise_exception=True)
def acknowledgment(request: HttpRequest, pk: int) -> HttpResponse:
    """Acknowledge one alert."""
    alert, form = get_object_or_404(AgentAlert, pk=pk), AcknowledgeForm(request.POST)
    if not form.is_valid():
        return agent_views.refused(request, alert.agent, " ".join(map(str, form.errors["reason"])), status=422)
    try:
        alert_actions.acknowledge(pk, by=request.user, reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return agent_views.refused(request, alert.agent, str(refusal), status=409)
    return redirect(f"{reverse('audit:agent', args=[alert.agent])}#alerts")
