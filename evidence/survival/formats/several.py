"""A file that is not one JSON value: lines of them, values one after another, a stream's events, or a damaged one.

What cannot be read is counted, and what stands after it is read all the same, as far as it can be told apart.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import Any

from evidence.survival.formats.collected import TraceError

MOST_BYTES = 256 * 1024 * 1024  # of a file, unpacked
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A comma before a closing bracket, and every text, so that commas in texts are let alone.
SPARE_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
EVENT = re.compile(r"(?:event|data|id|retry|):")
BETWEEN = re.compile(r"[\s,]*")
LONGEST_NUMBER = 4_000  # digits
TRIED = 20  # lines, of which one must be a value
# Each costs a look at all that follows, so a file that is damaged all over is not read.
MOST_BROKEN = 20


def decoded(raw: bytes, most: int = MOST_BYTES) -> str:
    """The text of a file, which may be packed by gzip. Raises TraceError when it is no text, or longer than `most`."""
    if raw.startswith(GZIP):
        raw = _unpacked(raw, most)
    if len(raw) > most:
        raise TraceError(f"A trace holds up to {most:,} bytes; this one is longer.")
    try:
        return raw.decode("utf-16" if raw.startswith(UTF_16) else "utf-8")
    except UnicodeDecodeError as error:
        raise TraceError("The file is not UTF-8.") from error


def _unpacked(raw: bytes, most: int) -> bytes:
    try:
        with gzip.open(BytesIO(raw)) as packed:
            return packed.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError("The file looks packed by gzip, and cannot be unpacked.") from error


def several(text: str) -> tuple[Any, int]:
    """What a text holds that is not one JSON value, and how many parts of it are none. Raises TraceError for no value.

    Commas too many are forgiven: such a text is one value.
    """
    try:
        return DECODER.decode(SPARE_COMMA.sub(lambda found: found[1] or "", text)), 0
    except (ValueError, RecursionError):
        pass
    if EVENT.match(text.lstrip()):
        found, broken = _each(_data(text))
    elif _is_by_line(text):
        found, broken = _each(text.split("\n"))
    else:
        found, broken = _in_a_row(text)
    if not found:
        raise TraceError("The file is neither JSON nor lines of JSON.")
    return found, broken


def _data(text: str) -> Iterator[str]:
    """The data of a stream's events."""
    for line in text.split("\n"):
        said = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if said and said != "[DONE]":
            yield said


def _is_by_line(text: str) -> bool:
    """Whether any of the first lines is a whole object or list: what stands before it is of something else."""
    first = islice((line for line in text.split("\n") if line.strip()), TRIED)
    return any(isinstance(value, dict | list) for value in _each(first)[0])


def _each(lines: Iterable[str]) -> tuple[list[Any], int]:
    found, broken = [], 0
    for line in lines:
        said = line.strip().rstrip(",")
        if not said:
            continue
        try:
            found.append(DECODER.decode(said))
        except (ValueError, RecursionError):
            broken += 1
    return found, broken


def _in_a_row(text: str) -> tuple[list[Any], int]:
    """Values one after another, or those of an array that is damaged or does not end."""
    at = BETWEEN.match(text).end()  # type: ignore[union-attr]
    at += text[at : at + 1] == "["
    found: list[Any] = []
    broken = 0
    while True:
        at = BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text) or text[at:].strip() == "]":
            return found, broken
        try:
            value, at = DECODER.raw_decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            broken += 1
            if broken > MOST_BROKEN:
                raise TraceError(f"The file is damaged in more than {MOST_BROKEN} places.") from None
            at = _next_like(text, at)


def _next_like(text: str, at: int) -> int:
    """Where the next value begins that stands as far in as the one at a place; the end where none does."""
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    following = text.find(f"\n{indent}{text[at]}", at) if not indent.strip() else -1
    return len(text) if following < 0 else following + 1 + len(indent)


def _whole(digits: str) -> int | str:
    """A number; as it is written where it is longer than Python takes."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else digits


DECODER = json.JSONDecoder(parse_int=_whole)
