"""Taking a query apart into words, strings, numbers and signs. What is none of these refuses the whole query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
  | (?P<string>"(?:[^"\\\n]|\\["\\])*"|'(?:[^'\\\n]|\\['\\])*'|`[^`\n]*`)
  | (?P<regex>/(?:\(\?i\))?[A-Za-z0-9 _:=@-]+/)
  | (?P<duration>(?:\d{1,9}(?:ms|[smhdw]))+(?![A-Za-z0-9_.]))
  | (?P<number>\d{1,30}(?:\.\d{1,30})?(?![A-Za-z0-9_.]))
  | (?P<word>[A-Za-z_@$][A-Za-z0-9_.:@$]*)
  | (?P<sign>\.\.\.|\|=|\|~|==|!=|=~|!~|>=|<=|[(){}\[\],|=<>*/:])
    """,
    re.ASCII | re.VERBOSE,
)
# A regular expression without any sign of one, or with the one that makes capitals and small letters the same.
LITERAL = re.compile(r"(?:\(\?i\))?([A-Za-z0-9 _:=@-]+)", re.ASCII)
_ESCAPED = re.compile(r"\\(.)")
_PART = re.compile(r"(\d+)(ms|[smhdw])", re.ASCII)
_MILLIS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
LONGEST = 4000


class Refused(Exception):
    """The text is not of the one shape that is understood."""


@dataclass(frozen=True)
class Token:
    """A piece of a query. A string's text is what stands between its quotes."""

    kind: str
    text: str


def cut(text: str, *, with_regex: bool = False) -> list[Token]:
    """The pieces of a text. Raises Refused for anything else in it, comments and unknown escapes included.

    `with_regex` reads /literal/ as one piece, where the language has no division.
    """
    if len(text) > LONGEST:
        raise Refused
    pieces, place = [], 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is not None and found.lastgroup == "regex" and not with_regex:
            found = re.compile("(?P<sign>/)").match(text, place)
        if found is None or found.lastgroup is None:
            raise Refused
        place = found.end()
        if found.lastgroup != "space":
            pieces.append(Token(found.lastgroup, _inside(found.lastgroup, found.group())))
    return pieces


def _inside(kind: str, text: str) -> str:
    if kind == "regex":
        return text[1:-1].removeprefix("(?i)")
    if kind != "string":
        return text
    return text[1:-1] if text[0] == "`" else _ESCAPED.sub(r"\1", text[1:-1])


class Cursor:
    """A walk over the pieces of a query. Every step names what may stand there; anything else raises Refused."""

    def __init__(self, pieces: Sequence[Token]) -> None:
        self._pieces, self._place = pieces, 0

    def is_next(self, text: str) -> bool:
        """Whether a sign or word stands here. The text of a string is never taken for one."""
        piece = self._here()
        return piece is not None and piece.kind in ("sign", "word") and piece.text == text

    def is_kind(self, kind: str) -> bool:
        """Whether a piece of this kind stands here."""
        piece = self._here()
        return piece is not None and piece.kind == kind

    def take(self, text: str) -> None:
        """Step over a sign or word. Raises Refused."""
        if not self.is_next(text):
            raise Refused
        self._place += 1

    def took(self, text: str) -> bool:
        """Step over a sign or word if it stands here."""
        if not self.is_next(text):
            return False
        self._place += 1
        return True

    def read(self, kind: str) -> str:
        """The text of a piece of one kind. Raises Refused."""
        piece = self._here()
        if piece is None or piece.kind != kind:
            raise Refused
        self._place += 1
        return piece.text

    def whole(self) -> int:
        """A number without a fraction. Raises Refused."""
        number = self.read("number")
        if not number.isdecimal():
            raise Refused
        return int(number)

    def end(self) -> None:
        """Raises Refused unless everything was read."""
        if self._here() is not None:
            raise Refused

    def _here(self) -> Token | None:
        return self._pieces[self._place] if self._place < len(self._pieces) else None


def milliseconds(duration: str) -> int:
    """How long a duration such as 90s, 1h30m is. Raises Refused."""
    parts = _PART.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise Refused
    return sum(int(number) * _MILLIS[unit] for number, unit in parts)
