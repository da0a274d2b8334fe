"""The lines of a unified diff as a page shows them: numbered, with a sign and a word, and with what changed in them.

Color only helps: whoever sees none of it reads the sign, and whoever hears the page hears the word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", re.ASCII)
LEAST_COMMON = 0.4  # of a line, for its change to be marked in it
KINDS = {"+": "add", "-": "del", "@": "gap"}


@dataclass(frozen=True)
class Row:
    """One line. Of a changed line `middle` is what is new or gone; of any other, `before` is the whole of it."""

    kind: str  # add, del, dim: it stays; gap: lines that stay are left out
    number: int | None  # in the newer text, or in the older one where the line is gone
    before: str
    middle: str = ""
    after: str = ""


def rows(lines: Sequence[str]) -> list[Row]:
    """The rows of a diff. Text without the header of a hunk has no numbers."""
    numbered = list(_numbered(lines))
    found: list[Row] = []
    for is_change, run in groupby(numbered, key=lambda one: one[0] in ("add", "del")):
        same = list(run)
        found += _changed(same) if is_change else [Row(*one) for one in same]
    # Nothing was left out before the first line of a text.
    return found[1:] if found and found[0] == Row("gap", 1, "") else found


def _numbered(lines: Sequence[str]) -> Iterator[tuple[str, int | None, str]]:
    older = newer = None
    for line in lines:
        kind, hunk = KINDS.get(line[:1], "dim"), HUNK.match(line)
        if hunk is not None:
            older, newer = int(hunk[1]), int(hunk[2])
            yield "gap", max(newer, 1), ""
            continue
        yield kind, older if kind == "del" else newer, line[1:]
        older = older + 1 if older is not None and kind != "add" else older
        newer = newer + 1 if newer is not None and kind != "del" else newer


def _changed(run: Sequence[tuple[str, int | None, str]]) -> Iterator[Row]:
    """Lines that are gone and those in their place. As many of both: each is held against its counterpart."""
    gone = [one for one in run if one[0] == "del"]
    come = [one for one in run if one[0] == "add"]
    if len(gone) != len(come):
        yield from (Row(*one) for one in run)
        return
    yield from (_against(one, other) for one, other in zip(gone, come, strict=True))
    yield from (_against(one, other) for one, other in zip(come, gone, strict=True))


def _against(one: tuple[str, int | None, str], other: tuple[str, int | None, str]) -> Row:
    kind, number, text = one
    start = _alike(text, other[2])
    end = _alike(text[start:][::-1], other[2][start:][::-1])
    common = len(text[:start].strip()) + len(text[len(text) - end :].strip())
    if common < len(text.strip()) * LEAST_COMMON:  # another line, and not this one changed
        return Row(kind, number, text)
    return Row(kind, number, text[:start], text[start : len(text) - end], text[len(text) - end :])


def _alike(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
