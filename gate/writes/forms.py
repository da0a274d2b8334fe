"""What people type when they propose a write or decide about one."""

from __future__ import annotations

from typing import Any

from django import forms

from audit.models import Definition
from gate.writes.actions import LONGEST_REASON, LONGEST_TITLE
from gate.writes.models import Decision, WriteRequest
from gate.writes.parameters import TYPES
from gate.writes.quorum import APPROVALS


class OfferForm(forms.Form):
    """A decision with its reason, and exactly what the page showed: what a key is asked to sign."""

    decision = forms.ChoiceField(
        choices=Decision.Act.choices,
        error_messages={"required": "Choose approve, reject, request changes or withdraw."},
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Write one sentence that the next reader can check."}
    )
    # Why somebody approves alone what others should approve with them.
    emergency = forms.CharField(max_length=500, required=False)
    seen_version = forms.IntegerField()
    proposal_digest = forms.CharField(max_length=64)
    preview_digest = forms.CharField(max_length=64, required=False)

    def clean(self) -> dict[str, Any]:
        """To approve alone needs a second reason."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("decision") == Decision.Act.BREAK_GLASS and not cleaned.get("emergency"):
            self.add_error("emergency", "Say why it cannot wait for the others; two people read it afterwards.")
        return cleaned

    def decided(self) -> dict[str, Any]:
        """The arguments of deciding.offer, or of deciding.decide. Why it could not wait is a part of the reason."""
        given = dict(self.cleaned_data)
        act, emergency = given.pop("decision"), given.pop("emergency")
        if act == Decision.Act.BREAK_GLASS:
            given["reason"] = f"{given['reason']}\nIt could not wait: {emergency}"
        return {"act": act, **given}


class DecisionForm(OfferForm):
    """The same with what vouches for it: a key's assertion, or the password again."""

    password = forms.CharField(required=False, strip=False, max_length=4096)
    assertion = forms.CharField(required=False, strip=False, max_length=20_000)

    def clean(self) -> dict[str, Any]:
        """An approval needs one of them."""
        cleaned = super().clean() or self.cleaned_data
        vouched = cleaned.get("password") or cleaned.get("assertion")
        if cleaned.get("decision") in APPROVALS and not vouched:
            self.add_error("password", "Sign with your passkey, or type your password again, to approve.")
        return cleaned


class EditForm(forms.Form):
    """What a write should say from now on."""

    title = forms.CharField(max_length=LONGEST_TITLE, error_messages={"required": "Say what it does in one sentence."})
    statement = forms.CharField(error_messages={"required": "Write one INSERT, UPDATE or DELETE."})
    parameters = forms.CharField(required=False, strip=False)  # "text " is an empty text, "text" is null
    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": "Say why in one sentence."})
    seen_version = forms.IntegerField()

    def clean_parameters(self) -> list[dict[str, str | None]]:
        """One parameter a line, `type value`; a type alone is null."""
        return [_parameter(line) for line in self.cleaned_data["parameters"].splitlines() if line.strip()]


class ProposalForm(EditForm):
    """A write that a person proposes."""

    target = forms.ChoiceField(error_messages={"required": "Choose a target."})
    seen_version = None  # type: ignore[assignment]  # there is none yet
    incident = forms.CharField(required=False, max_length=20)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = Definition.objects.filter(kind="target", status=Definition.Status.ACTIVE).order_by("name")
        choices = forms.ChoiceField(choices=[(name, name) for name in names.values_list("name", flat=True)])
        self.fields["target"].choices = choices.choices  # type: ignore[attr-defined]


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
