"""What a person types about agents and their tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import get_user_model

from audit import budgets
from audit.agents import DEFAULT_LIFETIME, SCOPES
from audit.models import Agent

LONGEST_DAYS = 365
MEANS = {
    "tools": "call evidence tools",
    "investigate": "start investigations and hand in findings",
    "propose": "propose writes",
    "admit": "ask whether its own tool calls may run",
    "what_if": "ask what a metric would have been, with one variable set otherwise",
}


class AgentForm(forms.Form):
    """A new agent and the person who answers for it."""

    name = forms.SlugField(
        max_length=80, error_messages={"required": "Name the agent.", "invalid": "Letters, digits, - and _ alone."}
    )
    owner: forms.ModelChoiceField[Any] = forms.ModelChoiceField(
        None, error_messages={"required": "Choose the person who answers for it."}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        owners = get_user_model().objects.filter(is_active=True).order_by("username")
        self.fields["owner"].queryset = owners  # type: ignore[attr-defined]


class TokenForm(forms.Form):
    """A new token: what it is for, what it may, and until when."""

    label = forms.CharField(max_length=80, error_messages={"required": "Say what the token is for."})
    scopes = forms.MultipleChoiceField(
        choices=[(scope, MEANS[scope]) for scope in SCOPES], error_messages={"required": "Choose what it may do."}
    )
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, initial=DEFAULT_LIFETIME.days)


class BudgetForm(forms.Form):
    """What an agent may use. An agent that should do nothing is stopped, or has a token with fewer scopes."""

    calls_per_hour = forms.IntegerField(min_value=1, max_value=budgets.MOST, label="Calls in one hour")
    open_investigations = forms.IntegerField(min_value=1, max_value=budgets.MOST, label="Investigations at once")
    proposals_per_day = forms.IntegerField(min_value=1, max_value=budgets.MOST, label="Writes proposed in one day")

    @classmethod
    def of(cls, agent: Agent) -> BudgetForm:
        """The form with what is set now."""
        return cls(initial={name: getattr(agent, name) for name in budgets.COLUMNS})
