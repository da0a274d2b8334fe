"""Owned tables of prices and weights: what one of something costs, who says so, and from where it is known.

A formula holds no price. It counts, in units, and what a unit is worth stands here, in a version of its own, so that a
price can change without the metric and an answer says which prices it was made with. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evidence.metrics import saying
from evidence.metrics.exact import exact
from evidence.metrics.units import Quantity, Unit, unit

KEYS = {"title", "owner", "review_by", "prices"}
PRICE_KEYS = {"price", "unit", "per", "source"}
EXAMPLE = {
    "title": "What a failed job costs",
    "owner": "team-jobs",
    "review_by": "2027-06-01",
    "prices": {
        "wasted_compute": {
            "price": "0.002",
            "unit": "EUR",
            "per": "slot_s",
            "source": "the hosting contract of May 2026, page 3",
        }
    },
}


@dataclass(frozen=True)
class Price:
    """What one unit of something is worth, and from where that is known."""

    amount: Fraction
    unit: Unit
    per: Unit
    source: str

    def of(self, quantity: Quantity) -> Quantity:
        """What a quantity is worth. Raises UnlikeUnits when it is of another dimension than what has the price."""
        return Quantity(quantity.to(self.per).amount * self.amount, self.unit)


@dataclass(frozen=True)
class Valuation:
    """A version of a table of prices."""

    name: str
    version: int
    digest: str
    owner: str
    prices: Mapping[str, Price]

    @property
    def label(self) -> str:
        """As a metric names it and an answer's provenance shows it."""
        return f"{self.name}@{self.version}"

    @classmethod
    def of(cls, name: str, version: int, digest: str, body: Mapping[str, Any]) -> Valuation:
        """The table that a body states. Raises ValueError as `check` does."""
        check(name, body)
        return cls(name, version, digest, body["owner"], {key: _price(key, one) for key, one in body["prices"].items()})


def named(label: str | None) -> tuple[str, int] | None:
    """The table and the version that a checked label names, as prices@3; None where a metric names none."""
    name, _, version = (label or "").partition("@")
    return (name, int(version)) if name else None


def check(name: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError, with a sentence, for a body that is no valuation table."""
    said = saying.keys(body, KEYS, "A valuation")
    saying.text(said["title"], "A valuation's title")
    saying.text(said["owner"], "A valuation's owner")
    saying.day(said["review_by"], "A valuation's review_by")
    if not isinstance(said["prices"], Mapping) or not said["prices"]:
        raise ValueError("A valuation's prices are an object with one entry for each kind that has a price.")
    for kind, price in said["prices"].items():
        _price(kind, price)


def _price(kind: object, body: object) -> Price:
    what = f"The price of {saying.name(kind, 'What has a price')}"
    said = saying.keys(body, PRICE_KEYS, what)
    if not isinstance(said["price"], str):
        raise ValueError(f"{what} is a number written as a text, so that no digit is lost.")
    source = saying.text(said["source"], f"{what}: its source")
    return Price(exact(said["price"]), unit(said["unit"]), unit(said["per"]), source)
