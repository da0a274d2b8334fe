"""Sizes as LVM's reports write them: a number and a unit, with `<` before what was rounded up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from gate.triage.readers.document import Unreadable, shown

_SIZE = re.compile(r"<?(\d{1,15}(?:\.\d{1,6})?)([bBkKmMgGtTpPeE])", re.ASCII)
# A small letter counts by 1024, a capital one by 1000. `s` counts sectors, whose size the report does not say.
_UNITS: Mapping[str, int] = {
    "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60,
    "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
}  # fmt: skip


def size(text: str) -> Decimal:
    """How many bytes a size says. Raises Unreadable; a bare number says no unit."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise Unreadable("", f"{shown(text)} is not a size with its unit.", shown(text))
    return Decimal(found[1]) * _UNITS[found[2]]


# The letters of lv_attr: what kind of volume it is, and how it stands. `I` and `S` mark a snapshot that ran full.
_ATTRIBUTES = re.compile(r"[A-Za-z-][A-Za-z-]{3}([A-Za-z-])[A-Za-z-]{2,6}", re.ASCII)
_SNAPSHOTS = frozenset("sV")  # an old snapshot; a thin volume, which with an origin is a thin snapshot
_STANDING = frozenset("a-")  # active, or not active: both can be read


def is_good_snapshot(attributes: str) -> bool:
    """Whether LVM calls it a snapshot that holds what it held. Raises Unreadable for what are no attributes."""
    found = _ATTRIBUTES.fullmatch(attributes)
    if found is None:
        raise Unreadable("", f"{shown(attributes)} are no attributes of a volume.", shown(attributes))
    return attributes[0] in _SNAPSHOTS and found[1] in _STANDING
