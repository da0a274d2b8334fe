"""Label matchers as Prometheus, Loki and Alertmanager write them: {namespace="billing", job_name="export"}."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gate.triage.grammars.tokens import Cursor, Refused, cut

_CODES = frozenset(("code", "status", "status_code", "http_status_code", "response_code"))
_OF_ERRORS = frozenset(("5..", "5.*", "5.+", "5xx", "^5..$", "5[0-9]{2}", "5\\d\\d"))
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Matcher:
    """One condition on a label; a regular expression is none that could be understood."""

    label: str
    operator: str  # "=" or "!="; "=~" for the status codes of errors alone
    value: str


def within_braces(cursor: Cursor) -> tuple[Matcher, ...]:
    """The matchers between { and }. Raises Refused."""
    cursor.take("{")
    found: list[Matcher] = []
    while not cursor.took("}"):
        if found:
            cursor.take(",")
            if cursor.took("}"):
                break
        found.append(_matcher(cursor))
    return tuple(found)


def parse(text: str) -> Matcher | None:
    """One matcher as a filter of Alertmanager: alertname="Down". None when it is anything else."""
    try:
        cursor = Cursor(cut(text))
        matcher = _matcher(cursor)
        cursor.end()
    except Refused:
        return None
    return matcher if matcher.operator in ("=", "!=") else None


def _matcher(cursor: Cursor) -> Matcher:
    label = cursor.read("word")
    if _LABEL.fullmatch(label) is None:
        raise Refused
    if cursor.took("="):
        return Matcher(label, "=", cursor.read("string"))
    if cursor.took("!="):
        return Matcher(label, "!=", cursor.read("string"))
    return _of_errors(label, cursor)


def _of_errors(label: str, cursor: Cursor) -> Matcher:
    """The one regular expression that is understood: the status codes of failed requests."""
    cursor.take("=~")
    value = cursor.read("string")
    if label not in _CODES or value not in _OF_ERRORS:
        raise Refused
    return Matcher(label, "=~", value)
