"""The forms of triage's API: what may be sent, and what is answered. Unknown keys are refused, never ignored."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from gate.triage.classes import SEVERITIES
from gate.triage.intake import MOST_MEMBERS, Report
from gate.triage.readers.document import storable

MOST_FACTS = 20
LONGEST_FACT = 500
LONGEST_LINE = 200
WITHOUT_NUL = r"^[^\x00]*$"  # PostgreSQL keeps no NUL in a text


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {
            "type": ["string", "integer", "boolean", "null"],
            "maxLength": LONGEST_FACT,
            "pattern": WITHOUT_NUL,
        },
        "propertyNames": {"maxLength": LONGEST_FACT, "pattern": WITHOUT_NUL},
        "maxProperties": MOST_FACTS,
    }
)
class FactsField(serializers.DictField):
    """A flat object of texts, whole numbers, booleans and nulls."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError with a sentence."""
        facts = super().to_internal_value(data)
        if len(facts) > MOST_FACTS:
            raise serializers.ValidationError(f"At most {MOST_FACTS} keys.")
        for key, value in facts.items():
            if value is not None and type(value) not in (str, int, bool):
                raise serializers.ValidationError("A value must be a text, a whole number, true, false or null.")
            if not _can_be_kept(key) or not _can_be_kept(str(value)):
                raise serializers.ValidationError(f"A value is longer than {LONGEST_FACT} characters or not text.")
        return facts


@extend_schema_field(
    {"type": "string", "minLength": 1, "maxLength": LONGEST_LINE, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
)
class LineField(serializers.CharField):
    """A text with something in it to read."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_LINE, **options)


class AwareDateTimeField(serializers.DateTimeField):
    """A time that names its zone: without one it is not known which moment is meant."""

    def to_internal_value(self, value: Any) -> datetime:
        """Raises ValidationError with a sentence."""
        if not isinstance(value, str) or not _names_zone(value):
            raise serializers.ValidationError("Give an ISO 8601 time with its zone, like 2026-11-29T02:10:44Z.")
        return super().to_internal_value(value)


class ReportSerializer(serializers.Serializer[Report]):
    """What a monitor reports."""

    title = LineField()
    subject = FactsField(help_text='Exactly the subject keys of the class, like {"job_id": 90412}.')
    facts = FactsField(required=False, help_text="What the monitor knows besides, like error and job_kind.")
    members = serializers.ListField(
        child=FactsField(), required=False, max_length=MOST_MEMBERS,
        help_text="The other subjects that were grouped into it. Whatever passes is shown for each of them.",
    )  # fmt: skip
    undelivered = serializers.IntegerField(
        required=False, min_value=0, max_value=10**6, help_text="How many more there are that are not named."
    )
    began_at = AwareDateTimeField()
    recovered_at = AwareDateTimeField(required=False, help_text="Silence counts from here on; else from began_at.")
    severity = serializers.ChoiceField(SEVERITIES, required=False, help_text="The class says it when you do not.")
    dedup_key = LineField(required=False, help_text="Reports of one key are one incident.")
    status = serializers.ChoiceField(["firing", "resolved"], required=False, help_text="Resolved closes nothing.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The fields, with `class`, which is no name in Python."""
        return {"class": serializers.SlugField(max_length=80), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Raises ValidationError for keys that no report has."""
        unknown = sorted(set(self.initial_data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError(f"Unknown keys: {storable(', '.join(unknown)[:200])}.")
        return attrs

    def report(self) -> Report:
        """The report, once the form is valid."""
        said = dict(self.validated_data)
        is_resolved = said.pop("status", "firing") == "resolved"
        return Report(incident_class=said.pop("class"), is_resolved=is_resolved, **said)


class TakenSerializer(serializers.Serializer[Any]):
    """What a monitor is answered."""

    incident = serializers.CharField(help_text="I-318")
    id = serializers.IntegerField()
    status = serializers.CharField()


class StartedSerializer(serializers.Serializer[Any]):
    """The investigation and its briefing."""

    investigation = serializers.IntegerField()
    briefing = serializers.DictField()


class ReceivedSerializer(serializers.Serializer[Any]):
    """That it arrived; nothing of what came of it."""

    status = serializers.ChoiceField(["received"])


def _can_be_kept(text: str) -> bool:
    return storable(text) == text and len(text) <= LONGEST_FACT


def _names_zone(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
