"""The leaves of a JSON text, each with its pointer and where it stands in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

SPACE = re.compile(r"[ \t\r\n]*")
SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
DEEPEST = 200


class Leaf(NamedTuple):
    """A value with nothing below it. `start` and `end` are of what stands between quotation marks, if it has any."""

    pointer: str
    start: int
    end: int


def leaves_of(text: str, most: int | None = None) -> list[Leaf] | None:
    """The first leaves of a JSON object or array, or all; None when the text is none, or is nested past reason."""
    begin = SPACE.match(text).end()  # type: ignore[union-attr]
    if text[begin : begin + 1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    walk = _Walk(text)
    try:
        return list(islice(walk.value(begin, "", 0), most))
    except _TooDeep:
        return None


class _TooDeep(Exception):
    pass


class _Walk:
    """Walks over a text that is known to be JSON, and remembers where it stopped."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def value(self, at: int, pointer: str, depth: int) -> Iterator[Leaf]:
        if depth > DEEPEST:
            raise _TooDeep
        sign = self._text[at]
        if sign in "{[":
            yield from self._members(at, pointer, depth)
        elif sign == '"':
            _, self.at = scanstring(self._text, at + 1, False)
            yield Leaf(pointer, at + 1, self.at - 1)
        else:
            self.at = SCALAR.match(self._text, at).end()  # type: ignore[union-attr]
            yield Leaf(pointer, at, self.at)

    def _members(self, at: int, pointer: str, depth: int) -> Iterator[Leaf]:
        is_object, number = self._text[at] == "{", 0
        at = self._skip(at + 1)
        while self._text[at] not in "}]":
            name = str(number)
            if is_object:
                name, at = scanstring(self._text, at + 1, False)
                at = self._skip(self._skip(at) + 1)
            yield from self.value(at, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", depth + 1)
            at, number = self._skip(self.at), number + 1
            if self._text[at] == ",":
                at = self._skip(at + 1)
        self.at = at + 1

    def _skip(self, at: int) -> int:
        return SPACE.match(self._text, at).end()  # type: ignore[union-attr]
