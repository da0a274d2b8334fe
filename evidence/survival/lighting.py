"""What to light up in two texts of which a piece of one is met in a piece of the other. Offsets count code points."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evidence.survival.atoms import atoms_of
from evidence.survival.parts import is_telling
from evidence.survival.pieces import tokens_of
from evidence.survival.words import STOP_WORDS

GAP = 3  # characters between two words that are lit as one: a blank, a comma


class Span(NamedTuple):
    """A part of a text; `end` is the first code point after it."""

    start: int
    end: int


class Segment(NamedTuple):
    """A part of a text as a page shows it. A lit one says where it stands for a browser, in UTF-16 units."""

    text: str
    is_lit: bool
    note: str = ""
    start: int = 0
    end: int = 0
    is_gap: bool = False  # a part that is left out


def lit(one: str, here: Span, other: str, there: Span, field: str | None = None) -> tuple[list[Span], list[Span]]:
    """The facts that both pieces state, and the words that both say; in each of the two texts.

    `field` is the name that the first piece stands under, which may state a unit.
    """
    facts = _facts(one, here, field) & _facts(other, there)
    words = (_words(one, here) & _words(other, there)) - STOP_WORDS
    return tuple(merged([*_of_facts(text, span, facts, name), *_of_words(text, span, words)], text)
                 for text, span, name in ((one, here, field), (other, there, None)))  # type: ignore[return-value]  # fmt: skip


def merged(spans: Iterable[Span], text: str) -> list[Span]:
    """The spans in order, those that touch or stand a blank apart as one."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end + GAP and not text[found[-1].end : span.start].strip(" ,:=\"'/_"):
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def segments(text: str, spans: Sequence[tuple[Span, str]], around: int | None = None) -> list[Segment]:
    """A text cut at its lit spans, each with a note; `around`, when given, is how much is kept beside each of them.

    Spans are in order and do not overlap.
    """
    found: list[Segment] = []
    at = 0
    pairs = [place for place, sign in enumerate(text) if ord(sign) > 0xFFFF]  # as `for_browser`, but for all spans
    for number, (span, note) in enumerate(spans):
        found += _plain(text, at, span.start, around, is_first=number == 0, is_last=False)
        start, end = (place + bisect_left(pairs, place) for place in span)
        found.append(Segment(text[span.start : span.end], True, note, start, end))
        at = span.end
    found += _plain(text, at, len(text), around, is_first=not spans, is_last=True)
    return [segment for segment in found if segment.text]


def _plain(text: str, start: int, end: int, around: int | None, *, is_first: bool, is_last: bool) -> list[Segment]:
    if around is None or end - start <= 2 * around:
        return [Segment(text[start:end], False)]
    head = "" if is_first and not is_last else text[start : start + around * (2 if is_first else 1)]
    tail = "" if is_last else text[end - around : end]
    left_out = end - start - len(head) - len(tail)
    return [Segment(head, False), Segment(f"{left_out:,}", False, is_gap=True), Segment(tail, False)]


def _facts(text: str, span: Span, field: str | None = None) -> set[str]:
    return {atom.value for atom in atoms_of(text, *span, field) if is_telling(atom)}


def _words(text: str, span: Span) -> set[str]:
    return {token.word for token in tokens_of(text, *span)}


def _of_facts(text: str, span: Span, facts: set[str], field: str | None) -> list[Span]:
    return [Span(atom.start, atom.end) for atom in atoms_of(text, *span, field) if atom.value in facts]


def _of_words(text: str, span: Span, words: set[str]) -> list[Span]:
    return [Span(token.start, token.end) for token in tokens_of(text, *span) if token.word in words]
