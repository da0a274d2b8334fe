"""Reading the parts of a definition's body: each either fits, or a ValueError says in one sentence what to write."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
LABEL = re.compile(r"[A-Za-z0-9_-]{1,80}@[1-9][0-9]{0,8}")  # a definition and its version: prices@3
LONGEST_TEXT = 300


def keys(said: object, known: Collection[str], what: str) -> Mapping[str, Any]:
    """The object with exactly these keys. Raises ValueError for one that is missing or unknown."""
    if not isinstance(said, Mapping):
        raise ValueError(f"{what} is a JSON object.")
    missing, unknown = sorted(set(known) - set(said)), sorted(str(key) for key in set(said) - set(known))
    if missing:
        raise ValueError(f"{what} says its {missing[0]}; it is missing.")
    if unknown:
        raise ValueError(f"{unknown[0][:60]} is nothing that {what[0].lower()}{what[1:]} says.")
    return said


def text(said: object, what: str) -> str:
    """A text that says something. Raises ValueError."""
    if not isinstance(said, str) or not said.strip() or len(said) > LONGEST_TEXT:
        raise ValueError(f"{what} is a text of 1 to {LONGEST_TEXT} characters.")
    return said


def texts(said: object, what: str) -> tuple[str, ...]:
    """At least one text. Raises ValueError."""
    if not isinstance(said, list) or not said:
        raise ValueError(f"{what} is a list of at least one text.")
    return tuple(text(one, f"Each of {what}") for one in said)


def name(said: object, what: str) -> str:
    """A name in snake_case. Raises ValueError."""
    if not isinstance(said, str) or not NAME.fullmatch(said):
        raise ValueError(f"{what} is a name in small letters, digits and underscores.")
    return said


def names(said: object, what: str) -> tuple[str, ...]:
    """At least one name, none of them twice. Raises ValueError."""
    if not isinstance(said, list) or not said:
        raise ValueError(f"{what} is a list of at least one name.")
    found = tuple(name(one, f"Each of {what}") for one in said)
    if len(set(found)) != len(found):
        raise ValueError(f"{what} has a name twice.")
    return found


def choice(said: object, choices: Collection[str], what: str) -> str:
    """One of a closed set. Raises ValueError."""
    if not isinstance(said, str) or said not in choices:
        raise ValueError(f"{what} is one of {', '.join(sorted(choices))}.")
    return said


def day(said: object, what: str) -> str:
    """A day in ISO 8601. Raises ValueError."""
    try:
        is_day = isinstance(said, str) and date.fromisoformat(said).isoformat() == said
    except ValueError:
        is_day = False
    if not is_day:
        raise ValueError(f"{what} is a day, as 2027-06-01.")
    return str(said)


def statement(said: object, what: str) -> str:
    """The text of a statement; what it may do is checked with its grammar. Raises ValueError."""
    if not isinstance(said, str) or not said.strip():
        raise ValueError(f"{what} is the text of a SELECT.")
    return said
