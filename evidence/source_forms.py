"""A source as people write it: the fields that its kind declares, and those that all kinds have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import LinesField, VersionForm
from evidence import rate, sources
from evidence.kinds.fields import Field, Sort
from evidence.kinds.kind import SourceKind

RATES = {f"{rate.KEY}_{who}": who for who in ("agent", "all")}  # a field of the form, and its key within the rates


class LongField(forms.CharField):
    """A text of several lines, with the line breaks that files have: browsers send others."""

    def clean(self, value: Any) -> Any:
        """The text. Raises ValidationError when it may not be left out."""
        found = super().clean(value).replace("\r\n", "\n").strip()
        return f"{found}\n" if found else ""


class PairsField(forms.CharField):
    """Names with values, one a line."""

    def clean(self, value: Any) -> Any:
        """The values by their names. Raises ValidationError for a line that is no pair, or a name that comes twice."""
        found: dict[str, str] = {}
        for line in filter(None, map(str.strip, super().clean(value).splitlines())):
            name, colon, said = (part.strip() for part in line.partition(":"))
            if not colon or not name or not said or name in found:
                raise ValidationError(f"“{line[:80]}” is no name, colon and value; each name stands once.")
            found[name] = said
        return found


def _chosen(field: Field) -> forms.ChoiceField:
    return forms.ChoiceField(required=field.is_needed, choices=field.choices)


MADE: Mapping[Sort, Callable[[Field], forms.Field]] = {
    Sort.TEXT: lambda field: forms.CharField(required=field.is_needed),
    Sort.LONG: lambda field: LongField(required=field.is_needed),
    Sort.NUMBER: lambda field: forms.IntegerField(required=field.is_needed),
    Sort.YES: lambda field: forms.BooleanField(required=False),
    Sort.CHOICE: _chosen,
    Sort.SEVERAL: lambda field: forms.MultipleChoiceField(required=field.is_needed, choices=field.choices),
    Sort.LINES: lambda field: LinesField(required=field.is_needed and not field.is_listed_empty),
    Sort.PAIRS: lambda field: PairsField(required=field.is_needed),
}


class SourceForm(VersionForm):
    """One version of a source of one kind."""

    def __init__(self, kind: SourceKind, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for field in kind.fields:
            self.fields[field.key] = MADE[field.sort](field)
        for name in RATES:
            self.fields[name] = forms.IntegerField(required=False, min_value=1, max_value=rate.MOST)

    @property
    def shown(self) -> list[tuple[Field, Any]]:
        """The kind's fields as they are declared, each with what was typed."""
        return [(field, self[field.key]) for field in self.kind.fields]

    def clean(self) -> dict[str, Any]:
        """What was typed, as a body that the kind takes; what it says against it stands at the field that it names."""
        if not self.errors:
            try:
                sources.check(self.cleaned_data["name"], self.body())
            except ValueError as problem:
                self.add_error(self._named(str(problem)), str(problem))
        return self.cleaned_data

    def _named(self, sentence: str) -> str | None:
        """The field whose key a sentence names first."""
        keys = [field.key for field in self.kind.fields]
        found = re.search(rf"\b(?:{'|'.join(keys)})\b", sentence)
        return found[0] if found else None

    def body(self) -> dict[str, Any]:
        """The definition's body. What is empty is left out."""
        said = self.cleaned_data
        body = {field.key: said[field.key] for field in self.kind.fields if _is_said(field, said[field.key])}
        rates = {who: said[name] for name, who in RATES.items() if said[name] is not None}
        return {"kind": self.kind.name, **body, **({rate.KEY: rates} if rates else {})}


def _is_said(field: Field, value: Any) -> bool:
    # A number may be 0; what else is empty says nothing, but for a list that has to be there.
    return field.is_listed_empty or value not in (None, False, "", [], {}) or (field.sort is Sort.NUMBER and value == 0)


def initial_of(kind: SourceKind, body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    shown = {field.key: _typed(field, body[field.key]) for field in kind.fields if field.key in body}
    rates = body.get(rate.KEY, {})
    return {**shown, **{name: rates[who] for name, who in RATES.items() if who in rates}}


def _typed(field: Field, value: Any) -> Any:
    if field.sort is Sort.LINES:
        return "\n".join(value)
    if field.sort is Sort.PAIRS:
        return "\n".join(f"{name}: {said}" for name, said in value.items())
    return value
