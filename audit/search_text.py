"""Words of arguments and results, as the search keeps them and as somebody asks for them: cut by one rule.

No stemming and no dictionary, like PostgreSQL's "simple" configuration, so that ids, hashes and names are found as they
are written. Its parser is not used: it takes `shop.jobs` for a host and `2026-11-29T02` for a number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WORD = re.compile(r"[^\W_]+")
MOST_WORDS = 10_000  # of one entry; a position beyond 16,383 could not be told from another
LONGEST_WORD = 100  # of letters kept; what is longer is cut here and there alike
MOST_ASKED = 20  # words of one question


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return [found[0].lower()[:LONGEST_WORD] for found in WORD.finditer(text)]


def document(args: Any, result: Any) -> str:
    """A `tsvector` of values as JSON has them: their names and scalars, each word with its places."""
    return _vector(words_of(args, result))


def words_of(*values: Any) -> list[str]:
    """The words of values as JSON has them, in order, as many as are kept."""
    found: list[str] = []
    for text in (text for value in values for text in _texts(value)):
        found += words(text)
        if len(found) >= MOST_WORDS:
            break
    return found[:MOST_WORDS]


def document_of_text(text: str) -> str:
    """A `tsvector` of a text that is no whole JSON."""
    return _vector(words(text)[:MOST_WORDS])


def _vector(found: list[str]) -> str:
    return " ".join(f"'{word}':{place}" for place, word in enumerate(found, 1))


def _texts(value: Any) -> Iterator[str]:
    """Names and scalars from the outside in. Without recursion: an agent may nest as deep as it likes."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, inner in reversed(one.items()):
                waiting += [inner, str(name)]
        elif isinstance(one, list):
            waiting += reversed(one)
        elif one is not None and not isinstance(one, bool):
            yield str(one)
        else:
            yield {True: "true", False: "false", None: "null"}[one]


def question(typed: str) -> str:
    """A `tsquery` of what somebody typed; empty when there is no word in it.

    All parts have to be there. Words that stand without a space between them (job_id, A-48213) or in quotes have to
    follow each other; a part that ends in a star is the beginning of a word.
    """
    return " & ".join(_in_sql(one) for one in phrases(typed))


@dataclass(frozen=True)
class Phrase:
    """Words that have to follow each other; the last may be the beginning of one."""

    words: tuple[str, ...]
    is_open: bool


def phrases(typed: str) -> list[Phrase]:
    """The parts of what somebody typed, all of which have to be there."""
    parts = [_phrase(quoted or plain) for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', typed)]
    return [part for part in parts if part.words][:MOST_ASKED]


def _phrase(text: str) -> Phrase:
    return Phrase(tuple(words(text)[:MOST_ASKED]), text.endswith("*"))


def _in_sql(one: Phrase) -> str:
    star = ":*" if one.is_open else ""
    return "(" + " <-> ".join(f"'{word}'" for word in one.words) + star + ")"


def holds(wanted: Iterable[Phrase], found: Sequence[str]) -> bool:
    """Whether all phrases stand in the words of a text, as PostgreSQL would say of its `tsvector`."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(found):
        places[word].append(place)
    return all(_stands(one, places, found) for one in wanted)


def _stands(one: Phrase, places: Mapping[str, list[int]], found: Sequence[str]) -> bool:
    *before, last = one.words
    starts: Iterable[int] = places.get(one.words[0], ()) if before else range(len(found))
    for start in starts:
        here = found[start : start + len(one.words)]
        if len(here) == len(one.words) and list(here[:-1]) == before and _is(here[-1], last, one.is_open):
            return True
    return False


def _is(word: str, wanted: str, is_open: bool) -> bool:
    return word.startswith(wanted) if is_open else word == wanted
