"""What people type when they propose a write or decide about one."""

from __future__ import annotations

from typing import Any

from django import forms

from audit.models import Definition
from gate.writes.actions import LONGEST_REASON, LONGEST_TITLE
from gate.writes.models import Decision, WriteRequest
from gate.writes.parameters import TYPES


class DecisionForm(forms.Form):
    """A decision with its reason, and exactly what the page showed."""

    decision = forms.ChoiceField(
        choices=Decision.Act.choices,
        error_messages={"required": "Choose approve, reject, request changes or withdraw."},
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Write one sentence that the next reader can check."}
    )
    password = forms.CharField(required=False, strip=False, max_length=4096)
    seen_version = forms.IntegerField()
    proposal_digest = forms.CharField(max_length=64)
    preview_digest = forms.CharField(max_length=64, required=False)

    def clean(self) -> dict[str, Any]:
        """An approval needs the password again."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("decision") == Decision.Act.APPROVE and not cleaned.get("password"):
            self.add_error("password", "Type your password again to approve.")
        return cleaned

    def decided(self) -> dict[str, Any]:
        """The arguments of actions.decide."""
        given = dict(self.cleaned_data)
        return {"act": given.pop("decision"), **given}


class ProposalForm(forms.Form):
    """A write that a person proposes."""

    target = forms.ChoiceField(error_messages={"required": "Choose a target."})
    title = forms.CharField(max_length=LONGEST_TITLE, error_messages={"required": "Say what it does in one sentence."})
    statement = forms.CharField(error_messages={"required": "Write one INSERT, UPDATE or DELETE."})
    parameters = forms.CharField(required=False, strip=False)  # "text " is an empty text, "text" is null
    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": "Say why in one sentence."})
    incident = forms.CharField(required=False, max_length=20)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = Definition.objects.filter(kind="target", status=Definition.Status.ACTIVE).order_by("name")
        choices = forms.ChoiceField(choices=[(name, name) for name in names.values_list("name", flat=True)])
        self.fields["target"].choices = choices.choices  # type: ignore[attr-defined]

    def clean_parameters(self) -> list[dict[str, str | None]]:
        """One parameter a line, `type value`; a type alone is null."""
        return [_parameter(line) for line in self.cleaned_data["parameters"].splitlines() if line.strip()]


def again(write: WriteRequest) -> dict[str, str]:
    """What the form holds at first when a write that is over is proposed again."""
    lines = [one["t"] if one["v"] is None else f"{one['t']} {one['v']}" for one in write.parameters]
    return {
        "target": write.target.name, "title": write.title, "statement": write.statement, "reason": write.reason,
        "parameters": "\n".join(lines), "incident": f"I-{write.incident_id}" if write.incident_id else "",
    }  # fmt: skip


def _parameter(line: str) -> dict[str, str | None]:
    name, space, value = line.partition(" ")
    if name not in TYPES:
        raise forms.ValidationError(f"Start each line with a type: {', '.join(TYPES)}.")
    return {"t": name, "v": value if space else None}
