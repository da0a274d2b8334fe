"""The title of an incident, as alert routers write it: the alert's name first."""

from __future__ import annotations

import re

_FIRST_WORD = re.compile(r"\s*(?:\[[A-Z]+(?::\d+)?\]\s+)?([^\s:,]+)")


def begins_with(title: str, name: str) -> bool:
    """Whether the first word of a title, after a status such as [FIRING:1], is that name."""
    found = _FIRST_WORD.match(title)
    return found is not None and found[1] == name
