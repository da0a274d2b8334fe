"""Stripe's search language, as far as a question about one thing needs it: clauses joined by AND or a space.

    metadata['order']:'PTX-A1'      metadata["cart"]:"c-79" AND currency:"eur"

OR, a minus before a clause, a substring (~) and the comparisons of numbers are refused: each asks for something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.triage.readers.document import Unreadable, shown

LONGEST = 500
_TEXT = r"""(?:'([^'"\\]*)'|"([^'"\\]*)")"""
_CLAUSE = re.compile(rf"""(?:metadata\[{_TEXT}\]|([a-z_.]+)):{_TEXT}""", re.ASCII)
_JOINT = re.compile(r" +(?:AND +)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Clause:
    """One exact match. `field` is a field's name, or the key of a metadata entry."""

    field: str
    is_metadata: bool
    value: str


def parse(text: str) -> tuple[Clause, ...]:
    """Every clause of a query. Raises Unreadable for anything but exact matches that must all hold."""
    clauses, place = [], 0
    while True:
        clause, place = _clause(text, place)
        clauses.append(clause)
        if place == len(text):
            return tuple(clauses)
        place = _after_joint(text, place)


def _clause(text: str, place: int) -> tuple[Clause, int]:
    """The clause that begins at a place, and where it ends."""
    found = _CLAUSE.match(text, place) if len(text) <= LONGEST else None
    if found is None:
        raise _refused(text)
    key, value = _either(found[1], found[2]), _either(found[4], found[5])
    return Clause(found[3] if key is None else key, key is not None, str(value)), found.end()


def _after_joint(text: str, place: int) -> int:
    found = _JOINT.match(text, place)
    if found is None:
        raise _refused(text)
    return found.end()


def _either(single: str | None, double: str | None) -> str | None:
    return double if single is None else single


def _refused(text: str) -> Unreadable:
    return Unreadable("", f"the query {shown(text)} is more than exact matches joined by AND.", shown(text))
