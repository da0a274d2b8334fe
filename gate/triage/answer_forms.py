"""What a person types who sends an agreed answer."""

from __future__ import annotations

from django import forms

from gate.triage import answers
from gate.triage.submissions import LONGEST_ANSWER


class SendForm(forms.Form):
    """To whom, in which words, and after how many sendings; `again` when it may be there already."""

    to = forms.EmailField(
        max_length=254,  # as the column holds; Django's field alone would take more
        error_messages={"required": "Say to whom.", "invalid": "Write one e-mail address, like ada@example.org."},
    )
    # Not stripped: what is not edited must stay the agent's words, to the letter.
    text = forms.CharField(
        max_length=2 * LONGEST_ANSWER, strip=False, error_messages={"required": "There is nothing to send."}
    )
    seen_sendings = forms.IntegerField(min_value=0)
    again = forms.BooleanField(required=False)

    def clean_text(self) -> str:
        """The text with plain line breaks. Raises ValidationError when nobody could read anything in it."""
        text = answers.plain(self.cleaned_data["text"])
        if not text.strip():
            raise forms.ValidationError("There is nothing to send.")
        return text
