"""What people type when they decide about a draft."""

from django import forms

from gate.triage.inbox import Filters
from gate.triage.models import Review


class ReviewForm(forms.Form):
    """A decision with its reason and the version that it is about."""

    act = forms.ChoiceField(
        choices=Review.Act.choices, error_messages={"required": "Choose agree, overrule or send back."}
    )
    reason = forms.CharField(
        max_length=2000, error_messages={"required": "Write one sentence that the next reader can check."}
    )
    seen_version = forms.IntegerField()


class InboxForm(forms.Form):
    """The inbox's address. What it does not know, it leaves out."""

    kind = forms.ChoiceField(
        choices=[("", "Any kind"), ("incident", "Incident"), ("claim", "Claim"), ("write", "Write")], required=False
    )
    order = forms.ChoiceField(choices=[("", "Oldest first"), ("newest", "Newest first")], required=False)
    q = forms.CharField(max_length=100, required=False)

    def filters(self) -> Filters:
        """The filters, with anything that is not a choice left at its default."""
        self.is_valid()
        known = self.cleaned_data
        return Filters(known.get("kind", ""), known.get("order", ""), known.get("q", ""))
