"""What people type about an incident."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from rest_framework.exceptions import ValidationError

from audit.models import Definition
from gate.people.models import Person
from gate.triage import classes
from gate.triage.intake import Report
from gate.triage.serializers import FactsField

WHY = "Write one sentence that the next reader can check."


class StopForm(forms.Form):
    """Why an investigation is stopped."""

    reason = forms.CharField(max_length=2000, error_messages={"required": WHY})


class ReasonForm(StopForm):
    """A reason, and the version of the incident that it is about."""

    seen_version = forms.IntegerField()


class CommentForm(forms.Form):
    """What a person says."""

    text = forms.CharField(max_length=4000, error_messages={"required": "Write what you want to say."})


class AssignForm(forms.Form):
    """A person to hold the incident, or nobody."""

    to = forms.ModelChoiceField(Person.objects.filter(is_active=True), required=False)
    seen_version = forms.IntegerField()


class OpenForm(forms.Form):
    """An incident by hand. Which subject it has, its class says: each key is a field of its own."""

    title = forms.CharField(max_length=200, error_messages={"required": "Say what happened in one sentence."})
    began_at = forms.DateTimeField(error_messages={"required": "Say when it began."})
    severity = forms.ChoiceField(choices=[("", "As its class says"), *((name, name) for name in classes.SEVERITIES)],
                                 required=False)  # fmt: skip

    facts = forms.CharField(required=False, max_length=12_000)

    def __init__(self, definition: Definition, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.definition = definition
        self.subject_keys = classes.parse(definition.body).subject_keys
        for key, kind in self.subject_keys.items():
            self.fields[f"subject.{key}"] = _subject_field(key, kind)

    @property
    def subject_fields(self) -> list[tuple[str, forms.BoundField]]:
        """The fields of the subject, with the names of their keys."""
        return [(key, self[f"subject.{key}"]) for key in self.subject_keys]

    def clean_facts(self) -> dict[str, Any]:
        """One fact a line, `key: value`, with the limits of the intake. Raises ValidationError."""
        lines = [line for line in self.cleaned_data["facts"].splitlines() if line.strip()]
        facts = dict(_fact(line) for line in lines)
        if len(facts) != len(lines):
            raise forms.ValidationError("Give each key once.")
        try:
            return FactsField().run_validation(facts)  # type: ignore[no-any-return]
        except ValidationError as problem:
            raise forms.ValidationError([str(one) for one in problem.detail]) from problem

    def report(self) -> Report:
        """The report that the valid form makes."""
        said = self.cleaned_data
        return Report(
            incident_class=self.definition.name, title=said["title"], began_at=said["began_at"],
            severity=said["severity"], subject={key: said[f"subject.{key}"] for key in self.subject_keys},
            facts=said["facts"],
        )  # fmt: skip


def _fact(line: str) -> tuple[str, Any]:
    key, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not key:
        raise forms.ValidationError("Write one fact a line, like error: ReadTimeout.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value  # most facts are texts, and nobody quotes them


def _subject_field(key: str, kind: str) -> forms.Field:
    if kind == "integer":
        return forms.IntegerField(
            error_messages={"required": f"Give the {key}.", "invalid": f"The {key} is a whole number."}
        )
    return forms.CharField(max_length=classes.LONGEST_SUBJECT, error_messages={"required": f"Give the {key}."})
