"""A metric as people write it: a field for each thing that a version says, and what is wrong beside the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import LinesField, VersionForm
from audit.models import Definition
from evidence import metric_lines
from evidence.metric_form_rows import GoldenRows, VariableRows, of_goldens, of_variables
from evidence.metrics import lint, registry
from evidence.metrics.asking import TYPES
from evidence.metrics.definition import NULL_POLICY, PEOPLE, VISIBILITY_SCOPE
from evidence.metrics.flaws import Flaw
from evidence.metrics.units import UNITS
from evidence.tool_forms import TextField, source_names

LABELS = {
    "metric_id": "Name", "title": "What it is", "formula": "Formula", "trace_hook": "Trace", "scope": "Scope",
    "source_fields": "Source fields", "parameters": "Recorded configuration", "valuation": "Prices", "owner": "Owner",
    "decomposers": "Decompositions", "limitations": "Limitations", "golden": "Golden values",
    "supported_counterfactuals": "What may be set otherwise",
}  # fmt: skip
FIELDS = {"metric_id": "name"}  # of the form, where they are called otherwise than in the body
PLAIN = (
    "title", "source", "unit", "grain", "measure", "formula", "owner", "review_by", "limitations", "visibility_scope",
)  # fmt: skip
PAIRED = ("scope", "source_fields", "parameters")
ROWS = ("golden", "supported_counterfactuals")
VISIBILITY_WORDS = ((VISIBILITY_SCOPE, "people and agents, up to the decision point"), (PEOPLE, "people alone"))


@dataclass(frozen=True)
class Finding:
    """A flaw of what is typed so far, and the field that it is in as the form calls it."""

    flaw: Flaw

    @property
    def key(self) -> str:
        """The key of the body that it is in."""
        return self.flaw.place.removeprefix("/").partition("/")[0]

    @property
    def label(self) -> str:
        """The field's label."""
        return LABELS.get(self.key, self.key)


class PairsField(forms.CharField):
    """A name and what it is per line."""

    def clean(self, value: Any) -> Any:
        """The pairs. Raises ValidationError."""
        return _said(metric_lines.pairs, super().clean(value))


class DecomposersField(forms.CharField):
    """One decomposition per line."""

    def clean(self, value: Any) -> Any:
        """The decompositions. Raises ValidationError."""
        return [_said(metric_lines.decomposer, line) for line in metric_lines.lines(super().clean(value))]


def _said(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError as problem:
        raise ValidationError(str(problem)) from problem


def valuation_labels() -> list[tuple[str, str]]:
    """The tables of prices that a metric may name: each version that was ever put in force."""
    found = Definition.objects.filter(kind=registry.VALUATION, activated_at__isnull=False)
    labels = [
        f"{name}@{version}" for name, version in found.order_by("name", "-version").values_list("name", "version")
    ]
    return [("", "None: nothing in it has a price"), *((label, label) for label in labels)]


class MetricForm(VersionForm):
    """One version of a metric. Its golden values and its variables are rows of their own."""

    title = forms.CharField(max_length=300)
    source = forms.ChoiceField(choices=source_names)
    unit = forms.ChoiceField(choices=[(name, f"{name}, {one.dimension}") for name, one in UNITS.items()])
    grain = forms.CharField(max_length=63)
    scope = PairsField()
    source_fields = PairsField()
    parameters = PairsField(required=False)
    valuation = forms.ChoiceField(choices=valuation_labels, required=False)
    measure = forms.ChoiceField(choices=[(word, word) for word in TYPES])
    formula = TextField(strip=False)
    still_open = forms.ChoiceField(choices=[(word, word) for word in NULL_POLICY["still_open"]])
    decomposers = DecomposersField()
    trace_hook = TextField(required=False, strip=False)
    visibility_scope = forms.ChoiceField(choices=VISIBILITY_WORDS)
    limitations = LinesField()
    owner = forms.CharField(max_length=300)
    review_by = forms.CharField(max_length=10)

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any] | None = None) -> None:
        """A form of what was typed, or of what it starts from."""
        super().__init__(data, initial=dict(initial or {}))
        rows = {key: self.initial.pop(key, None) for key in ROWS}
        self.goldens = GoldenRows(data, initial=rows["golden"], prefix="golden")
        self.variables = VariableRows(data, initial=rows["supported_counterfactuals"], prefix="variable")

    def is_valid(self) -> bool:
        """Whether every field and every row can be read."""
        return all([super().is_valid(), self.goldens.is_valid(), self.variables.is_valid()])

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        said = self.cleaned_data
        fixed = {key: answers[0] for key, answers in NULL_POLICY.items() if len(answers) == 1}
        return {
            **{key: said[key] for key in (*PLAIN, *PAIRED, "decomposers")},
            "valuation": said["valuation"] or None,
            "trace_hook": said["trace_hook"] if said["trace_hook"].strip() else None,
            "null_policy": {**fixed, "still_open": said["still_open"]},
            "supported_counterfactuals": self.variables.bodies(),
            "golden": self.goldens.bodies(),
        }

    def findings(self) -> list[Finding]:
        """What would make a policy of it, as far as it is typed."""
        name = str(self["name"].value() or "")
        return [Finding(flaw) for flaw in lint.flaws(name, self._typed())]

    def _typed(self) -> dict[str, Any]:
        """A body from what was typed so far; what cannot be read yet says nothing."""
        texts = {key: str(self[key].value() or "") for key in self.fields}
        variables = [form for form in self.variables.forms if form["variable"].value()]
        return {
            **texts,
            "valuation": texts["valuation"] or None,
            "limitations": metric_lines.lines(texts["limitations"]),
            **{key: _read(metric_lines.pairs, texts[key]) for key in PAIRED},
            "decomposers": [_read(metric_lines.decomposer, line) for line in metric_lines.lines(texts["decomposers"])],
            "supported_counterfactuals": [_typed_variable(form) for form in variables],
            "golden": [
                {"value": form["value"].value() or None} for form in self.goldens.forms if form["fixture"].value()
            ],
        }

    def why_not(self) -> str:
        """Why what is typed is no metric yet, as one sentence; empty when it is one, or when fields are missing."""
        if not self.is_bound or not self.is_valid():
            return ""
        try:
            registry.check_metric(self.cleaned_data["name"], self.body())
        except ValueError as problem:
            return str(problem)
        return ""

    def refuse(self, findings: list[Finding]) -> None:
        """Put the first finding of each field at the field."""
        for one in findings:
            key = FIELDS.get(one.key, one.key)
            if key in self.fields and key not in self.errors:
                self.add_error(key, one.flaw.advice)


def _read(read: Callable[[str], dict[str, Any]], text: str) -> dict[str, Any]:
    try:
        return read(text)
    except ValueError:
        return {}


def _typed_variable(form: forms.Form) -> dict[str, Any]:
    texts = {key: str(form[key].value() or "") for key in ("variable", "rows", "held_fixed", "not_modelled")}
    return {**texts, **{key: metric_lines.lines(texts[key]) for key in ("held_fixed", "not_modelled")}}


def initial_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    return {
        **{key: body[key] for key in PLAIN},
        **{key: metric_lines.of_pairs(body[key]) for key in PAIRED},
        "limitations": "\n".join(body["limitations"]),
        "decomposers": metric_lines.of_decomposers(body["decomposers"]),
        "valuation": body["valuation"] or "",
        "trace_hook": body["trace_hook"] or "",
        "still_open": body["null_policy"]["still_open"],
        "golden": of_goldens(body["golden"]),
        "supported_counterfactuals": of_variables(body["supported_counterfactuals"]),
    }
