"""A table of prices as people write it: a row for each thing that has a price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from audit.definition_forms import VersionForm
from evidence.metric_form_rows import rows_of
from evidence.metrics.units import UNITS

UNIT_CHOICES = [("", "Unit"), *((name, name) for name in UNITS)]
PLAIN = ("title", "owner", "review_by")
ROWS = "price"  # what the rows' fields begin with


class PriceForm(forms.Form):
    """What one of something is worth, and from where that is known."""

    kind = forms.CharField(max_length=63)
    price = forms.CharField(max_length=90)
    unit = forms.ChoiceField(choices=UNIT_CHOICES)
    per = forms.ChoiceField(choices=UNIT_CHOICES)
    source = forms.CharField(max_length=300)

    def body(self) -> dict[str, Any]:
        """As the definition says it, with what it is the price of."""
        return dict(self.cleaned_data)


PriceRows = rows_of(PriceForm, extra=2)


class ValuationForm(VersionForm):
    """One version of a table."""

    title = forms.CharField(max_length=300)
    owner = forms.CharField(max_length=300)
    review_by = forms.CharField(max_length=10)

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any] | None = None) -> None:
        """A form of what was typed, or of what it starts from."""
        super().__init__(data, initial=dict(initial or {}))
        self.prices = PriceRows(data, initial=self.initial.pop("prices", None), prefix=ROWS)

    def is_valid(self) -> bool:
        """Whether every field and every row can be read, and no kind has two prices."""
        is_read = all([super().is_valid(), self.prices.is_valid()])
        return is_read and self._has_one_price_each()

    def _has_one_price_each(self) -> bool:
        seen: set[str] = set()
        for row in self.prices.filled():
            kind = row.cleaned_data["kind"]
            if kind in seen:
                row.add_error("kind", f"{kind} has a price already.")
                return False
            seen.add(kind)
        return True

    def body(self) -> dict[str, Any]:
        """The definition's body, once the form is valid."""
        prices = {row.pop("kind"): row for row in self.prices.bodies()}
        return {**{key: self.cleaned_data[key] for key in PLAIN}, "prices": prices}


def initial_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the form shows it."""
    prices = [{"kind": kind, **price} for kind, price in body["prices"].items()]
    return {**{key: body[key] for key in PLAIN}, "prices": prices}
