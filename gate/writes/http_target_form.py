"""An HTTP action as people write it: a field for each part, and what is wrong with a part beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import object_of
from gate.writes import http_target
from gate.writes.http_target import Misfit

# Where the form says what is wrong with a part of an action.
PLACES = {
    "method": "http_method", "url": "url", "header": "header", "body": "schema", "named_hosts": "named_hosts",
    "timeout_seconds": "timeout_seconds", "probe": "probe_url", "probe.url": "probe_url",
    "probe.pointer": "probe_pointer", "probe.equals": "probe_equals",
}  # fmt: skip
FIELDS = frozenset({*PLACES.values(), "probe_is"})


class HostsField(forms.CharField):
    """Hosts, with spaces or commas between them."""

    def clean(self, value: Any) -> Any:
        """The hosts; none where it is empty."""
        return super().clean(value).replace(",", " ").split()


class SchemaField(forms.CharField):
    """A JSON Schema."""

    def clean(self, value: Any) -> Any:
        """The schema; none where it is empty. Raises ValidationError for what is no JSON object."""
        text = super().clean(value)
        return object_of(text) if text.strip() else None


class ActionForm(forms.Form):
    """The parts of an action. None is required here: of a database none is asked for, and else the action says it."""

    http_method = forms.ChoiceField(choices=[(one, one) for one in http_target.METHODS], required=False)
    url = forms.CharField(max_length=http_target.LONGEST_URL, required=False)
    header = forms.CharField(max_length=64, required=False)
    schema = SchemaField(max_length=20_000, required=False)
    named_hosts = HostsField(max_length=2_000, required=False)
    timeout_seconds = forms.IntegerField(required=False)
    probe_url = forms.CharField(max_length=http_target.LONGEST_URL, required=False)
    probe_pointer = forms.CharField(max_length=500, required=False)
    probe_is = forms.ChoiceField(
        choices=[("text", "this text"), ("other", "this number, true or false"), ("field", "this field of the body")],
        required=False,
    )
    probe_equals = forms.CharField(max_length=500, required=False)

    def action(self) -> dict[str, Any]:
        """The action that was typed, for a form without errors in its fields."""
        said = self.cleaned_data
        return {
            "method": said["http_method"], "url": said["url"], "header": said["header"], "body": said["schema"],
            "named_hosts": said["named_hosts"], "timeout_seconds": said["timeout_seconds"], "probe": _probe(said),
        }  # fmt: skip

    def check_action(self) -> None:
        """Say beside its field what cannot be used of the action."""
        if FIELDS & set(self.errors):
            return
        try:
            http_target.check(self.action())
        except Misfit as problem:
            self.add_error(PLACES[problem.part], str(problem))
        except ValidationError as problem:
            self.add_error("probe_equals", problem)


def _probe(said: Mapping[str, Any]) -> dict[str, Any] | None:
    if not (said["probe_url"] or said["probe_pointer"] or said["probe_equals"]):
        return None
    return {"url": said["probe_url"], "pointer": said["probe_pointer"], "equals": _expected(said)}


def _expected(said: Mapping[str, Any]) -> Any:
    """The value that the read-back is to show. Raises ValidationError."""
    text = said["probe_equals"]
    if not text:
        raise ValidationError("Say which value shows that it happened.")
    if said["probe_is"] == "field":
        return {"field": text}
    if said["probe_is"] == "text":
        return text
    try:
        return json.loads(text)
    except ValueError as problem:
        raise ValidationError("Write a whole number, true or false.") from problem


def initial_of(action: Mapping[str, Any] | None) -> dict[str, Any]:
    """An action as the form shows it; without one, what most begin with."""
    if action is None:
        return {"http_method": "POST", "header": "Authorization", "timeout_seconds": 10, "probe_is": "text"}
    probe = action["probe"]
    return {
        "http_method": action["method"], "url": action["url"], "header": action["header"],
        "schema": json.dumps(action["body"], indent=2), "named_hosts": " ".join(action["named_hosts"]),
        "timeout_seconds": action["timeout_seconds"],
        **({"probe_url": probe["url"], "probe_pointer": probe["pointer"], **_shown(probe["equals"])} if probe else {}),
    }  # fmt: skip


def _shown(equals: Any) -> dict[str, str]:
    if isinstance(equals, dict):
        return {"probe_is": "field", "probe_equals": equals["field"]}
    if isinstance(equals, str):
        return {"probe_is": "text", "probe_equals": equals}
    return {"probe_is": "other", "probe_equals": json.dumps(equals)}
