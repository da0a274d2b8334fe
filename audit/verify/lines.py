"""Reading an export's lines, whatever somebody has made of them: each is an object of the format, or a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from audit.verify.entries import Entry, Part

FORMAT = "counterseal-log/1"
LONGEST_LINE = 16 * 1024 * 1024  # bytes; the largest payloads, escaped, are a tenth of it
TAIL = 256 * 1024
# Hours end at 23: newer Pythons take 24:00 for the next day, and then two texts would say one time.
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z")
HEX = re.compile(r"(?:[0-9a-f]{2})*")
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What a line of each type may hold; what is marked True it must.
KEYS = {
    "export": {"format": True, "origin": False, "filter": False, "complete": True, "made_at": False},
    "entry": {
        "id": True, "seq": True, "at": True, "db_role": True, "digest": True, "header": True, "args": True,
        "result": True, "salt": True, "leaf": True, "proof": False, "hash": False, "redacted_by": False,
        "damaged": False,
    },
    "pruned": {"leaf": True, "hash": True, "by": True},
    "missing": {"leaf": True, "hash": True},
    "checkpoint": {"size": True, "note": True},
}  # fmt: skip


class Malformed(ValueError):
    """The sentence that says what is wrong with a line."""


@dataclass(frozen=True)
class Line:
    """One line of an export, by its number in the file."""

    number: int
    type: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """An entry's line: the entry, its place in the tree, and what of the tree stands beside it."""

    entry: Entry
    leaf: int | None
    proof: list[bytes] | None
    hash: bytes | None


def read(file: BinaryIO) -> Iterator[Line | tuple[int, str]]:
    """The lines of a file; in place of one that cannot be read, its number and a sentence."""
    number = 0
    while raw := file.readline(LONGEST_LINE):
        number += 1
        try:
            yield _line(number, raw)
        except Malformed as problem:
            yield number, str(problem)
        while len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
            raw = file.readline(LONGEST_LINE)  # the rest of one that is too long


def last(path: Path) -> Line | None:
    """The last line of a file when it is a checkpoint; None otherwise."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - TAIL))
        raw = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        line = _line(0, raw + b"\n")
    except Malformed:
        return None
    return line if line.type == "checkpoint" else None


def _line(number: int, raw: bytes) -> Line:
    if not raw.endswith(b"\n"):
        raise Malformed("The line has no end: the file was cut, or the line is longer than any of an export.")
    value = _json(raw)
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KEYS:
        raise Malformed(f"It is not a line of an export; its type should be one of {', '.join(KEYS)}.")
    keys = KEYS[kind]
    lacking = [name for name, is_needed in keys.items() if is_needed and name not in value]
    unknown = sorted(set(value) - set(keys) - {"type"})
    if lacking or unknown:
        raise Malformed(
            f"It lacks {', '.join(lacking) or 'nothing'} and has {', '.join(unknown)[:200] or 'nothing'} more."
        )
    return Line(number, kind, value)


def _json(raw: bytes) -> Any:
    try:
        return json.loads(
            raw.decode(), object_pairs_hook=_single, parse_constant=_no_constant, parse_int=_number_as_written
        )
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, Malformed) else "it is not JSON in UTF-8"
        raise Malformed(f"It cannot be read: {reason}.") from problem


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Malformed("a key stands in it twice")
    return made


def _number_as_written(digits: str) -> int:
    made = int(digits)
    if str(made) != digits:
        raise Malformed(f"{digits} is not how an export writes {made}")  # -0
    return made


def _no_constant(word: str) -> Any:
    raise Malformed(f"{word} is not JSON")


def stored(line: Line) -> Stored:
    """The entry of its line. Raises Malformed."""
    values = line.values
    header = values["header"]
    if not isinstance(header, dict):
        raise Malformed("Its header is not an object.")
    salt, by = _optional_bytes(values, "salt"), _optional_number(values, "redacted_by")
    entry = Entry(
        id=_matching(values, "id", ID),
        seq=number(values, "seq"),
        at=_time(values),
        db_role=_matching(values, "db_role", re.compile(r".{1,200}")),
        digest=hashed(values, "digest"),
        header=header,
        args=Part(salt[:16] if salt else None, _text(values, "args")),
        result=Part(salt[16:] if salt else None, _text(values, "result")),
        redacted_by=by,
    )
    path = values.get("proof")
    return Stored(
        entry,
        _optional_number(values, "leaf"),
        None if path is None else _proof(path),
        hashed(values, "hash") if values.get("hash") is not None else None,
    )


def number(values: dict[str, Any], name: str) -> int:
    """A number of a line that is not negative and that a database can hold. Raises Malformed."""
    value = values[name]
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise Malformed(f"Its {name} is not a number of an export.")
    return value


def hashed(values: dict[str, Any], name: str) -> bytes:
    """A SHA-256 of a line. Raises Malformed."""
    found = _optional_bytes(values, name)
    if found is None or len(found) != 32:
        raise Malformed(f"Its {name} is not 64 hexadecimal digits.")
    return found


def _optional_number(values: dict[str, Any], name: str) -> int | None:
    return None if values.get(name) is None else number(values, name)


def _optional_bytes(values: dict[str, Any], name: str) -> bytes | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not HEX.fullmatch(value):
        raise Malformed(f"Its {name} is not hexadecimal.")
    return bytes.fromhex(value)


def _matching(values: dict[str, Any], name: str, form: re.Pattern[str]) -> str:
    value = values[name]
    if not isinstance(value, str) or not form.fullmatch(value):
        raise Malformed(f"Its {name} has not the form that an export gives it.")
    return value


def _time(values: dict[str, Any]) -> datetime:
    try:
        return datetime.fromisoformat(_matching(values, "at", TIME))
    except ValueError as problem:
        raise Malformed("Its time is none.") from problem


def _text(values: dict[str, Any], name: str) -> bytes | None:
    value = values[name]
    if value is not None and not isinstance(value, str):
        raise Malformed(f"Its {name} are not text: an export holds the stored JSON as one string.")
    return None if value is None else _bytes(value)


def _bytes(text: str) -> bytes:
    """Stored text is ASCII; an export writes damaged bytes as lone surrogates, and whoever edits it writes anything."""
    try:
        return text.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _proof(value: Any) -> list[bytes]:
    if not isinstance(value, list) or len(value) > 64:
        raise Malformed("Its proof is not a list of at most 64 hashes.")
    return [hashed({"proof": one}, "proof") for one in value]
