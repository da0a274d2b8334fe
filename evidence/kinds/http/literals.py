"""Arguments in a fixed PromQL or LogQL query: each becomes one string literal, which it cannot leave.

A placeholder is `$name`, and stands where a label's value or the text of a line filter stands: behind `=`, `!=` or
`|=`. Behind anything else (regular expressions, templates, comparisons) its text would be read as more than a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.errors import Refused
from evidence.kinds.http import encoding

LONGEST_QUERY = 5_000  # characters
# Strings of both languages: quoted as in Go, or raw between backticks; and comments.
_PIECES = re.compile(
    r""" (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `[^`]*` )
       | (?P<comment> \#[^\n]* )
       | \$(?P<name> [a-z][a-z0-9_]* )
       | (?P<other> [^"'`\#$]+ )
       | (?P<wrong> . )""",
    re.X | re.S,
)
_TEXT_FOLLOWS = re.compile(r"(?:^|[^=<>~!|])(?:=|!=|\|=)\s*\Z")
# What takes its text for a template, wherever that stands in the query.
_TEMPLATES = re.compile(r"\b(?:label_format|line_format|label_replace|label_join)\b")


@dataclass(frozen=True)
class Placeholder:
    """Where an argument's literal goes."""

    name: str


Piece = str | Placeholder


def pieces(query: str) -> list[Piece]:
    """The query as its fixed parts and its placeholders. Raises ValueError with a sentence."""
    if not isinstance(query, str) or not 0 < len(query) <= LONGEST_QUERY:
        raise ValueError(f"A query is a text of at most {LONGEST_QUERY:,} characters.")
    found = list(_pieces(query))
    if any(isinstance(piece, Placeholder) for piece in found) and _TEMPLATES.search(query):
        raise ValueError("A query with placeholders has no template in it (label_format, line_format, label_replace).")
    return found


def _pieces(query: str) -> Iterator[Piece]:
    before = ""
    for match in _PIECES.finditer(query):
        if match["wrong"]:
            raise ValueError("The query has a text that does not end, or a $ that begins no placeholder.")
        if match["name"] and not _TEXT_FOLLOWS.search(before):
            raise ValueError(f"${match['name']} does not stand behind =, != or |=, where the text of a label does.")
        yield Placeholder(match["name"]) if match["name"] else match[0]
        before = match[0] if match["other"] else "value"


def names(query: str) -> set[str]:
    """The arguments that the query's placeholders name. Raises ValueError."""
    return {piece.name for piece in pieces(query) if isinstance(piece, Placeholder)}


def filled(query: str, given: Mapping[str, Any]) -> str:
    """The query with the arguments in their places. Raises Refused for one that is missing or cannot be a literal."""
    return "".join(
        literal(given.get(piece.name)) if isinstance(piece, Placeholder) else piece for piece in pieces(query)
    )


def literal(value: Any) -> str:
    """A value as a string literal of PromQL and LogQL, which take theirs from Go.

    An empty text is refused: it would match everything that lacks the label.
    """
    text = encoding.text(value)
    if text == "":
        raise Refused("parameters", "An argument that stands for a label's value is not empty.")
    # What would have to be written as an escape besides these two is no text that encoding lets through.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
