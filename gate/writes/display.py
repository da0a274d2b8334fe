"""A canonical statement for the eye: exactly its text, with lines broken and keywords marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import postgast

BREAKS = frozenset({"SET", "FROM", "USING", "WHERE", "VALUES", "SELECT", "UNION", "GROUP_P", "ORDER", "LIMIT"})
NO_BREAK_AFTER = frozenset({"DELETE_P", "DISTINCT"})  # DELETE FROM, IS DISTINCT FROM
MARKED = frozenset({"UPDATE", "INSERT", "DELETE_P", "SET", "VALUES"})
RESERVED = 4
MARGIN = 6  # the keywords that start a line end in one column


@dataclass(frozen=True)
class Part:
    """A piece of a line."""

    text: str
    is_keyword: bool


@dataclass(frozen=True)
class Line:
    """One line; its indent is the only thing that is not in the statement."""

    indent: str
    parts: list[Part]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def lines(statement: str) -> list[Line]:
    """The lines of a canonical statement. Joined by one space each, they are the statement."""
    raw = statement.encode()
    tokens = list(postgast.scan(statement).tokens)
    starts = [0, *_breaks(tokens), len(raw)]
    return [_line(raw, tokens, start, end) for start, end in pairwise(starts)]


def _breaks(tokens: list[Any]) -> Iterator[int]:
    depth, before = 0, ""
    for place, token in enumerate(tokens):
        name = _name(token)
        if place and depth == 0 and name in BREAKS and before not in NO_BREAK_AFTER:
            yield token.start
        depth += {"ASCII_40": 1, "ASCII_41": -1}.get(name, 0)
        before = name


def _line(raw: bytes, tokens: list[Any], start: int, end: int) -> Line:
    parts, at = [], start
    for token in tokens:
        if start <= token.start < end and _is_marked(token):
            parts += [Part(raw[at : token.start].decode(), False), Part(raw[token.start : token.end].decode(), True)]
            at = token.end
    rest = raw[at:end].decode()
    # The space before a break gives way to it; at the end of the statement there is none.
    parts.append(Part(rest if end == len(raw) else rest.removesuffix(" "), False))
    kept = [part for part in parts if part.text]
    indent = MARGIN - len(kept[0].text) if start else 0
    return Line(" " * max(indent, 0), kept)


def _is_marked(token: Any) -> bool:
    return token.keyword_kind == RESERVED or _name(token) in MARKED


def _name(token: Any) -> str:
    return str(postgast.pg_query_pb2.Token.Name(token.token))
