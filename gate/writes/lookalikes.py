"""Words that a reader takes for other words: letters of several scripts in one, or of another one throughout."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_](?:\w*[^\W\d_])?")
# Letters of other scripts that are drawn like a Latin one, in common fonts.
DRAWN_AS_LATIN = frozenset("асԁеһіјӏорԛѕԝхуАВЕЅІЈКМНОРСТУХѴαοιυνκρτΑΒΕΖΗΙΚΜΝΟΡΤΥΧօոսցհ")


@dataclass(frozen=True)
class Lookalike:
    """One word, with where it stands and its letters of other scripts by their code points."""

    where: str
    spelled: str
    scripts: str

    def __str__(self) -> str:
        return f"{self.where}: {self.spelled} has letters of {self.scripts}"


def found(texts: Sequence[tuple[str, str]]) -> list[Lookalike]:
    """The words of each (where, text) that are not what they look like."""
    return [Lookalike(where, spelled(word), scripts) for where, text in texts for word, scripts in _words(text)]


def _words(text: str) -> Iterator[tuple[str, str]]:
    for word in dict.fromkeys(WORD.findall(unicodedata.normalize("NFC", text))):
        scripts = sorted({_script(letter) for letter in word if letter.isalpha()})
        poses = all(letter in DRAWN_AS_LATIN for letter in word if letter.isalpha())
        if len(scripts) > 1 or (poses and scripts != ["Latin"]):
            yield word, " and ".join(scripts)


def _script(letter: str) -> str:
    # Compatibility forms, like mathematical or full-width letters, are a script of their own to a reader.
    return unicodedata.name(letter, "UNKNOWN").split()[0].capitalize()


def spelled(word: str) -> str:
    """The word with each letter that is not Latin as its code point."""
    return "".join(one if not one.isalpha() or _script(one) == "Latin" else f"‹U+{ord(one):04X}›" for one in word)
