"""Words of arguments and results, as the search keeps them and as somebody asks for them: cut by one rule.

No stemming and no dictionary, like PostgreSQL's "simple" configuration, so that ids, hashes and names are found as they
are written. Its parser is not used: it takes `shop.jobs` for a host and `2026-11-29T02` for a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    found: list[str] = []
    for text in (*_texts(args), *_texts(result)):
        found += words(text)
        if len(found) >= MOST_WORDS:
            break
    return _vector(found[:MOST_WORDS])


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
    parts = [_phrase(quoted or plain) for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', typed)]
    return " & ".join([part for part in parts if part][:MOST_ASKED])


def _phrase(text: str) -> str:
    found = words(text)[:MOST_ASKED]
    if not found:
        return ""
    star = ":*" if text.endswith("*") else ""
    return "(" + " <-> ".join(f"'{word}'" for word in found) + star + ")"
