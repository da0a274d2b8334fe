"""What changed since the previous call of the same tool with the same arguments."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from audit import marked_json
from audit.kinds import Kind
from audit.models import Entry
from audit.reading import Content

LOOKED_AT = 50  # the latest calls of the tool; a same call further back is not looked for
MOST_LINES = 2000  # longer results are not compared on a page


@dataclass(frozen=True)
class Comparison:
    """The previous same call, and the lines that differ."""

    entry: Entry
    lines: list[str]
    note: str = ""


def earlier(entry: Entry) -> QuerySet[Entry] | None:
    """The latest calls of its tool before a call; None for an entry that is none."""
    if entry.kind != Kind.CALL_FINISHED:
        return None
    calls = Entry.objects.filter(kind=Kind.CALL_FINISHED, tool=entry.tool, seq__lt=entry.seq)
    return calls.order_by("-seq")[:LOOKED_AT]


def likely(entry: Entry, calls: Iterable[Entry]) -> list[Entry]:
    """Those of them that may be the same call."""
    return [one for one in calls if one.args_bytes == entry.args_bytes]


def since_previous(content: Content, calls: list[Entry], contents: Mapping[UUID, Content]) -> Comparison | None:
    """How the result differs from the previous same call's, or None when there is none among the likely ones."""
    for one in calls if content.is_readable else ():
        before = contents[one.pk]
        if before.is_readable and before.args == content.args:
            return _compare(one, before, content)
    return None


def _compare(entry: Entry, before: Content, after: Content) -> Comparison:
    if before.result_raw == after.result_raw:
        return Comparison(entry, [], "The result is the same, byte for byte.")
    old, new = ([str(line) for line in marked_json.lines(content.result)] for content in (before, after))
    if max(len(old), len(new)) > MOST_LINES:
        return Comparison(entry, [], "The results differ and are too long to be compared here.")
    changed = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
    lines = [line for line in changed if not line.startswith("@@")]
    return Comparison(entry, lines, "" if lines else "The results differ in their bytes and read the same.")
