"""PromQL, as far as it shows one metric of one subject: selectors inside rate, avg and the like, and a ratio of two.

Offsets, @, subqueries, comparisons, `or`, regular expressions and calculations with other numbers are not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gate.triage.grammars import labels
from gate.triage.grammars.labels import Matcher
from gate.triage.grammars.tokens import Cursor, Refused, cut, milliseconds

_METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*", re.ASCII)
_AGGREGATIONS = frozenset(("sum", "avg", "max", "min"))
_FUNCTIONS = frozenset(
    ("rate", "irate", "increase", "avg_over_time", "max_over_time", "min_over_time", "last_over_time")
)
_KEYWORDS = frozenset(("by", "without", "offset", "or", "and", "unless", "bool", "on", "ignoring", "group_left"))
QUANTILE = "histogram_quantile"
_HIGH_QUANTILES = frozenset(("0.9", "0.90", "0.95", "0.98", "0.99", "0.995", "0.999", "1"))
_DEEPEST = 8
# In a record, three points stand for a part that was left out. A live server answers such a query with an error.
LEFT_OUT = "..."


@dataclass(frozen=True)
class Selector:
    """The series of a metric that match."""

    metric: str
    matchers: tuple[Matcher, ...]


@dataclass
class Expression:
    """What an expression is made of."""

    selectors: list[Selector] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)  # how many samples become one: avg, max_over_time, …
    longest_ms: int = 0  # the longest time that one value looks back
    is_ratio: bool = False
    is_percent: bool = False
    is_abridged: bool = False


def parse(text: str) -> Expression | None:
    """What an expression says; None when it is of another shape."""
    told = Expression()
    try:
        cursor = Cursor(cut(text))
        _scaled(cursor, told)
        cursor.end()
        _check_errors(told)
    except Refused:
        return None
    return told


def _check_errors(told: Expression) -> None:
    """Status codes of errors may be demanded of what is divided: failed requests by all requests of the same metric."""
    chosen = [any(matcher.operator == "=~" for matcher in selector.matchers) for selector in told.selectors]
    if not any(chosen):
        return
    names = {selector.metric for selector in told.selectors}
    if not told.is_ratio or chosen != [True, False] or len(names) != 1:
        raise Refused


def _scaled(cursor: Cursor, told: Expression) -> None:
    """A value, or a ratio in percent: 100 * a / b, a / b * 100."""
    if cursor.is_kind("number"):
        _hundred(cursor, told)
        cursor.take("*")
    _ratio(cursor, told, 0)
    if cursor.took("*"):
        _hundred(cursor, told)
    if told.is_percent and not told.is_ratio:
        raise Refused


def _hundred(cursor: Cursor, told: Expression) -> None:
    if told.is_percent or cursor.read("number") != "100":
        raise Refused
    told.is_percent = True


def _ratio(cursor: Cursor, told: Expression, depth: int) -> None:
    _value(cursor, told, depth)
    if cursor.took("/"):
        told.is_ratio = True
        _value(cursor, told, depth)


def _value(cursor: Cursor, told: Expression, depth: int) -> None:
    if depth > _DEEPEST:
        raise Refused
    if cursor.took("("):
        _ratio(cursor, told, depth + 1)
        cursor.take(")")
        return
    if cursor.took(LEFT_OUT):
        told.is_abridged = True
        if not cursor.is_kind("word"):
            return
    if cursor.is_next("{"):
        told.selectors.append(_without_name(cursor))
        return
    name = cursor.read("word")
    if name in _AGGREGATIONS:
        _aggregated(cursor, name, told, depth)
    elif name in _FUNCTIONS:
        _over_time(cursor, name, told)
    elif name == QUANTILE:
        _of_buckets(cursor, told, depth)
    else:
        told.selectors.append(_selector(cursor, name))


def _aggregated(cursor: Cursor, name: str, told: Expression, depth: int) -> None:
    told.taken.add(name)
    has_by = _by(cursor)
    cursor.take("(")
    _ratio(cursor, told, depth + 1)
    cursor.take(")")
    if not has_by:
        _by(cursor)


def _of_buckets(cursor: Cursor, told: Expression, depth: int) -> None:
    """histogram_quantile(0.99, sum by (le, …) (rate(…_bucket[5m]))). A low quantile leaves out what is slow."""
    told.taken.add(QUANTILE)
    cursor.take("(")
    if cursor.read("number") not in _HIGH_QUANTILES:
        raise Refused
    cursor.take(",")
    _value(cursor, told, depth + 1)
    cursor.take(")")


def _by(cursor: Cursor) -> bool:
    if not cursor.took("by"):
        return False
    cursor.take("(")
    cursor.read("word")
    while cursor.took(","):
        cursor.read("word")
    cursor.take(")")
    return True


def _over_time(cursor: Cursor, name: str, told: Expression) -> None:
    told.taken.add(name)
    cursor.take("(")
    if cursor.took(LEFT_OUT):
        told.is_abridged = True
    else:
        told.selectors.append(_without_name(cursor) if cursor.is_next("{") else _selector(cursor, cursor.read("word")))
        cursor.take("[")
        told.longest_ms = max(told.longest_ms, milliseconds(cursor.read("duration")))
        cursor.take("]")
    cursor.take(")")


def _selector(cursor: Cursor, name: str) -> Selector:
    if _METRIC.fullmatch(name) is None or name in _KEYWORDS:
        raise Refused
    return Selector(name, labels.within_braces(cursor) if cursor.is_next("{") else ())


def _without_name(cursor: Cursor) -> Selector:
    """A selector whose metric stands among its labels: {__name__="up", job="api"}."""
    matchers = labels.within_braces(cursor)
    named = [matcher.value for matcher in matchers if (matcher.label, matcher.operator) == ("__name__", "=")]
    if len(named) != 1:
        raise Refused
    return Selector(named[0], tuple(matcher for matcher in matchers if matcher.label != "__name__"))
