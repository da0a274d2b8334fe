"""Reading entries back. What is read is checked first: against its commitments, its digest, and its own columns."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audit import canonical, log, payloads
from audit.models import Entry, Payload


@dataclass(frozen=True)
class Content:
    """Arguments and result of an entry, with what checking them found.

    `args` and `result` are None unless everything is intact and whole; the raw bytes are there for showing alone.
    """

    args: Any
    result: Any
    args_raw: bytes
    result_raw: bytes
    is_intact: bool  # the row and its payload are what was written
    is_readable: bool  # intact, not cut, and JSON: only such a content may support a claim
    why: str  # a sentence when it is not


def by_seq(seq: int) -> Entry | None:
    """The entry with a number; None when there is none, or when two rows claim it and neither can be believed."""
    found = list(Entry.objects.filter(seq=seq).order_by("id")[:2])
    return found[0] if len(found) == 1 else None


def payload_of(entry_id: UUID) -> Content:
    """The checked content of the entry with this key. Raises Entry.DoesNotExist."""
    return content_of(Entry.objects.get(pk=entry_id))


def content_of(entry: Entry) -> Content:
    """The checked content of one entry. Never raises for a cut, damaged or missing payload."""
    return contents_of([entry])[entry.pk]


def contents_of(entries: Iterable[Entry]) -> dict[UUID, Content]:
    """The checked contents of several entries by their keys, with one query."""
    wanted = {entry.pk: entry for entry in entries}
    stored = Payload.objects.in_bulk(list(wanted))
    return {key: _check(entry, stored.get(key)) for key, entry in wanted.items()}


def _check(entry: Entry, payload: Payload | None) -> Content:
    if payload is None:
        return _broken("Its arguments and result are not there.")
    try:
        args_raw = payloads.decompress(bytes(payload.args or b""))
        result_raw = payloads.decompress(bytes(payload.result or b""))
    except zlib.error:
        return _broken("Its arguments or result are damaged and cannot be unpacked.")
    fault = _fault(entry, bytes(payload.salt), args_raw, result_raw)
    if fault:
        return _broken(fault, args_raw, result_raw)
    return _parsed(args_raw, result_raw)


def _fault(entry: Entry, salt: bytes, args_raw: bytes, result_raw: bytes) -> str:
    """What does not match, as a sentence; empty when everything does."""
    if entry.header_version != log.HEADER_VERSION:
        return f"It was written in form {entry.header_version}, which this program does not know."
    if len(salt) != 32 or canonical.commitment(salt[:16], args_raw) != bytes(entry.args_c):
        return "Its arguments do not match the commitment that was taken when they were written."
    if canonical.commitment(salt[16:], result_raw) != bytes(entry.result_c):
        return "Its result does not match the commitment that was taken when it was written."
    if digest_of(entry) != bytes(entry.digest):
        return "Its own fields do not match the digest that was taken when they were written."
    return ""


def digest_of(entry: Entry) -> bytes | None:
    """The digest recomputed from the row's columns; None when they hold what no writer could have hashed."""
    try:
        return canonical.entry_digest({name: _hashed(entry, name) for name in log.HEADER_FIELDS})
    except (TypeError, ValueError):
        return None


def _hashed(entry: Entry, name: str) -> canonical.Scalar:
    value = getattr(entry, name)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return str(value) if isinstance(value, UUID) else value


def _parsed(args_raw: bytes, result_raw: bytes) -> Content:
    try:
        args, result = payloads.unpack(args_raw), payloads.unpack(result_raw)
    except (ValueError, RecursionError):
        why = "It is longer than what is kept, so it was cut and cannot be read as a whole."
        return Content(None, None, args_raw, result_raw, is_intact=True, is_readable=False, why=why)
    return Content(args, result, args_raw, result_raw, is_intact=True, is_readable=True, why="")


def _broken(why: str, args_raw: bytes = b"", result_raw: bytes = b"") -> Content:
    return Content(None, None, args_raw, result_raw, is_intact=False, is_readable=False, why=why)
