"""A target and its policy as people write them. Two hands put it in force, as any definition."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from audit.definition_forms import VersionForm
from audit.templatetags.ui import duration
from gate.people import permissions
from gate.people.models import Person
from gate.triage.class_forms import DurationField
from gate.writes import http_target_form, policy, target_admission
from gate.writes.http_target_form import ActionForm, SchemaField
from gate.writes.policy_words import PROPOSERS

SEATS = tuple(role for role in Person.Role.values if role in permissions.MATRIX["gate.decide_write"])


class TargetForm(ActionForm, VersionForm):
    """One version of a target."""

    kind = forms.ChoiceField(choices=[("postgresql", "PostgreSQL"), ("http", "HTTP action")])
    environment = forms.CharField(max_length=40)
    credential_env = forms.CharField(max_length=80)
    ledger = forms.CharField(max_length=100, required=False)
    first_look_source = forms.CharField(max_length=80, required=False)
    admission = SchemaField(max_length=50_000, required=False)
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

    def clean(self) -> None:
        """What an HTTP action lacks is said beside its field; of a database none of those fields is asked for."""
        super().clean()
        if self.cleaned_data.get("kind") == "http":
            self.check_action()
            return
        for name in http_target_form.FIELDS:
            self.errors.pop(name, None)

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        said = self.cleaned_data
        own = {"action": self.action()} if said["kind"] == "http" else self._database()
        common = {name: said[name] for name in ("kind", "environment", "credential_env")}
        judged = {target_admission.KEY: said["admission"]} if said["admission"] else {}
        return {**common, **own, **judged, "policy": self._policy()}

    def _database(self) -> dict[str, Any]:
        said = self.cleaned_data
        look = {"first_look_source": said["first_look_source"]} if said["first_look_source"] else {}
        return {"ledger": said["ledger"] or None, **look}

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
        "first_look_source": body.get("first_look_source", ""),
        "admission": json.dumps(body[target_admission.KEY], indent=2) if target_admission.KEY in body else "",
        **http_target_form.initial_of(body.get("action")),
        "expiry_seconds": duration(asked["expiry_seconds"]),
    }
