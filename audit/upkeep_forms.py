"""What a person types about holds, redactions and overrides."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from django import forms

from audit.masking import mask
from audit.models import Redaction

LONGEST_REASON = 2_000
INCIDENT = re.compile(r"(?:I-)?([1-9][0-9]{0,17})", re.ASCII)


class WhyForm(forms.Form):
    """Why it is done."""

    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Say why, in a sentence that others can check."}
    )

    def clean_reason(self) -> str:
        """The reason without what looks like a secret: it goes into an entry about the log, which nobody redacts."""
        return str(mask(self.cleaned_data["reason"]))


class OverrideForm(WhyForm):
    """Why approving goes on, and which verification the page showed."""

    seen = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class HoldForm(WhyForm):
    """What is held: an incident by its number, or a month."""

    what = forms.CharField(max_length=30, error_messages={"required": "Name an incident, or a month."})

    def clean_what(self) -> dict[str, Any]:
        """The incident or the month, as `holds.hold` takes it. Raises ValidationError."""
        typed = str(self.cleaned_data["what"]).strip()
        if matched := INCIDENT.fullmatch(typed):
            return {"incident_id": int(matched[1])}
        return {"month": _month(typed)}


class RedactionForm(WhyForm):
    """Which part of an entry is to go."""

    part = forms.ChoiceField(choices=Redaction.Part.choices, error_messages={"required": "Choose what is to go."})


def _month(typed: str) -> date:
    try:
        return datetime.strptime(typed, "%Y-%m").date()
    except ValueError as problem:
        raise forms.ValidationError("Write an incident as I-318, or a month as 2026-11.") from problem
