"""Reading recorded JSON so that nothing is guessed: a value has exactly the wanted type, or it is unreadable.

A document remembers the JSON pointers that were read. They are what a receipt lists and what the page marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gate.triage.cases import RecordedCall
from gate.triage.grammars import moments

Step = str | int
NOT_THERE = "not in the result"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?", re.ASCII)
_COUNT = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
# How audit.masking marks the place of a secret, and evidence.escaping what cannot be seen.
CHANGED = {"[masked: ": "masked", "⟦U+": "written out, for it cannot be seen"}
_LONGEST_SEEN = 120
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WIDEST = 60  # digits before or after the point; what has more is no measurement, and slow to calculate with


class Unreadable(Exception):
    """A value that a check needs is not there, or is not what it should be."""

    def __init__(self, pointer: str, why: str, seen: str) -> None:
        super().__init__(why)
        self.pointer, self.why, self.seen = pointer, why, seen


class Document:
    """One JSON value, and what has been read of it."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._seen: dict[tuple[Step, ...], Any] = {}  # most values are read many times, and written out once
        self.absent: set[str] = set()
        self.unlisted: dict[str, str] = {}  # pointer: a value that its closed list does not know

    @property
    def read(self) -> dict[str, str]:
        """What was read: its pointer, and the value as text."""
        return {pointer(path): shown(value) for path, value in self._seen.items()}

    def integer(self, *path: Step) -> int:
        """A whole number. True is not one, nor is "0" or 0.0."""
        value = self._at(path)
        if type(value) is not int:
            raise self._wrong(path, value, "a whole number")
        return value

    def number(self, *path: Step) -> Decimal:
        """A JSON number with all its digits. A float has lost some already; infinity and minus zero are no numbers."""
        value = self._at(path)
        if type(value) is int and abs(value) < 10**_WIDEST:
            return Decimal(value)
        if type(value) is not Decimal or not _is_plain(value):
            raise self._wrong(path, value, "a finite number")
        return value

    def whole(self, *path: Step) -> int:
        """A JSON number without a fraction, also where the tool writes its counts as 18231.0."""
        value = self.number(*path)
        if value != value.to_integral_value():
            raise self._wrong(path, self._at(path), "a whole number")
        return int(value)

    def decimal_text(self, *path: Step) -> Decimal:
        """A number that the tool writes as text ("1.8", "1e-05"), as Prometheus does with samples."""
        value = self.text(*path)
        if _NUMBER.fullmatch(value) is None or not _is_plain(Decimal(value)):
            raise self._wrong(path, value, "a finite number as text")
        return Decimal(value)

    def count_text(self, *path: Step) -> int:
        """A count that the tool writes as text: "0", "18231"."""
        value = self.text(*path)
        if _COUNT.fullmatch(value) is None:
            raise self._wrong(path, value, "a count as text")
        return int(value)

    def text(self, *path: Step) -> str:
        """A text. One of which a part was masked or written out does not say what it said."""
        value = self._at(path)
        if type(value) is not str:
            raise self._wrong(path, value, "a text")
        return self._unchanged(path, value)

    def text_or_null(self, *path: Step) -> str | None:
        """A text, or exactly null. A missing key is neither."""
        value = self._at(path)
        if value is not None and type(value) is not str:
            raise self._wrong(path, value, "a text or null")
        return value if value is None else self._unchanged(path, value)

    def identifier(self, *path: Step) -> str | int:
        """What names a thing: a text or a whole number, as it stands. "7" does not name what 7 names."""
        value = self._at(path)
        if type(value) not in (str, int):
            raise self._wrong(path, value, "a text or a whole number")
        name: str | int = value
        return self._unchanged(path, name) if isinstance(name, str) else name

    def scalar(self, *path: Step) -> str | Decimal:
        """A text, or a number with all its digits: for what tools take in either form."""
        return self.text(*path) if type(self._at(path)) is str else self.number(*path)

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
            self.unlisted[pointer(path)] = shown(value)
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

    def instant(self, *path: Step, units: frozenset[int] = moments.SECONDS) -> datetime:
        """A moment as query tools take it: RFC 3339, or a number since 1970 in the unit that this tool takes."""
        value = self._at(path)
        moment = moments.parse(Decimal(value) if type(value) is int and abs(value) < 10**20 else value, units)
        if moment is None:
            raise self._wrong(path, value, "a moment for certain")
        return moment

    def unix_seconds(self, *path: Step) -> datetime:
        """A moment in seconds since 1970, as a JSON number; milliseconds lie tens of thousands of years ahead."""
        return self._since_1970(self.number(*path), path)

    def unix_millis(self, *path: Step) -> datetime:
        """A moment in milliseconds since 1970, as a JSON number."""
        return self._since_1970(self.number(*path) / 1000, path)

    def unix_nanos_text(self, *path: Step) -> datetime:
        """A moment in nanoseconds since 1970, as text: what Loki gives each line."""
        value = self.text(*path)
        if _COUNT.fullmatch(value) is None and not (len(value) == 19 and value.isascii() and value.isdigit()):
            raise self._wrong(path, value, "nanoseconds as text")
        return self._since_1970(Decimal(value) / 10**9, path)

    def is_null(self, *path: Step) -> bool:
        """Whether the value is exactly null. A missing key is unreadable."""
        return self._at(path) is None

    def is_text(self, *path: Step) -> bool:
        """Whether the value is a text. For an id in whose place a tool may write the whole object."""
        return type(self._at(path)) is str

    def has(self, *path: Step) -> bool:
        """Whether the last step is there at all, in an object that must be there. For keys that a tool leaves out."""
        parent = self._inside(path[:-1])
        if type(parent) is not dict:
            raise self._wrong(path[:-1], parent, "an object")
        if path[-1] not in parent:
            self.absent.add(pointer(path))
            return False
        return True

    def texts(self, *path: Step) -> dict[str, str]:
        """An object of texts alone, such as labels. All of it counts as read."""
        value = self._at(path)
        if type(value) is not dict:
            raise self._wrong(path, value, "an object")
        return {key: self.text(*path, key) for key in value}

    def length(self, *path: Step) -> int:
        """How long a list is."""
        value = self._at(path)
        if type(value) is not list:
            raise self._wrong(path, value, "a list")
        return len(value)

    def keys(self, *path: Step) -> frozenset[str]:
        """The keys of an object, or of the document itself."""
        value = self._at(path) if path else self._value
        if type(value) is not dict:
            raise self._wrong(path, value, "an object")
        return frozenset(value)

    def _unchanged(self, path: tuple[Step, ...], value: str) -> str:
        for mark, what in CHANGED.items():
            if mark in value:
                raise Unreadable(pointer(path), f"a part of `{dotted(path)}` was {what}.", shown(value))
        return value

    def _since_1970(self, seconds: Decimal, path: tuple[Step, ...]) -> datetime:
        try:
            return _EPOCH + timedelta(microseconds=int(seconds * 10**6))
        except OverflowError:
            raise self._wrong(path, self._at(path), "a moment") from None

    def _at(self, path: tuple[Step, ...]) -> Any:
        here = self._inside(path)
        self._seen[path] = here
        return here

    def _inside(self, path: tuple[Step, ...]) -> Any:
        here = self._value
        for depth, step in enumerate(path):
            if type(here) is not (dict if type(step) is str else list):
                raise self._wrong(path[:depth], here, "an object" if type(step) is str else "a list")
            if not _holds(here, step):
                raise self._missing(path[: depth + 1])
            here = here[step]  # type: ignore[index]  # a text step into an object, a number into a list: just checked
        return here

    def _missing(self, path: tuple[Step, ...]) -> Unreadable:
        self.absent.add(pointer(path))
        return Unreadable(pointer(path), f"`{dotted(path)}` is not in the result.", NOT_THERE)

    def _wrong(self, path: tuple[Step, ...], value: Any, wanted: str) -> Unreadable:
        self._seen[path] = value
        name = f"`{dotted(path)}`" if path else "The result"
        return Unreadable(pointer(path), f"{name} is {shown(value)}, not {wanted}.", shown(value))


