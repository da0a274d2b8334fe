"""A target and its policy as people write them. Two hands put it in force, as any definition."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import VersionForm
from audit.templatetags.ui import duration
from gate.people import permissions
from gate.people.models import Person
from gate.triage.class_forms import DurationField
from gate.writes import policy
from gate.writes.policy_words import PROPOSERS

SEATS = tuple(role for role in Person.Role.values if role in permissions.MATRIX["gate.decide_write"])


class TargetForm(VersionForm):
    """One version of a target."""

    kind = forms.ChoiceField(choices=[("postgresql", "PostgreSQL"), ("http", "HTTP action")])
    environment = forms.CharField(max_length=40)
    credential_env = forms.CharField(max_length=80)
    ledger = forms.CharField(max_length=100, required=False)
    action = forms.CharField(max_length=20_000, required=False)
    on_call = forms.IntegerField(min_value=0, max_value=policy.MOST_APPROVERS)
    admin = forms.IntegerField(min_value=0, max_value=policy.MOST_APPROVERS)
    method = forms.ChoiceField(choices=[("passkey", "a passkey"), ("password", "a passkey, or a fresh password")])
    proposers = forms.MultipleChoiceField(choices=[(one, PROPOSERS[one]) for one in policy.PROPOSERS])
    binding = forms.ChoiceField(
        choices=[("strict", "every column as previewed"), ("touched", "the columns that the statement names")]
    )
    row_cap = forms.IntegerField(min_value=1, max_value=policy.MOST_ROWS)
    expiry_seconds = DurationField()
    risk = forms.ChoiceField(choices=[("normal", "normal"), ("high", "high")])
    break_glass = forms.BooleanField(required=False)

    def clean_action(self) -> Any:
        """The action as JSON; raises ValidationError for other text."""
        text = self.cleaned_data["action"].strip()
        try:
            return json.loads(text) if text else None
        except ValueError as problem:
            raise ValidationError(f"This is not JSON: {problem}.") from problem

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        said = self.cleaned_data
        own = {"action": said["action"]} if said["kind"] == "http" else {"ledger": said["ledger"] or None}
        common = {name: said[name] for name in ("kind", "environment", "credential_env")}
        return {**common, **own, "policy": self._policy()}

    def _policy(self) -> dict[str, Any]:
        said = self.cleaned_data
        plain = ("method", "proposers", "binding", "row_cap", "expiry_seconds", "risk", "break_glass")
        return {"approvers": {role: said[role] for role in SEATS if said[role]}, **{name: said[name] for name in plain}}


def initial_of(body: dict[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    asked = body["policy"]
    return {
        **{name: body[name] for name in ("kind", "environment", "credential_env")},
        **{name: value for name, value in asked.items() if name != "approvers"},
        **{role: asked["approvers"].get(role, 0) for role in SEATS},
        "ledger": body.get("ledger") or "",
        "action": json.dumps(body["action"], indent=2) if "action" in body else "",
        "expiry_seconds": duration(asked["expiry_seconds"]),
    }
