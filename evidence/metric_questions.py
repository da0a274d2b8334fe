"""What a person types to ask a metric: of what, as of when, taken apart in which way; and what follows from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from evidence.kinds import moments
from evidence.metrics import schemas, scoping
from evidence.metrics.definition import MetricVersion

PREFIX = "scope-"
LONGEST_NAME = 80


class MomentField(forms.CharField):
    """A moment in ISO 8601 that says its zone, so that nobody has to guess which."""

    def clean(self, value: Any) -> Any:
        """The moment, None where it may be left out. Raises ValidationError."""
        text = super().clean(value)
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise ValidationError("This is no moment; write it as 2026-05-01T00:00:00Z.") from error
        if found.tzinfo is None:
            raise ValidationError("This moment says no zone; end it with Z for UTC.")
        try:
            return found.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("This moment is none in UTC.") from error


class ValueForm(forms.Form):
    """The question for a value. Its scope has a field for each key that the version's scope has."""

    decomposition = forms.ChoiceField()
    decision_point = MomentField(required=False, max_length=40)

    def __init__(self, version: MetricVersion, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.version = version
        choices = [(one.name, f"{one.name}, {one.type.replace('_', ' ')}") for one in version.decomposers]
        self.fields["decomposition"] = forms.ChoiceField(choices=choices)
        for key, kind in version.scope.items():
            field = MomentField if kind == "instant" else forms.CharField
            self.fields[PREFIX + key] = field(max_length=scoping.LONGEST, required=False)

    def clean_decision_point(self) -> datetime | None:
        """Raises ValidationError for a moment that is not there yet: nothing was known in it."""
        at: datetime | None = self.cleaned_data["decision_point"]
        if at is not None and at > timezone.now():
            raise ValidationError("This moment is not there yet; leave it empty for now.")
        return at

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError for a scope that this version does not have."""
        flaw = scoping.misfit(self.version, self.said_scope())
        if flaw and not self.errors:
            raise ValidationError(flaw)
        return self.cleaned_data

    @property
    def scope_fields(self) -> Iterator[tuple[str, Any]]:
        """Label and field of each key."""
        for key, kind in sorted(self.version.scope.items()):
            label = key.replace("_", " ")
            yield (f"{label}, as 2026-05-01T00:00:00Z" if kind == "instant" else label), self[PREFIX + key]

    def said_scope(self) -> dict[str, Any]:
        """The keys that were typed; what is left empty is not said."""
        said = {key: self.cleaned_data.get(PREFIX + key) for key in self.version.scope}
        return {key: _text(value) for key, value in said.items() if value}

    def arguments(self) -> dict[str, Any]:
        """The arguments of the question, once the form is valid."""
        return {"scope": self.said_scope(), "decomposition": self.cleaned_data["decomposition"]}


def _text(value: Any) -> Any:
    return moments.spelled(value) if isinstance(value, datetime) else value


def initial_of(version: MetricVersion, arguments: Mapping[str, Any] | None, at: datetime | None) -> dict[str, Any]:
    """What a form starts from: what the page shows, and where it shows nothing the first golden value's scope."""
    said = arguments if arguments is not None else {"scope": version.golden[0].scope}
    scope = {PREFIX + key: value for key, value in said["scope"].items() if key in version.scope}
    when = {"decision_point": moments.spelled(at)} if at is not None else {}
    return {**scope, **when, "decomposition": said.get("decomposition") or version.decomposers[0].name}


class FollowingForm(forms.Form):
    """A question that follows from a value: it is about the scope and the decision point of that one."""

    own: tuple[str, ...] = ()  # what it says besides

    def arguments(self) -> dict[str, Any]:
        """What the question says besides its scope, once the form is valid."""
        return {name: self.cleaned_data[name] for name in self.own}


class WhatIfForm(FollowingForm):
    """One variable and what it is set to."""

    own = ("variable", "value")
    variable = forms.CharField(max_length=LONGEST_NAME)
    value = forms.CharField(max_length=scoping.LONGEST)


class EntityForm(FollowingForm):
    """One thing whose trace is asked for."""

    own = ("entity",)
    entity = forms.CharField(max_length=scoping.LONGEST)


class EventForm(FollowingForm):
    """One sort of event whose trace is asked for."""

    own = ("event",)
    event = forms.CharField(max_length=scoping.LONGEST)


FOLLOWING: Mapping[str, type[FollowingForm]] = {
    schemas.COMPARE: WhatIfForm, schemas.TRACE_ENTITY: EntityForm, schemas.TRACE_EVENT: EventForm,
}  # fmt: skip
