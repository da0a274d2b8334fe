"""A policy as somebody writes it: its JSON, looked at while it is typed."""

from __future__ import annotations

from typing import Any

from django import forms

from audit.definition_forms import VersionForm, object_of
from gate.admission import policies
from gate.admission.findings import Finding
from gate.admission.lint import lint


class PolicyForm(VersionForm):
    """The whole body in JSON: title, program and cases."""

    policy = forms.CharField(strip=False)

    def clean_policy(self) -> dict[str, Any]:
        """The body as an object. Raises ValidationError with a sentence for anything else."""
        return object_of(self.cleaned_data["policy"])

    def body(self) -> dict[str, Any]:
        """What is drafted, once the form is valid."""
        found: dict[str, Any] = self.cleaned_data["policy"]
        return found

    def findings(self) -> list[Finding]:
        """What lint finds in the program that is typed; nothing while it is no JSON."""
        body = self.looked_at
        return lint(body.get("program")) if body is not None else []

    def why_not(self) -> str:
        """Why it could not be drafted as it stands; empty when it could."""
        body = self.looked_at
        if body is None:
            return str(self.errors.get("policy", ["It is empty."])[0])
        try:
            policies.check(str(self.data.get("name", "")), body)
        except ValueError as problem:
            return str(problem)
        return ""

    @property
    def looked_at(self) -> dict[str, Any] | None:
        """The body as typed, when it is an object."""
        self.full_clean()
        found: dict[str, Any] | None = self.cleaned_data.get("policy")
        return found