class Answer:
    """A recorded call with its arguments and result ready for strict reading."""

    tools: tuple[str, ...] = ()  # the names under which a tool gives this very shape
    # An argument that is null was not given: many tools write out all that they have. Of some, null says something.
    NULL_SAYS_SOMETHING = False

    def __init__(self, call: RecordedCall) -> None:
        self.call = call
        self.args = Document(call.args if self.NULL_SAYS_SOMETHING else given(call.args))
        self.result = Document(call.result)

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """Whether this reader is the call's. Where two shapes share a tool's name, an unmistakable key decides."""
        return call.tool in cls.tools

    def called_at(self) -> datetime:
        """When the call began. Raises Unreadable where the record does not say."""
        if self.call.called_at is None:
            raise Unreadable("", "the record does not say when it was called.", "no time")
        return self.call.called_at


def given(args: Any) -> Any:
    """The arguments that were given."""
    return {key: value for key, value in args.items() if value is not None} if type(args) is dict else args


def _is_plain(value: Decimal) -> bool:
    if not value.is_finite() or (value.is_zero() and value.is_signed()):
        return False
    _, digits, exponent = value.as_tuple()
    return isinstance(exponent, int) and abs(exponent) <= _WIDEST and len(digits) <= _WIDEST


def _holds(value: Any, step: Step) -> bool:
    return step in value if type(value) is dict else isinstance(step, int) and 0 <= step < len(value)


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
