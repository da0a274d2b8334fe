"""ES|QL, as far as it counts lines: FROM logs-* | WHERE … AND … | STATS n = COUNT(*). Nothing else is read.

Two counts side by side are read too, of which one counts the error among the lines that the other counts all of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.triage.grammars.documents import Collected, Demands
from gate.triage.grammars.fields import TIMES
from gate.triage.grammars.tokens import Cursor, Refused, cut

_FROM = re.compile(r"\s*(?:FROM|from)\s+([A-Za-z0-9._*-]{1,200})\s*\|(.*)", re.ASCII | re.DOTALL)
_CONTAINS = re.compile(r"\*([^*?\\]+)\*")
# Both find lines with the text; MATCH finds at least these, so that finding none of them says as much.
_TEXT_FUNCTIONS = ("match_phrase", "match")


@dataclass(frozen=True)
class Counted:
    """One count: the name of its column, and the texts that it alone looks for."""

    column: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class CountQuery:
    """What a query counts. Whether the very last instant belongs to the window (`<`, `<=`) makes no difference."""

    index: str
    demands: Demands  # of the error, wherever the query says it
    columns: tuple[str, ...]
    error: int  # which column counts the error, or every line where none is asked for
    lines: int | None  # which one counts every line beside it


def parse(text: str) -> CountQuery | None:
    """The query that a text says; None when it is of another shape."""
    found = _FROM.fullmatch(text)
    if found is None:
        return None
    try:
        cursor = Cursor(cut(found[2]))
        query = _query(found[1], cursor)
        cursor.end()
    except Refused:
        return None
    return query


def _query(index: str, cursor: Cursor) -> CountQuery:
    told = Collected()
    while _took(cursor, "where"):
        _conditions(cursor, told)
        cursor.take("|")
    counts = _counts(cursor)
    error = _counts_the_error(counts, told)
    told.patterns += counts[error].patterns
    lines = 1 - error if len(counts) == 2 else None
    _one_row(cursor)
    return CountQuery(index, told.closed(), tuple(count.column for count in counts), error, lines)


def _counts_the_error(counts: list[Counted], told: Collected) -> int:
    """Which count is of the error. Of two, one must be of every line, none of which the query has left out before."""
    if len(counts) == 1:
        return 0
    narrowed = [number for number, count in enumerate(counts) if count.patterns]
    if len(counts) != 2 or len(narrowed) != 1 or told.patterns or counts[0].column == counts[1].column:
        raise Refused
    return narrowed[0]


def _conditions(cursor: Cursor, told: Collected) -> None:
    _condition(cursor, told)
    while _took(cursor, "and"):
        _condition(cursor, told)


def _condition(cursor: Cursor, told: Collected) -> None:
    if cursor.took("("):
        _conditions(cursor, told)
        cursor.take(")")
        return
    name = cursor.read("word")
    if name in TIMES:
        _time(cursor, name, told)
    elif name.lower() in _TEXT_FUNCTIONS and cursor.took("("):
        _call(cursor, told)
    elif name.endswith(":"):  # the match operator, written without a space
        told.demand(name[:-1], cursor.read("string"), is_exact=False)
    elif cursor.took(":"):
        told.demand(name, cursor.read("string"), is_exact=False)
    elif _took(cursor, "like"):
        told.demand(name, _contained(cursor.read("string")), is_exact=False)
    else:
        cursor.take("==")
        told.demand(name, cursor.read("string"), is_exact=True)


def _call(cursor: Cursor, told: Collected) -> None:
    """A field and a text. Options would change what is found."""
    name = cursor.read("word")
    cursor.take(",")
    told.demand(name, cursor.read("string"), is_exact=False)
    cursor.take(")")


def _time(cursor: Cursor, name: str, told: Collected) -> None:
    is_begin = cursor.took(">=")
    if not is_begin and not cursor.took("<"):
        cursor.take("<=")
    told.demand_time(name, _moment(cursor), is_begin=is_begin, units=frozenset())


def _moment(cursor: Cursor) -> str:
    if not _took(cursor, "to_datetime"):
        return cursor.read("string")
    cursor.take("(")
    text = cursor.read("string")
    cursor.take(")")
    return text


def _contained(text: str) -> str:
    found = _CONTAINS.fullmatch(text)
    if found is None:
        raise Refused
    return found[1]


def _counts(cursor: Cursor) -> list[Counted]:
    if not _took(cursor, "stats"):
        raise Refused
    counts = [_count(cursor)]
    while cursor.took(","):
        counts.append(_count(cursor))
    return counts


def _count(cursor: Cursor) -> Counted:
    """COUNT(*), with or without a name, and with the name also of a part of the lines: the unnamed is named by all."""
    word, name = cursor.read("word"), None
    if cursor.took("="):
        word, name = cursor.read("word"), word
    if word not in ("COUNT", "count"):
        raise Refused
    cursor.take("(")
    inside = "*" if cursor.took("*") else ""
    cursor.take(")")
    counted = Collected()
    if name is not None and _took(cursor, "where"):
        _conditions(cursor, counted)
        if counted.selector or counted.begins or counted.ends or len(counted.patterns) != 1:
            raise Refused
    return Counted(f"{word}({inside})" if name is None else name, tuple(counted.patterns))


def _one_row(cursor: Cursor) -> None:
    """A limit on rows, of which there is one."""
    if cursor.took("|") and (not _took(cursor, "limit") or cursor.whole() < 1):
        raise Refused


def _took(cursor: Cursor, keyword: str) -> bool:
    return cursor.took(keyword.upper()) or cursor.took(keyword)
