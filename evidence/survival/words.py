"""Text to words, and evidence to units, as the compatible measure sees them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# A run of letters and digits, in which a single point or hyphen may stand between two of them.
WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
STOP_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "in",
     "is", "it", "of", "on", "or", "that", "the", "their", "this", "to", "was", "were", "with")
)  # fmt: skip
# Any white space with two line feeds in it: what is left of it around the cut is stripped.
PARAGRAPH = re.compile(r"\n\s*\n")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W_])")
LEAST_WORDS = 2


class Unit(NamedTuple):
    """One piece of evidence that can survive: its words in order, and the set of those that inform."""

    phrase: str
    informative: frozenset[str]


def words_of(text: str) -> list[str]:
    """The words of a text in order, in their compatible form and lower case."""
    # Normalizing comes first: some signs unfold to capitals.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return WORD.findall(plain.lower())


def informative(words: list[str]) -> frozenset[str]:
    """The distinct words that are no stop words."""
    return frozenset(words) - STOP_WORDS


def units_of(text: str) -> Iterator[Unit]:
    """The units of an evidence text. A piece with fewer than two informative words, repetitions counted, is none."""
    for paragraph in PARAGRAPH.split(text.strip()):
        for piece in SENTENCE.split(paragraph.strip()):
            words = words_of(piece)
            if sum(word not in STOP_WORDS for word in words) >= LEAST_WORDS:
                yield Unit(" ".join(words), informative(words))
