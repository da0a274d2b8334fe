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
from evidence import escaping

# nextToken, next_page_token, NextContinuationToken, nextForwardToken, … as AWS, Google and others call a place.
PLACES = re.compile(r"(?:^|[_\-. ]|(?<=[a-z0-9]))(?:next|page|continuation|forward|backward)[_\-. ]?token$", re.I)
MOST_LINES = 200  # texts behind the mark of a private key; one of 16,384 bits has half as many lines
END_MARK = "PRIVATE KEY-----"
END = re.compile(r"-----END [A-Z ]{0,30}PRIVATE KEY-----")
INSIDE = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
PRIVATE_KEY = "[masked: private key]"
SCALARS = (str, int, float, Decimal)


def masked(value: Any) -> Any:
    """The value without its secrets, in the same shape. The argument is not changed.

    Raises ValueError when two keys of one object are the same without their secrets: one of them would be lost.
    """
    return _Masking().masked(value)


class _Masking:
    """One walk over a result, in the order in which it is read.

    A private key in a log is many lines, and each line a text of its own. So from the mark of one end on what looks
    like its inside is masked, up to that of the other end: which comes first is the log's matter.
    """

    def __init__(self) -> None:
        self._lines_left = 0  # texts that may still belong to a key

    def masked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self.masked(child) for child in value]
        return self._text(value) if isinstance(value, str) else value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        return _whole({mask(key): self._under(key, child) for key, child in value.items()}, value)

    def _under(self, key: str, value: Any) -> Any:
        found = NAMES.search(key)
        if found is None or PLACES.search(key):
            return self.masked(value)
        return _hidden(value, f"[masked: {found[1].lower()}]")

    def _text(self, text: str) -> str:
        told = _seen(text)
        if END_MARK in text:
            begins, ends = text.count("-----BEGIN "), text.count("-----END ")
            if begins != ends:
                self._lines_left = 0 if self._lines_left else MOST_LINES
                return END.sub(PRIVATE_KEY, INSIDE.sub(PRIVATE_KEY, told))
        if self._lines_left:
            self._lines_left -= 1
            return INSIDE.sub(PRIVATE_KEY, told)
        return told


def _seen(text: str) -> str:
    """The text without its secrets, also without one that characters which nobody sees were put into."""
    bare = text if text.isascii() and text.isprintable() else escaping.without_hidden(text)
    found: str = mask(bare)
    return text if found == bare else found


def _whole(made: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    if len(made) != len(value):
        raise ValueError("Two keys of the result differ in nothing but a secret.")
    return made


def _hidden(value: Any, marker: str) -> Any:
    """Every text and number replaced. That something is empty, absent, true or false is no secret."""
    if isinstance(value, dict):
        return _whole({mask(key): _hidden(child, marker) for key, child in value.items()}, value)
    if isinstance(value, list):
        return [_hidden(child, marker) for child in value]
    if isinstance(value, bool) or not isinstance(value, SCALARS) or value == "":
        return value
    return marker
