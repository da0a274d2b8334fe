"""What people type around a write: a comment, a review afterwards, why a pause is lifted."""

from __future__ import annotations

from django import forms

from gate.writes.actions import LONGEST_REASON
from gate.writes.models import GlassReview

ONE_SENTENCE = "Write one sentence that the next reader can check."


class CommentForm(forms.Form):
    """A comment on a write."""

    text = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": "Write what you want to say."})


class ReviewForm(forms.Form):
    """Whether an approval that was given alone could have waited."""

    finding = forms.ChoiceField(
        choices=GlassReview.Finding.choices, error_messages={"required": "Choose whether it could have waited."}
    )
    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": ONE_SENTENCE})


class LiftForm(forms.Form):
    """Why an approver may approve again."""

    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": ONE_SENTENCE})
