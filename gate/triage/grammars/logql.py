"""LogQL, as far as it counts lines: sum(count_over_time({…} |= "text" [6h])) or vector(0). Nothing else is read."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.grammars import labels
from gate.triage.grammars.tokens import LITERAL, Cursor, Refused, cut, milliseconds

# What stands for "the whole asked window": a tool or dashboard puts the duration in.
WHOLE_WINDOW = frozenset(("window", "$__range"))


@dataclass(frozen=True)
class LineQuery:
    """What a query looks for."""

    selector: frozenset[tuple[str, str]]
    patterns: tuple[str, ...]  # texts that a line must contain, all of them
    is_count: bool  # counted at the source; otherwise it lists lines
    has_zero: bool  # an empty count is answered as 0
    range_ms: int | None  # how far back the count looks; None: the whole asked window


def parse(text: str) -> LineQuery | None:
    """The query that a text says; None when it is of another shape."""
    try:
        cursor = Cursor(cut(text))
        query = _lines(cursor) if cursor.is_next("{") else _count(cursor)
        cursor.end()
    except Refused:
        return None
    return query


def _lines(cursor: Cursor) -> LineQuery:
    selector, patterns = _stream(cursor)
    return LineQuery(selector, patterns, is_count=False, has_zero=False, range_ms=None)


def _count(cursor: Cursor) -> LineQuery:
    is_sum = cursor.took("sum")
    if is_sum:
        cursor.take("(")
    cursor.take("count_over_time")
    cursor.take("(")
    selector, patterns = _stream(cursor)
    range_ms = _range(cursor)
    cursor.take(")")
    if is_sum:
        cursor.take(")")
    return LineQuery(selector, patterns, is_count=True, has_zero=_or_zero(cursor), range_ms=range_ms)


def _stream(cursor: Cursor) -> tuple[frozenset[tuple[str, str]], tuple[str, ...]]:
    matchers = labels.within_braces(cursor)
    if not matchers or any(matcher.operator != "=" for matcher in matchers):
        raise Refused
    if len({matcher.label for matcher in matchers}) != len(matchers):
        raise Refused
    patterns = []
    while cursor.is_next("|=") or cursor.is_next("|~"):
        patterns.append(cursor.read("string") if cursor.took("|=") else _literal(cursor))
    return frozenset((matcher.label, matcher.value) for matcher in matchers), tuple(patterns)


def _literal(cursor: Cursor) -> str:
    """A regular expression that is a text. Where capitals make no difference, it finds these lines and more."""
    cursor.take("|~")
    found = LITERAL.fullmatch(cursor.read("string"))
    if found is None:
        raise Refused
    return found[1]


def _range(cursor: Cursor) -> int | None:
    cursor.take("[")
    if cursor.is_kind("word"):
        if cursor.read("word") not in WHOLE_WINDOW:
            raise Refused
        range_ms = None
    else:
        range_ms = milliseconds(cursor.read("duration"))
    cursor.take("]")
    return range_ms


def _or_zero(cursor: Cursor) -> bool:
    if not cursor.took("or"):
        return False
    cursor.take("vector")
    cursor.take("(")
    if cursor.read("number") != "0":
        raise Refused
    cursor.take(")")
    return True
