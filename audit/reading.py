"""Reading entries back. What is read is checked first: against its commitments, its digest, and its own columns."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from audit import canonical, header, log, merkle, payloads
from audit.kinds import Kind
from audit.models import Entry, Leaf, Payload

ENTRY_ID = re.compile(r"A-([1-9][0-9]{0,17})", re.ASCII)


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
    redacted_by: int | None = None  # the entry that says that a part was taken away; what is left of it is unchanged


def seq_of(ref: str) -> int | None:
    """The number of an id like A-48213; None for anything else that somebody may have handed in."""
    matched = ENTRY_ID.fullmatch(ref)
    return int(matched[1]) if matched else None


def by_seq(seq: int) -> Entry | None:
    """The entry with a number; None when there is none, or when two rows claim it and neither can be believed."""
    found = list(Entry.objects.filter(seq=seq).order_by("id")[:2])
    return found[0] if len(found) == 1 else None


def newest_sealed_seq() -> int:
    """The number of the entry behind the last leaf; 0 when nothing is sealed or that entry is gone."""
    last = Leaf.objects.order_by("-index").first()
    entry = Entry.objects.filter(pk=last.entry_id).first() if last else None
    return entry.seq if entry else 0


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
    return {key: check(entry, stored.get(key)) for key, entry in wanted.items()}


def check(entry: Entry, payload: Payload | None) -> Content:
    """The checked content of an entry with the payload that was read for it. Never raises."""
    if payload is None:
        return _broken("Its arguments and result are not there.")
    if payload.args is None or payload.result is None:
        return _without_parts(entry, payload)
    try:
        args_raw = payloads.decompress(bytes(payload.args or b""))
        result_raw = payloads.decompress(bytes(payload.result or b""))
    except zlib.error:
        return _broken("Its arguments or result are damaged and cannot be unpacked.")
    fault = _fault(entry, _bytes(payload.salt), args_raw, result_raw)
    if fault:
        return _broken(fault, args_raw, result_raw)
    return _parsed(args_raw, result_raw)


def _without_parts(entry: Entry, payload: Payload) -> Content:
    """Redacted when the log says so and what is left is what was written; broken otherwise. Never readable."""
    gone = {name for name in ("args", "result") if getattr(payload, name) is None}
    named = "Its arguments and result" if len(gone) == 2 else "Its arguments" if "args" in gone else "Its result"
    by = _redaction_of(entry, gone)
    if by is None:
        return _broken(f"{named} are gone, and no redaction accounts for it.".replace("result are", "result is", 1))
    try:
        kept = {name: payloads.decompress(bytes(getattr(payload, name))) for name in {"args", "result"} - gone}
    except zlib.error:
        return _broken("What a redaction left of it is damaged and cannot be unpacked.")
    salt = _bytes(payload.salt)
    salts = {"args": salt[:16], "result": salt[16:]}
    for name, raw in kept.items():
        if len(salts[name]) != 16 or canonical.commitment(salts[name], raw) != _bytes(getattr(entry, f"{name}_c")):
            return _broken("What a redaction left of it does not match the commitment that was taken of it.")
    if entry.header_version != log.HEADER_VERSION or digest_of(entry) != _bytes(entry.digest):
        return _broken("Its own fields do not match the digest that was taken when they were written.")
    why = f"{named} {'were' if 'args' in gone else 'was'} redacted by A-{by}."
    return Content(None, None, kept.get("args", b""), kept.get("result", b""), False, False, why, redacted_by=by)


def _redaction_of(entry: Entry, gone: set[str]) -> int | None:
    """The newest entry that says that these parts of an entry were redacted, alone or with others; None without one."""
    if entry.kind.startswith("log."):
        return None
    said: set[str] = set()
    found = list(Entry.objects.filter(kind=Kind.LOG_REDACTED, subject=entry.ref, seq__gt=entry.seq).order_by("seq"))
    contents = contents_of(found)
    for one in found:
        args = contents[one.pk].args
        if isinstance(args, dict) and args.get("entry") == entry.seq and args.get("entry_id") == str(entry.pk):
            said |= {"args", "result"} if args.get("part") == "both" else {str(args.get("part"))}
    return found[-1].seq if found and gone <= said else None


def _fault(entry: Entry, salt: bytes, args_raw: bytes, result_raw: bytes) -> str:
    """What does not match, as a sentence; empty when everything does."""
    if entry.header_version != log.HEADER_VERSION:
        return f"It was written in form {entry.header_version}, which this program does not know."
    if len(salt) != 32 or canonical.commitment(salt[:16], args_raw) != _bytes(entry.args_c):
        return "Its arguments do not match the commitment that was taken when they were written."
    if canonical.commitment(salt[16:], result_raw) != _bytes(entry.result_c):
        return "Its result does not match the commitment that was taken when it was written."
    if digest_of(entry) != _bytes(entry.digest):
        return "Its own fields do not match the digest that was taken when they were written."
    return ""


def digest_of(entry: Entry) -> bytes | None:
    """The digest recomputed from the row's columns; None when they hold what no writer could have hashed."""
    try:
        return canonical.entry_digest(header_of(entry))
    except (TypeError, ValueError):
        return None


def leaf_of(entry: Entry) -> bytes:
    """The hash that the entry's leaf has to have, from the row as it is now."""
    record = canonical.leaf_record(
        entry_id=str(entry.pk), seq=entry.seq, at=entry.at, db_role=entry.db_role, digest=_bytes(entry.digest)
    )
    return merkle.leaf_hash(record)


def header_of(entry: Entry) -> dict[str, canonical.Scalar]:
    """The header as it was hashed, from the row's columns."""
    return {name: _hashed(entry, name) for name in header.FIELDS}


def _bytes(stored: bytes | memoryview | None) -> bytes:
    """What stands in a column that is never empty, unless somebody has taken its constraint away."""
    return bytes(stored or b"")


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
