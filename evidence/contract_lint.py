"""Evidence, not advice: the words of a contract that recommend, judge or rank, each with its place and what to write.

What is looked at are the contract's own words: its name, purpose and limitations, what its schemas describe and
promise, and what its statement makes up. What a source answers at run time is data, and stays as it is. The lint finds
words and no intentions: a second person reads each version before it is in force. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.wording import names, prose, schemas, statements
from evidence.wording.flaws import Flaw
from evidence.wording.schemas import Said

LONGEST_NAME_WORDS = 3  # a value of more words is a sentence


def check(name: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError with the first flaw's sentence."""
    for flaw in flaws(name, body):
        raise ValueError(flaw.sentence)


def flaws(name: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    """Every flaw of a contract, each once. The body may be half-typed: what is no contract has fewer words."""
    yield from dict.fromkeys(_all(name, body))


def _all(name: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    yield from _flaws("name", names.of_a_tool(name))
    yield from _of_text("/purpose", body.get("purpose"))
    limitations = body.get("limitations")
    for number, text in enumerate(limitations if isinstance(limitations, list) else ()):
        yield from _of_text(f"/limitations/{number}", text)
    recorded = _Recorded(body)
    for said in schemas.said(body.get("input_schema"), "/input_schema"):
        # What an argument is called is the caller's question; a list of values to choose from is the contract's.
        if said.kind != "name":
            yield from _of(said, recorded)
    for said in schemas.said(body.get("output_schema"), "/output_schema"):
        yield from _of(said, recorded)
    yield from _of_statement(body.get("sql"), recorded)


class _Recorded:
    """Which fields are the source's own: all of a native answer, or the columns that a statement reads."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        sql = body.get("sql")
        self.is_native = isinstance(body.get("request"), dict)
        self.columns = statements.columns(sql) if isinstance(sql, str) else frozenset()

    def __contains__(self, field: str) -> bool:
        return self.is_native or field.casefold() in self.columns


def _of(said: Said, recorded: _Recorded) -> Iterator[Flaw]:
    if said.kind == "prose":
        return _of_text(said.place, said.text)
    if said.kind == "name":
        return _flaws(said.place, names.of_a_field(said.text, said.schema, said.text in recorded))
    return iter(()) if said.field in recorded else _of_value(said.place, said.text)


def _of_value(place: str, text: str) -> Iterator[Flaw]:
    if len(text.split()) > LONGEST_NAME_WORDS:
        return _of_text(place, text)
    return _flaws(place, names.of_a_value(text))


def _of_text(place: str, text: Any) -> Iterator[Flaw]:
    return _flaws(place, prose.flaws(text)) if isinstance(text, str) else iter(())


def _of_statement(sql: Any, recorded: _Recorded) -> Iterator[Flaw]:
    """What a statement names and writes by itself. A short text may be a key, so only what is never a fact counts."""
    if not isinstance(sql, str):
        return
    for given in statements.made_up_names(sql):
        yield from _flaws("/sql", names.of_a_field(given, None, given in recorded))
    for text in statements.texts(sql):
        is_sentence = len(text.split()) > LONGEST_NAME_WORDS
        yield from _of_text("/sql", text) if is_sentence else _flaws("/sql", names.never(text))


def _flaws(place: str, found: Iterator[tuple[str, str]]) -> Iterator[Flaw]:
    return (Flaw(code, place, word) for code, word in found)
