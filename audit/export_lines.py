"""The lines of an export as values: one format for everything that leaves the log.

First the export itself, then an entry each, last the checkpoint that the leaves and proofs belong to. What a line says
is what is stored: payloads are the stored text, so that the receiver hashes the same bytes. In damaged text, bytes
beyond ASCII stand as lone surrogates (Python's surrogateescape).
"""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import Any

from audit import payloads, reading
from audit.canonical import time_text
from audit.export_rows import Extent, Row, Selection
from audit.models import Entry, Payload

FORMAT = "counterseal-log/1"
Line = dict[str, Any]


def opening(selection: Selection, at: Extent, made_at: datetime) -> Line:
    """The first line: what was asked for, and whether every leaf below the checkpoint follows in order."""
    return {
        "type": "export",
        "format": FORMAT,
        "origin": at.origin,
        "filter": selection.described(),
        "complete": selection.is_everything,
        "made_at": time_text(made_at),
    }


def closing(size: int, note: str | None) -> Line:
    """The last line: the signed checkpoint. A log that was never sealed has none."""
    return {"type": "checkpoint", "size": size, "note": note}


def line(row: Row) -> Line:
    """The line of one row."""
    if row.entry is None:
        return _without_entry(row)
    content = reading.check(row.entry, row.payload)
    said = {"type": "entry", **_stamped(row.entry), **_content(row.payload), "leaf": row.leaf}
    if row.proof is not None:
        said["proof"] = [hashed.hex() for hashed in row.proof]
    elif row.leaf_hash is not None:
        said["hash"] = row.leaf_hash.hex()  # names the entry that does not give it; else only the root would tell
    if content.redacted_by is not None:
        said["redacted_by"] = content.redacted_by
    elif not content.is_intact:
        said["damaged"] = content.why
    return said


def _without_entry(row: Row) -> Line:
    said: Line = {"leaf": row.leaf, "hash": row.leaf_hash.hex() if row.leaf_hash else None}
    if row.gone_by is None:
        return {"type": "missing", **said}
    return {"type": "pruned", **said, "by": row.gone_by}


def _stamped(entry: Entry) -> Line:
    return {
        "id": str(entry.pk),
        "seq": entry.seq,
        "at": time_text(entry.at),
        "db_role": entry.db_role,
        "digest": bytes(entry.digest or b"").hex(),
        "header": reading.header_of(entry),
    }


def _content(payload: Payload | None) -> Line:
    if payload is None:
        return {"args": None, "result": None, "salt": None}
    salt = bytes(payload.salt).hex() if payload.salt is not None else None
    return {"args": _text(payload.args), "result": _text(payload.result), "salt": salt}


def _text(stored: bytes | memoryview | None) -> str | None:
    if stored is None:
        return None
    try:
        return payloads.decompress(bytes(stored)).decode("ascii", "surrogateescape")
    except zlib.error:
        return None
