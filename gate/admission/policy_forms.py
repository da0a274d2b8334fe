"""A policy as somebody writes it: its JSON, looked at while it is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

from audit import twohands
from audit.definition_forms import VersionForm, object_of
from gate.admission import exhaustive, policies
from gate.admission.exhaustive import Compared, TooManyCells
from gate.admission.findings import Finding
from gate.admission.lint import lint
from gate.admission.usable import usable

MOST_CELLS = 5_000  # that somebody waits for who types
MOST_SHOWN = 10


@dataclass(frozen=True)
class Beside:
    """A body as it is typed, beside the version in force: the cells that are decided otherwise."""

    version: int
    compared: Compared

    @property
    def newly_allowed(self) -> list[str]:
        """The cells that only the new one lets pass, in words."""
        found = self.compared.newly("allow")
        return [", ".join(f"{question} {label}" for question, label in one.cell.items()) for one in found]

    @property
    def shown(self) -> list[str]:
        return self.newly_allowed[:MOST_SHOWN]


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

    def would_change(self) -> Beside | None:
        """What it would decide otherwise than the version in force; None while either is unusable, or too large."""
        body, in_force = self.looked_at, twohands.active(policies.KIND.name, str(self.data.get("name", "")))
        new = usable(body.get("program")) if body is not None else None
        old = usable(in_force.body["program"]) if in_force else None
        if in_force is None or new is None or old is None:
            return None
        try:
            return Beside(in_force.version, exhaustive.compare(old, new, most=MOST_CELLS))
        except TooManyCells:
            return None

    @property
    def looked_at(self) -> dict[str, Any] | None:
        """The body as typed, when it is an object."""
        self.full_clean()
        found: dict[str, Any] | None = self.cleaned_data.get("policy")
        return found
