"""ES|QL, as far as it counts lines: FROM logs-* | WHERE … AND … | STATS count = COUNT(*). Nothing else is read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.triage.grammars.documents import Collected, Demands
from gate.triage.grammars.fields import TIMES
from gate.triage.grammars.tokens import Cursor, Refused, cut

_FROM = re.compile(r"\s*(?:FROM|from)\s+([A-Za-z0-9._*-]{1,200})\s*\|(.*)", re.ASCII | re.DOTALL)
_CONTAINS = re.compile(r"\*([^*?\\]+)\*")


@dataclass(frozen=True)
class CountQuery:
    """What a query counts. Whether the very last instant belongs to the window (`<`, `<=`) makes no difference."""

    index: str
    demands: Demands
    column: str


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
        _condition(cursor, told)
        while _took(cursor, "and"):
            _condition(cursor, told)
        cursor.take("|")
    column = _count(cursor)
    return CountQuery(index, told.closed(), column)


def _condition(cursor: Cursor, told: Collected) -> None:
    name = cursor.read("word")
    if name in TIMES:
        _time(cursor, name, told)
    elif name.endswith(":"):  # the match operator, written without a space
        told.demand(name[:-1], cursor.read("string"), is_exact=False)
    elif cursor.took(":"):
        told.demand(name, cursor.read("string"), is_exact=False)
    elif _took(cursor, "like"):
        told.demand(name, _contained(cursor.read("string")), is_exact=False)
    else:
        cursor.take("==")
        told.demand(name, cursor.read("string"), is_exact=True)


def _time(cursor: Cursor, name: str, told: Collected) -> None:
    is_begin = cursor.took(">=")
    if not is_begin and not cursor.took("<"):
        cursor.take("<=")
    told.demand_time(name, cursor.read("string"), is_begin=is_begin, units=frozenset())


def _contained(text: str) -> str:
    found = _CONTAINS.fullmatch(text)
    if found is None:
        raise Refused
    return found[1]


def _count(cursor: Cursor) -> str:
    if not _took(cursor, "stats"):
        raise Refused
    column = "COUNT(*)"
    if not (cursor.is_next("COUNT") or cursor.is_next("count")):
        column = cursor.read("word")
        cursor.take("=")
    if not _took(cursor, "count"):
        raise Refused
    cursor.take("(")
    cursor.take("*")
    cursor.take(")")
    return column


def _took(cursor: Cursor, keyword: str) -> bool:
    return cursor.took(keyword.upper()) or cursor.took(keyword)
