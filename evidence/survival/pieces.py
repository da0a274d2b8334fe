"""The finer measure's units: JSON leaves, lines of logs and tables, list items and sentences, with their places.

Offsets count code points of the text as it was stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from evidence.survival.json_leaves import leaves_of
from evidence.survival.words import STOP_WORDS, words_of

# A word with the marks that belong to its letters, as it stands in the raw text.
RAW_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+(?:[.-](?:[^\W_][\u0300-\u036f]*)+)*")
# Scripts that put no blanks between words: pairs of neighboring signs stand in for words.
UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
LINE = re.compile(r"[^\n]+")
ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
ROW = re.compile(r"\||\t|,\S[^,]*,|\S {2,}\S.* {2,}\S")
LOG = re.compile(r"\s*\[?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[IWEF]\d{4} |(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b)")
# A sentence ends at white space after a stop, and right after one of those that take none.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|(?<=[。！？｡])")


MOST = 20_000  # units of one text
LONGEST = 4_000  # characters of a unit that is no leaf


class Token(NamedTuple):
    """A word and where it stands."""

    word: str
    start: int
    end: int


class Piece(NamedTuple):
    """A unit: `kind` is leaf, log, row, item or sentence; `path` is a leaf's JSON pointer."""

    kind: str
    start: int
    end: int
    path: str | None = None


def tokens_of(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The words of a part of a text with their places, in the compatible form."""
    for found in RAW_WORD.finditer(text, start, len(text) if end is None else end):
        for run in _runs(found[0]):
            for at, until, is_pair in run:
                for word in words_of(found[0][at:until]) if not is_pair else [found[0][at:until]]:
                    yield Token(word, found.start() + at, found.start() + until)


def informative_words(text: str, start: int = 0, end: int | None = None) -> frozenset[str]:
    """The distinct words of a part of a text that are no stop words."""
    return frozenset(token.word for token in tokens_of(text, start, end)) - STOP_WORDS


def pieces_of(text: str, most: int = MOST) -> list[Piece]:
    """The units of any text, at most so many. One that has no letter or digit is none."""
    leaves = leaves_of(text, most)
    if leaves is not None:
        return [Piece("leaf", leaf.start, leaf.end, leaf.pointer) for leaf in leaves if leaf.end > leaf.start]
    return list(islice(_of_lines(text), most))


def _of_lines(text: str) -> Iterator[Piece]:
    for line in LINE.finditer(text):
        yield from _of_line(text, line.start(), line.end())


def _of_line(text: str, start: int, end: int) -> Iterator[Piece]:
    line = text[start:end]
    item = ITEM.match(line)
    if item:
        start += item.end()
    kind = "log" if LOG.match(line) else "row" if ROW.search(line) and not item else None
    if kind:
        yield from _trimmed(kind, text, start, end)
        return
    at = start
    for cut in SENTENCE_END.finditer(text, start, end):
        yield from _trimmed("item" if item else "sentence", text, at, cut.start())
        at = cut.end()
    yield from _trimmed("item" if item else "sentence", text, at, end)


def _trimmed(kind: str, text: str, start: int, end: int) -> Iterator[Piece]:
    while end - start > LONGEST:
        # Without a stop anywhere, it is cut at a blank: what is met of it is to be found again by a reader.
        blank = text.rfind(" ", start + 1, start + LONGEST)
        cut = blank if blank > start else start + LONGEST
        yield from _trimmed(kind, text, start, cut)
        start = cut
    whole = text[start:end]
    stripped = whole.strip()
    if any(sign.isalnum() for sign in stripped):
        start += len(whole) - len(whole.lstrip())
        yield Piece(kind, start, start + len(stripped))


def _runs(word: str) -> Iterator[list[tuple[int, int, bool]]]:
    """The parts of a raw word: spaced script as it is, unspaced script in pairs."""
    at = 0
    for run in UNSPACED.finditer(word):
        if run.start() > at:
            yield [(at, run.start(), False)]
        pairs = range(run.start(), max(run.start() + 1, run.end() - 1))
        yield [(number, min(number + 2, run.end()), True) for number in pairs]
        at = run.end()
    if at < len(word):
        yield [(at, len(word), False)]
