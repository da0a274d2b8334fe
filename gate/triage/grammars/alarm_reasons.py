"""The reason that CloudWatch gives for the state of an alarm, as far as it says that data was missing."""

from __future__ import annotations

import re

_MISSING = re.compile(r"no datapoints were received|missing datapoints? (?:was|were) treated|insufficient data", re.I)


def says_missing(reason: str) -> bool:
    """Whether the state rests on data that did not arrive. A reason in other words says nothing either way."""
    return _MISSING.search(reason) is not None


def begins_with(name: str, beginning: str) -> bool:
    """Whether an alarm's name begins so. Capitals make a difference."""
    return name.startswith(beginning)
