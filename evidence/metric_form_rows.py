"""The parts of a metric that repeat: its golden values, and what may be set otherwise. Each is a row of a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from audit.definition_forms import LinesField
from evidence import metric_lines
from evidence.metrics.asking import MODELS, STATUSES
from evidence.tool_forms import TextField

MOST_ROWS = 50
IDENTITY = "identity"  # of a model that only recounts: it is never off


class ValuesField(forms.CharField):
    """A key and its value per line."""

    def clean(self, value: Any) -> Any:
        """The values. Raises ValidationError."""
        try:
            return metric_lines.values(super().clean(value))
        except ValueError as problem:
            raise ValidationError(str(problem)) from problem


class GoldenForm(forms.Form):
    """One golden value."""

    fixture = forms.CharField(max_length=300)
    decision_point = forms.CharField(max_length=40)
    scope = ValuesField(required=False)
    value = forms.CharField(max_length=90, required=False)
    status = forms.ChoiceField(choices=[(word, word) for word in STATUSES], initial=STATUSES[0])

    def has_changed(self) -> bool:
        """Whether the row says anything: a status alone, which no row is without, does not."""
        return bool({*self.changed_data} - {"status"})

    def body(self) -> dict[str, Any]:
        """As the definition says it: no value is null, for that is what is not known."""
        return {**self.cleaned_data, "value": self.cleaned_data["value"] or None}


class VariableForm(forms.Form):
    """One thing that a bounded counterfactual may set otherwise."""

    variable = forms.CharField(max_length=63)
    values = LinesField()
    factual = forms.CharField(max_length=63)
    model = forms.ChoiceField(choices=[("", "Choose a model"), *((word, word) for word in MODELS)])
    tolerance = forms.CharField(max_length=60, required=False)
    rows = TextField(strip=False)
    held_fixed = LinesField()
    not_modelled = LinesField()

    def body(self) -> dict[str, Any]:
        """As the definition says it."""
        said = {key: value for key, value in self.cleaned_data.items() if key != "tolerance"}
        tolerance = self.cleaned_data["tolerance"]
        return {**said, "fidelity": {"tolerance": tolerance} if tolerance else IDENTITY}


class Rows(forms.BaseFormSet):  # type: ignore[type-arg]
    """Rows of which those that are left empty say nothing."""

    def _construct_form(self, i: int, **kwargs: Any) -> Any:
        # A row is taken away by leaving it empty, one that was there before as well.
        return super()._construct_form(i, **{**kwargs, "empty_permitted": True})  # type: ignore[misc]

    def bodies(self) -> list[dict[str, Any]]:
        """What each filled row says, once all are valid."""
        return [form.body() for form in self.filled()]

    def filled(self) -> list[Any]:
        """The rows that are not left empty."""
        return [form for form in self.forms if form.has_changed()]


def rows_of(form: type[forms.Form], extra: int) -> Any:
    """Rows of a sort of form, so many of them empty at first."""
    return forms.formset_factory(
        form, formset=Rows, extra=extra, max_num=MOST_ROWS, validate_max=True, absolute_max=MOST_ROWS
    )


GoldenRows = rows_of(GoldenForm, extra=1)
VariableRows = rows_of(VariableForm, extra=1)


def of_goldens(said: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Golden values as the form shows them."""
    return [{**one, "scope": metric_lines.of_values(one["scope"]), "value": one["value"] or ""} for one in said]


def of_variables(said: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Variables as the form shows them."""
    return [_of_variable(one) for one in said]


def _of_variable(one: Mapping[str, Any]) -> dict[str, Any]:
    fidelity = one["fidelity"]
    texts = {key: "\n".join(one[key]) for key in ("values", "held_fixed", "not_modelled")}
    return {**one, **texts, "tolerance": "" if fidelity == IDENTITY else fidelity["tolerance"]}


def with_more(posted: Any, act: str) -> Any:
    """What was posted, with one more empty row of the sort that `act` names, as `more golden`."""
    word, _, prefix = act.partition(" ")
    key = f"{prefix}-TOTAL_FORMS"
    if word != "more" or not posted.get(key, "").isdecimal():
        return posted
    longer = posted.copy()
    longer[key] = str(min(int(posted[key]) + 1, MOST_ROWS))
    return longer
