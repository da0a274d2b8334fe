"""Secrets in what a source answered are masked before it is hashed or given out, with the markers of audit.masking.

A result is not masked as arguments are. It keeps its shape, for checks count its rows and read its keys: under a
secret's name every text and number is masked where it stands, and keys stay. And a token that only says where the next
page of an answer begins is no secret: without it nobody could read on.

A masked text is unreadable for checks (see gate.triage.readers.document), whatever it says without its secret.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from audit.masking import NAMES, mask

# nextToken, next_page_token, NextContinuationToken, nextForwardToken, … as AWS, Google and others call a place.
PLACES = re.compile(r"(?:^|[_\-. ]|(?<=[a-z0-9]))(?:next|page|continuation|forward|backward)[_\-. ]?token$", re.I)
SCALARS = (str, int, float, Decimal)


def masked(value: Any) -> Any:
    """The value without its secrets, in the same shape. The argument is not changed.

    Raises ValueError when two keys of one object are the same without their secrets: one of them would be lost.
    """
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        return [masked(child) for child in value]
    return mask(value)


def _object(value: dict[str, Any]) -> dict[str, Any]:
    return _whole({mask(key): _under(key, child) for key, child in value.items()}, value)


def _whole(made: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    if len(made) != len(value):
        raise ValueError("Two keys of the result differ in nothing but a secret.")
    return made


def _under(key: str, value: Any) -> Any:
    found = NAMES.search(key)
    if found is None or PLACES.search(key):
        return masked(value)
    return _hidden(value, f"[masked: {found[1].lower()}]")


def _hidden(value: Any, marker: str) -> Any:
    """Every text and number replaced. That something is empty, absent, true or false is no secret."""
    if isinstance(value, dict):
        return _whole({mask(key): _hidden(child, marker) for key, child in value.items()}, value)
    if isinstance(value, list):
        return [_hidden(child, marker) for child in value]
    if isinstance(value, bool) or not isinstance(value, SCALARS) or value == "":
        return value
    return marker
