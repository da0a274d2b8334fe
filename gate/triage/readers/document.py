"""Reading recorded JSON so that nothing is guessed: a value has exactly the wanted type, or it is unreadable.

A document remembers the JSON pointers that were read. They are what a receipt lists and what the page marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from gate.triage.cases import RecordedCall

Step = str | int
NOT_THERE = "not in the result"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_LONGEST_SEEN = 120


class Unreadable(Exception):
    """A value that a check needs is not there, or is not what it should be."""

    def __init__(self, pointer: str, why: str, seen: str) -> None:
        super().__init__(why)
        self.pointer, self.why, self.seen = pointer, why, seen


class Document:
    """One JSON value, and what has been read of it."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self.read: dict[str, str] = {}  # pointer: the value seen, as text
        self.absent: set[str] = set()

    def integer(self, *path: Step) -> int:
        """A whole number. True is not one, nor is "0" or 0.0."""
        value = self._at(path)
        if type(value) is not int:
            raise self._wrong(path, value, "a whole number")
        return value

    def text(self, *path: Step) -> str:
        """A text."""
        value = self._at(path)
        if type(value) is not str:
            raise self._wrong(path, value, "a text")
        return value

    def text_or_null(self, *path: Step) -> str | None:
        """A text, or exactly null. A missing key is neither."""
        value = self._at(path)
        if value is not None and type(value) is not str:
            raise self._wrong(path, value, "a text or null")
        return value

    def flag(self, *path: Step) -> bool:
        """Literally true or false."""
        value = self._at(path)
        if type(value) is not bool:
            raise self._wrong(path, value, "true or false")
        return value

    def one_of(self, known: Collection[str], *path: Step) -> str:
        """A text out of a closed list. A value that nobody listed has a meaning that nobody checked."""
        value = self.text(*path)
        if value not in known:
            raise self._wrong(path, value, f"one of {', '.join(sorted(known))}")
        return value

    def moment(self, *path: Step) -> datetime:
        """An ISO 8601 time with its zone, in UTC. A time without a zone is not a moment."""
        value = self.text(*path)
        if _MOMENT.fullmatch(value) is None:
            raise self._wrong(path, value, "a time with its zone")
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            raise self._wrong(path, value, "a time with its zone") from None

    def length(self, *path: Step) -> int:
        """How long a list is."""
        value = self._at(path)
        if type(value) is not list:
            raise self._wrong(path, value, "a list")
        return len(value)

    def keys(self) -> frozenset[str]:
        """The keys of the document itself."""
        if type(self._value) is not dict:
            raise self._wrong((), self._value, "an object")
        return frozenset(self._value)

    def _at(self, path: tuple[Step, ...]) -> Any:
        here = self._value
        for depth, step in enumerate(path):
            if not _can_hold(here, step):
                raise self._wrong(path[:depth], here, "an object" if type(step) is str else "a list")
            if not _holds(here, step):
                raise self._missing(path[: depth + 1])
            here = here[step]
        self.read[pointer(path)] = shown(here)
        return here

    def _missing(self, path: tuple[Step, ...]) -> Unreadable:
        self.absent.add(pointer(path))
        return Unreadable(pointer(path), f"`{dotted(path)}` is not in the result.", NOT_THERE)

    def _wrong(self, path: tuple[Step, ...], value: Any, wanted: str) -> Unreadable:
        self.read[pointer(path)] = shown(value)
        name = f"`{dotted(path)}`" if path else "The result"
        return Unreadable(pointer(path), f"{name} is {shown(value)}, not {wanted}.", shown(value))


class Answer:
    """A recorded call with its arguments and result ready for strict reading."""

    tool = ""

    def __init__(self, call: RecordedCall) -> None:
        self.call = call
        self.args = Document(call.args)
        self.result = Document(call.result)


def _can_hold(value: Any, step: Step) -> bool:
    return type(value) is (dict if type(step) is str else list)


def _holds(value: Any, step: Step) -> bool:
    return step in value if type(value) is dict else type(step) is int and 0 <= step < len(value)


def pointer(path: tuple[Step, ...]) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def dotted(path: tuple[Step, ...]) -> str:
    """A path as people read it: refunds[0].status."""
    return "".join(f"[{step}]" if type(step) is int else f".{step}" for step in path).removeprefix(".")


def shown(value: Any) -> str:
    """A value in one short line of text that any database and page can hold."""
    if type(value) is dict:
        return "an object"
    if type(value) is list:
        return f"a list of {len(value)}"
    if type(value) is str:
        return storable(
            json.dumps(value[:_LONGEST_SEEN] + ("…" if len(value) > _LONGEST_SEEN else ""), ensure_ascii=False)
        )
    if value is None or type(value) is bool:
        return json.dumps(value)
    return storable(str(value)[:_LONGEST_SEEN])


def storable(text: str) -> str:
    """The text without lone surrogates and NUL, which PostgreSQL's jsonb refuses."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\u0000")
