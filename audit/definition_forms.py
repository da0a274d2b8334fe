"""What a person types to draft a version of a definition."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit import twohands

LONGEST_LINE = 80  # characters of a line that an error shows


class VersionForm(forms.Form):
    """What every version is drafted with: under which name, and why. A kind's own form adds what its body says."""

    name = forms.CharField(max_length=80)
    reason = forms.CharField(max_length=500)

    def clean_name(self) -> str:
        """Raises ValidationError for what cannot name a definition."""
        name: str = self.cleaned_data["name"]
        try:
            twohands.check_name(name)
        except ValueError as problem:
            raise ValidationError(str(problem)) from problem
        return name


class RetireForm(forms.Form):
    """Why a definition is taken out of force."""

    reason = forms.CharField(max_length=500)


class LinesField(forms.CharField):
    """Names or sentences, one per line."""

    def clean(self, value: Any) -> Any:
        """The lines. Raises ValidationError when there is none, unless it may be left out."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class ObjectField(forms.CharField):
    """A JSON object; none where it may be left out."""

    def clean(self, value: Any) -> Any:
        """The object. Raises ValidationError with a sentence that names the line and shows it."""
        text = super().clean(value)
        if not text.strip():
            return None
        try:
            return object_of(text)
        except ValidationError as problem:
            raise ValidationError(f"{problem.messages[0]}{_line_at(text, problem.__cause__)}") from problem


def _line_at(text: str, cause: BaseException | None) -> str:
    """The line that an error is in, where it is in one."""
    if not isinstance(cause, json.JSONDecodeError):
        return ""
    return f" It reads: {text.splitlines()[cause.lineno - 1].strip()[:LONGEST_LINE]}"


class DraftForm(VersionForm):
    """The body in JSON, for kinds without a form of their own and for whoever keeps definitions in files."""

    body = forms.CharField(strip=False)

    def clean_body(self) -> dict[str, Any]:
        """The body as an object. Raises ValidationError with a sentence for anything else."""
        return object_of(self.cleaned_data["body"])


def object_of(text: str) -> dict[str, Any]:
    """A JSON object as somebody typed it. Raises ValidationError with a sentence for anything else."""
    try:
        body = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as problem:
        sentence = f"This is not JSON: line {problem.lineno}, column {problem.colno}, {problem.msg.lower()}."
        raise ValidationError(sentence) from problem
    except ValueError as problem:
        raise ValidationError(str(problem)) from problem
    except RecursionError as problem:
        raise ValidationError("The body is nested too deeply.") from problem
    if not isinstance(body, dict):
        raise ValidationError("The body is a JSON object: it starts with { and ends with }.")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: of two equal ones the reader would see one and the program the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1)
        raise ValueError(f"The key {twice} stands twice in one object.")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number in JSON.")
