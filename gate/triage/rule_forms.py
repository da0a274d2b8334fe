"""What people type about rules, cases and drift."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from gate.triage.rule_models import PromotedCase

WHY = "Write one sentence that the next reader can check."
OWN_VERDICT = re.compile(r"\bV-?\d+\b|\bverdict\b|\brule\b", re.IGNORECASE)
# Outcome and expected verdict in one choice: what was not fine must fail, and what was harmless need not pass.
ENDINGS = {
    "not_fine": (PromotedCase.Outcome.NOT_FINE, "fail"),
    "harmless": (PromotedCase.Outcome.HARMLESS, "pass"),
    "harmless_unshown": (PromotedCase.Outcome.HARMLESS, "fail"),
}
ENDING_WORDS = (
    ("not_fine", "It was not fine: the verdict must be a fail"),
    ("harmless", "It was harmless, and the evidence shows it: the verdict must be a pass"),
    ("harmless_unshown", "It was harmless, but the evidence does not show it: the verdict must be a fail"),
)


class SettleForm(forms.Form):
    """Why a change in the answers is no notice any more."""

    reason = forms.CharField(max_length=500, error_messages={"required": WHY})


class SignForm(forms.Form):
    """Which fails that become passes, and why that is right."""

    flips = forms.TypedMultipleChoiceField(coerce=int, error_messages={"required": "Choose what you sign."})
    reason = forms.CharField(max_length=2000, error_messages={"required": WHY})

    def __init__(self, flips: list[int], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["flips"].choices = [(pk, pk) for pk in flips]  # type: ignore[attr-defined]


class PromoteForm(forms.Form):
    """How the incident ended, who says so, and when."""

    ending = forms.ChoiceField(choices=ENDING_WORDS, error_messages={"required": "Say how it ended."})
    source = forms.ChoiceField(
        choices=PromotedCase.Source.choices, error_messages={"required": "Say from whom the outcome is known."}
    )
    reference = forms.CharField(
        max_length=500, error_messages={"required": "Say where that can be read: a ticket, a letter, a later incident."}
    )
    on = forms.DateField(error_messages={"required": "Say when that was known.", "invalid": "Write it as 2026-11-29."})
    why = forms.CharField(max_length=2000, error_messages={"required": WHY})

    def clean_reference(self) -> str:
        """Raises ValidationError where the system's own verdict is named as the source of its outcome."""
        reference: str = self.cleaned_data["reference"]
        if OWN_VERDICT.search(reference):
            raise ValidationError("A verdict cannot be the source of its own outcome; name something outside of it.")
        return reference

    def clean_on(self) -> date:
        """Raises ValidationError for a day that has not come."""
        on: date = self.cleaned_data["on"]
        if on > timezone.localdate():
            raise ValidationError("That day has not come yet.")
        return on
