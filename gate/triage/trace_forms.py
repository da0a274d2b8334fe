"""What a person uploads."""

from __future__ import annotations

from django import forms

from evidence.survival.formats import FORMATS
from evidence.survival.formats.reading import AUTO
from gate.triage import trace_uploads

WORDS = {AUTO: "Find it out"}


class TraceForm(forms.Form):
    """A file, and the format that it is in."""

    file = forms.FileField(error_messages={"required": "Choose a file.", "empty": "The file is empty."})
    form = forms.ChoiceField(choices=[(name, WORDS.get(name, name)) for name in (AUTO, *FORMATS)])

    def clean_file(self) -> bytes:
        """The file's bytes. Raises ValidationError when they are more than a trace may have."""
        file = self.cleaned_data["file"]
        if file.size > trace_uploads.LONGEST:
            raise forms.ValidationError(f"A trace holds up to {trace_uploads.LONGEST:,} bytes; send less.")
        raw: bytes = file.read()
        return raw
