"""CloudWatch Logs Insights, as far as it looks for a text: fields, filter @message like /ERROR/, stats count(*)."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.grammars.tokens import Cursor, Refused, cut

MESSAGE = "@message"


@dataclass(frozen=True)
class InsightsQuery:
    """What a query looks for."""

    selector: frozenset[tuple[str, str]]  # fields that must have a value
    patterns: tuple[str, ...]  # texts that the message must contain
    count_field: str | None  # the column of the count; None: it lists events
    limit: int | None


def parse(text: str) -> InsightsQuery | None:
    """The query that a text says; None when it is of another shape."""
    try:
        cursor = Cursor(cut(text, with_regex=True))
        query = _query(cursor)
        cursor.end()
    except Refused:
        return None
    return query


def _query(cursor: Cursor) -> InsightsQuery:
    selector: list[tuple[str, str]] = []
    patterns: list[str] = []
    count_field: str | None = None
    limit: int | None = None
    while True:
        # After a count nothing but the number of rows may follow: a filter there would look at the count.
        if count_field is None and cursor.took("fields"):
            _fields(cursor)
        elif count_field is None and cursor.took("filter"):
            _filter(cursor, selector, patterns)
        elif count_field is None and cursor.took("sort"):
            _sort(cursor)
        elif count_field is None and cursor.took("stats"):
            count_field = _count(cursor)
        elif limit is None and cursor.took("limit"):
            limit = cursor.whole()
        else:
            raise Refused
        if not cursor.took("|"):
            break
    if len({field for field, _ in selector}) != len(selector) or limit == 0:
        raise Refused
    return InsightsQuery(frozenset(selector), tuple(patterns), count_field, limit)


def _fields(cursor: Cursor) -> None:
    cursor.read("word")
    while cursor.took(","):
        cursor.read("word")


def _sort(cursor: Cursor) -> None:
    cursor.read("word")
    if not cursor.took("desc"):
        cursor.took("asc")


def _filter(cursor: Cursor, selector: list[tuple[str, str]], patterns: list[str]) -> None:
    while True:
        field = cursor.read("word")
        if field == MESSAGE:
            cursor.take("like")
            patterns.append(cursor.read("regex") if cursor.is_kind("regex") else cursor.read("string"))
        else:
            cursor.take("=")
            selector.append((field, cursor.read("string")))
        if not cursor.took("and"):
            return


def _count(cursor: Cursor) -> str:
    cursor.take("count")
    cursor.take("(")
    inside = "*" if cursor.took("*") else MESSAGE if cursor.took(MESSAGE) else ""
    cursor.take(")")
    return cursor.read("word") if cursor.took("as") else f"count({inside})"
