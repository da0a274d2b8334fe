"""What a tool's SQL makes up by itself: the names it gives and the texts it answers; and the columns it only reads.

Read by tokens and not by a grammar, for each kind of source has its own. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/"  # comments
    r"|'(?P<text>(?:[^']|'')*)'"
    r"|\"(?P<quoted>(?:[^\"]|\"\")*)\"|`(?P<ticked>[^`]*)`"
    r"|(?P<word>[^\W\d]\w*)|(?P<sign>[^\s])",
    re.S,
)
# A name after one of these is a column that is read. After anything else it may be the name that a value is given.
BEFORE_A_COLUMN = {
    *",(.=<>!+-*/%|", "select", "distinct", "by", "where", "and", "or", "not", "on", "having", "case", "when", "then",
    "else", "between", "like", "in",
}  # fmt: skip
COMPARING = {*"=<>", "like", "ilike", "in", "between", "similar", "to"}


def _tokens(sql: str) -> Iterator[tuple[str, str]]:
    for found in TOKEN.finditer(sql):
        kind = found.lastgroup
        if kind is not None:
            text = found[kind]
            yield ("name", text) if kind in ("quoted", "ticked") else (kind, text)


def columns(sql: str) -> frozenset[str]:
    """The names of columns that a statement reads, in small letters."""
    before, found = "", set()
    for kind, text in _tokens(sql):
        if kind in ("word", "name") and before in BEFORE_A_COLUMN:
            found.add(text.casefold())
        before = text.casefold() if kind in ("word", "sign") else kind
    return frozenset(found)


def made_up_names(sql: str) -> Iterator[str]:
    """The names that a statement gives to what it chooses or writes itself: `case … end as name`, `'text' as name`."""
    two_before = before = ""
    for kind, text in _tokens(sql):
        if kind in ("word", "name") and before == "as" and two_before in ("end", "text"):
            yield text
        two_before, before = before, text.casefold() if kind == "word" else kind


def texts(sql: str) -> Iterator[str]:
    """The texts that a statement may answer: its literals, but for those that something is compared with."""
    before, is_listed = "", False
    for kind, text in _tokens(sql):
        if kind == "text" and not is_listed and before not in COMPARING:
            yield text.replace("''", "'")
        is_listed = (before == "in" and text == "(") or (is_listed and text != ")")
        before = text.casefold() if kind in ("word", "sign") else kind
