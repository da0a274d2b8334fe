"""A query of CloudWatch Logs Insights, read command by command against a closed list. What is not listed is refused.

Left out on purpose: SOURCE, which chooses other log groups than those that were asked for; unmask, which shows what a
data protection policy hides; and anomaly, diff and pattern, which sample and guess.
Source: the Logs Insights query language reference of CloudWatch Logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

LONGEST = 10_000  # characters; the service takes no more
COMMANDS = frozenset(("fields", "display", "filter", "stats", "sort", "limit", "parse", "dedup"))
# A text in quotes, a name in backquotes, a word, spaces, or one sign. A # begins a comment, which is no piece.
_PIECE = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|[A-Za-z_@][A-Za-z0-9_@.]*|\s+|[^\s'"`#;]""", re.ASCII
)
_EXPRESSION = re.compile(r"/(?:\\.|[^/\\\r\n])+/")
# Looked for in the whole text, so that it does not matter how the service reads quotes.
_HIDDEN = re.compile(r"\bunmask\s*\(|\bsource\s+\w+\s*\(", re.IGNORECASE)


def check(query: Any) -> None:
    """Raise ValueError with a sentence unless every command of the query is listed."""
    if not isinstance(query, str) or not 0 < len(query) <= LONGEST:
        raise ValueError(f"A query is a text of at most {LONGEST:,} characters.")
    hidden = _HIDDEN.search(query)
    if hidden is not None:
        raise ValueError(f"{hidden[0][:40]} is not read here, not even in a text.")
    for command in _commands(query):
        name = command[0].lower() if command else ""
        if name not in COMMANDS:
            listed = ", ".join(sorted(COMMANDS))
            raise ValueError(f"{name[:40] or 'nothing'} is none of the commands that are read here: {listed}.")


def _commands(query: str) -> Iterator[list[str]]:
    """The pieces of each command between the bars, of which those in a text or an expression are none."""
    pieces: list[str] = []
    place = 0
    while place < len(query):
        found = _EXPRESSION.match(query, place) if _may_be_expression(pieces) else None
        found = found or _PIECE.match(query, place)
        if found is None:
            raise ValueError(f"The query cannot be read from here on: {query[place : place + 40]}")
        place = found.end()
        if found[0] == "|":
            yield pieces
            pieces = []
        elif not found[0].isspace():
            pieces.append(found[0])
    yield pieces


def _may_be_expression(before: list[str]) -> bool:
    """Whether a slash begins a regular expression: behind `like` and `=~`, or a field of `parse`. Else it divides."""
    if not before:
        return False
    is_parsed = before[0].lower() == "parse" and len(before) == 2
    return is_parsed or before[-1].lower() == "like" or before[-2:] == ["=", "~"]
