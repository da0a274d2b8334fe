"""Checking one entry by itself: its content against the commitments, its fields against the digest, its leaf."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from audit import canonical
from audit.canonical import Scalar
from audit.verify import tree
from audit.verify.findings import Report

# The fields that an entry's digest covers, by the version of its header.
FIELDS = {
    1: (
        "header_version", "kind", "actor_kind", "actor", "principal", "subject", "summary", "run_id", "call_id",
        "parent", "tool", "tool_version", "tool_hash", "source", "certificate", "incident_id", "status", "duration_ms",
        "error_class", "error", "args_bytes", "args_sha256", "result_bytes", "result_sha256", "truncated",
        "writer", "writer_run", "writer_seq",
        "args_c", "result_c",
    )
}  # fmt: skip
PARTS = {"args": "arguments", "result": "result"}
ID_MAY_DIFFER = timedelta(seconds=61)  # the database refuses an id whose time is more than 60 s away


@dataclass(frozen=True)
class Part:
    """The arguments or the result as they are kept; no bytes when they were redacted or lost."""

    salt: bytes | None = None
    kept: bytes | None = None
    damage: str = ""  # a sentence, when there is something that cannot be read


@dataclass(frozen=True)
class Entry:
    """An entry as it was found, whether in a file or in the database."""

    id: str
    seq: int
    at: datetime
    db_role: str
    digest: bytes
    header: Mapping[str, Scalar]
    args: Part = field(default_factory=Part)
    result: Part = field(default_factory=Part)
    redacted_by: int | None = None
    place: tuple[int, int, str] | None = None  # epoch, transaction, id: the order of sealing, known to the database

    @property
    def ref(self) -> str:
        return f"A-{self.seq}"

    def redacted(self, by: int) -> Entry:
        """The same entry, with a redaction that accounts for what of it is gone."""
        return replace(self, redacted_by=by)

    def text(self, name: str) -> str:
        """A field of its header as text; empty when it is not there."""
        value = self.header.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """A field of its header as a number; None when it is not one."""
        value = self.header.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def leaf_hash(entry: Entry) -> bytes | None:
    """The leaf that an entry gives; None when its fields cannot be written canonically."""
    try:
        record = canonical.leaf_record(
            entry_id=entry.id, seq=entry.seq, at=entry.at, db_role=entry.db_role, digest=entry.digest
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return tree.leaf(record)


def check(entry: Entry, report: Report) -> bool:
    """Report what of an entry does not fit; whether everything does, redacted parts aside."""
    faults = [*_form(entry), *_digest(entry), *_time(entry)]
    faults += [("D2", fault) for name in PARTS for fault in _content(entry, name)]
    for code, sentence in faults:
        report.add(code, entry.ref, sentence)
    return not faults


def _form(entry: Entry) -> list[tuple[str, str]]:
    version = entry.number("header_version")
    if version not in FIELDS:
        return [("V1", f"Its header is of version {version}, which this program does not know.")]
    differing = set(FIELDS[version]) ^ set(entry.header)
    if differing:
        return [("V1", f"Its header has not the fields of version {version}: {', '.join(sorted(differing))[:200]}.")]
    return []


def _digest(entry: Entry) -> list[tuple[str, str]]:
    try:
        found = canonical.entry_digest(entry.header)
    except (TypeError, ValueError):
        return [("D1", "Its fields hold what no writer could have hashed.")]
    if found != entry.digest:
        return [("D1", f"Its fields give the digest {found.hex()[:16]}…, and {entry.digest.hex()[:16]}… is stored.")]
    return []


def _content(entry: Entry, name: str) -> list[str]:
    part: Part = getattr(entry, name)
    if part.damage:
        return [part.damage]
    if part.kept is None:
        return [] if entry.redacted_by is not None else [f"Its {PARTS[name]} are gone, and no redaction is recorded."]
    if part.salt is None or len(part.salt) != 16:
        return [f"The salt of its {PARTS[name]} is not 16 bytes."]
    if canonical.commitment(part.salt, part.kept).hex() != entry.header.get(f"{name}_c"):
        return [f"Its {PARTS[name]} do not give the commitment that was taken when they were written."]
    whole = entry.number(f"{name}_bytes")
    if whole != len(part.kept) and not (entry.text(f"{name}_sha256") and (whole or 0) > len(part.kept)):
        return [f"Its {PARTS[name]} are {len(part.kept)} bytes long, and {whole} were recorded."]
    return []


def _time(entry: Entry) -> list[tuple[str, str]]:
    made = time_of_id(entry.id)
    if made is None:
        return [("T1", "Its id carries no time, as every id that the database gives does.")]
    if abs(made - entry.at) > ID_MAY_DIFFER:
        return [("T1", f"Its time is {entry.at:%Y-%m-%d %H:%M:%S} UTC, and its id was made {made:%Y-%m-%d %H:%M:%S}.")]
    return []


def time_of_id(text: str) -> datetime | None:
    """When a UUID of version 7 was made (RFC 9562, 5.7); None for any other."""
    try:
        key = uuid.UUID(text)
    except ValueError:
        return None
    if key.version != 7:
        return None
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=key.int >> 80)
    except OverflowError:
        return None
