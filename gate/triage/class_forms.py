"""A class of incidents as people write it: durations in words, names one per line."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import LinesField, VersionForm
from audit.templatetags.ui import duration
from gate.triage import classes

PIECE = re.compile(r"(\d{1,7}) ?(d|h|min|s)", re.ASCII)
UNITS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
DURATIONS = (
    "recurrence_seconds", "freshness_seconds", "ingestion_lag_seconds", "watch_seconds", "deadline_seconds",
)  # fmt: skip
NAMES = ("hypotheses", "tools", "metrics")


class DurationField(forms.CharField):
    """A length of time as people say it: 3 h, 1 h 30 min, 45 s."""

    def clean(self, value: Any) -> Any:
        """The seconds; none where it may be left out. Raises ValidationError."""
        text = super().clean(value).strip()
        if not text and not self.required:
            return 0
        rest = PIECE.sub("", text).strip()
        if rest or not text:
            raise ValidationError("Write it like 3 h, 1 h 30 min or 45 s.")
        return sum(int(number) * UNITS[unit] for number, unit in PIECE.findall(text))


class SubjectField(forms.CharField):
    """What identifies the subject: a key and its type per line."""

    types = (*classes.TYPES,)

    def clean(self, value: Any) -> Any:
        """The keys with their types. Raises ValidationError."""
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        pairs = [tuple(part.strip() for part in line.partition(":")[::2]) for line in lines]
        if any(kind not in self.types for _, kind in pairs):
            raise ValidationError("Write one key per line with its type: job_id: integer, or charge_id: string.")
        if len(dict(pairs)) != len(pairs):
            raise ValidationError("A key stands twice.")
        return dict(pairs)


class FactsField(SubjectField):
    """What a report may bring besides: a key and its type per line; nothing is an answer, too."""

    types = (*classes.FACT_TYPES,)


class ClassForm(VersionForm):
    """One version of a class."""

    kind = forms.ChoiceField(choices=[("incident", "Incident"), ("claim", "Claim of a customer")])
    title = forms.CharField(max_length=200)
    severity = forms.ChoiceField(choices=[(name, name) for name in classes.SEVERITIES])
    owner = forms.CharField(max_length=150)
    subject_keys = SubjectField()
    fact_keys = FactsField(required=False)
    recurrence_seconds = DurationField()
    freshness_seconds = DurationField()
    ingestion_lag_seconds = DurationField()
    watch_seconds = DurationField(required=False)
    hypotheses = LinesField()
    tools = LinesField()
    metrics = LinesField(required=False)
    budget_calls = forms.IntegerField(min_value=1, max_value=1000)
    deadline_seconds = DurationField()

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        said = {key: self.cleaned_data[key] for key in classes.PROPERTIES}
        return said | {key: self.cleaned_data[key] for key in classes.OPTIONAL if self.cleaned_data[key]}


def initial_of(body: dict[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    return {
        **body,
        **{key: duration(body[key]) for key in DURATIONS if key in body},
        **{key: "\n".join(body[key]) for key in NAMES if key in body},
        **{
            keys: "\n".join(f"{key}: {kind}" for key, kind in body[keys].items())
            for keys in ("subject_keys", "fact_keys")
            if keys in body
        },
    }
