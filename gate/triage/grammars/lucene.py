"""Lucene query strings and KQL, as far as they are terms joined by AND: namespace:"billing" AND message:"ETIMEDOUT"."""

from __future__ import annotations

import re

from gate.triage.grammars.documents import Collected
from gate.triage.grammars.tokens import LONGEST, Refused

_TERM = re.compile(
    r"""
    \s*(?P<field>[A-Za-z_@][A-Za-z0-9_.@/-]*)\s*:\s*
    (?: "(?P<phrase>[^"\\]+)"
      | \[\s*(?P<begins>[^\s\]]+)\s+TO\s+(?P<ends>[^\s\]]+)\s*[\]}]
      | (?P<word>[A-Za-z0-9_.-]+) )
    (?:\s*$|\s+(?:AND|and)\s+)
    """,
    re.ASCII | re.VERBOSE,
)
_OPERATORS = frozenset(("AND", "OR", "NOT", "and", "or", "not", "TO"))


def collect(text: str, told: Collected) -> None:
    """Add the demands of a query string. Raises Refused for one of any other shape, wildcards and ranges included."""
    place = 0
    if text.strip() == "" or len(text) > LONGEST:
        raise Refused
    while place < len(text):
        found = _TERM.match(text, place)
        if found is None:
            raise Refused
        place = found.end()
        _one(found, told)
    if text.rstrip().endswith((" AND", " and")):
        raise Refused


def _one(found: re.Match[str], told: Collected) -> None:
    name = found["field"]
    if found["begins"] is not None:
        told.demand_time(name, found["begins"].strip('"'), is_begin=True)
        told.demand_time(name, found["ends"].strip('"'), is_begin=False)
        return
    value = found["phrase"] if found["phrase"] is not None else found["word"]
    if value in _OPERATORS:
        raise Refused
    told.demand(name, value, is_exact=False)
