"""What verifications have found stands in rows that pages read. Each row is held against the entry that records it.

Whoever deletes a row with findings, or adds a clean one, turns the red bar off; the entries say what was there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from audit import verify_rows
from audit.verify.claims import content
from audit.verify.entries import Entry
from audit.verify.entries import check as check_entry
from audit.verify.findings import Report

TAG = b"audit-verification/v1\0"
NEWEST = 200  # that a run over new leaves looks at
ROWS = """
select id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_char(at at time zone 'UTC', 'YYYYMM'),
  size, is_full, findings::text, finding_count, is_clean from audit_verification where id >= %s order by id
"""
RECORDED = "select id from audit_entry where kind = 'log.verified' order by seq desc limit %s"


@dataclass(frozen=True)
class Row:
    """A row of audit_verification, with texts where an intruder may have put anything."""

    id: int
    at: str | None
    month: str | None
    size: int | None
    is_full: bool | None
    findings: str | None
    finding_count: int | None
    is_clean: bool | None

    def digest(self) -> str:
        """SHA-256 over a tag and the row as JSON with sorted keys, its findings being JSON too; in hex."""
        said = {
            "id": self.id,
            "at": self.at,
            "size": self.size,
            "is_full": self.is_full,
            "findings": _value(self.findings),
            "finding_count": self.finding_count,
            "is_clean": self.is_clean,
        }
        return hashlib.sha256(TAG + json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _value(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return text  # no verification has written it, and it differs from what one did write


def rows(from_id: int = -(1 << 62)) -> dict[int, Row]:
    """The rows from one number on, by their numbers."""
    return {row[0]: Row(*row) for row in verify_rows.rows(ROWS, [from_id])}


def check(report: Report, dropped: set[str], *, is_whole: bool) -> None:
    """Report rows and entries that do not belong to each other.

    `dropped`: the months, like "202611", whose entries retentions took. Unless `is_whole`, the newest are looked at.
    """
    said = _records(1 << 62 if is_whole else NEWEST)
    oldest = min((number for _, number, _ in said if number is not None), default=None)
    kept = rows() if is_whole or oldest is None else rows(oldest)
    for entry, number, digest in sorted(said, key=lambda one: one[0].seq):
        _check_entry(report, entry, kept.get(number) if number is not None else None, digest)
    named = {number for _, number, _ in said}
    for row in kept.values():
        if row.id not in named and row.month not in dropped:
            report.add("W1", f"verification {row.id}", "No entry records it, so nobody has run it.")


def recorded() -> set[int]:
    """The numbers of the rows that entries record."""
    return {number for _, number, _ in _records(1 << 62) if number is not None}


def _records(most: int) -> list[tuple[Entry, int | None, str | None]]:
    """The newest entries that record a verification, each with the number and the digest of its row."""
    found = verify_rows.rows(RECORDED, [most])
    entries = verify_rows.entries_of([key for (key,) in found]).values()
    return [(entry, *_said(entry)) for entry in entries if check_entry(entry, Report())]


def _said(entry: Entry) -> tuple[int | None, str | None]:
    args = content(entry)
    if not isinstance(args, dict) or type(args.get("verification")) is not int:
        return None, None
    return args["verification"], str(args.get("row"))


def _check_entry(report: Report, entry: Entry, row: Row | None, digest: str | None) -> None:
    if row is None:
        report.add("W1", entry.ref, "The row of the verification that it records is gone.")
    elif row.digest() != digest:
        report.add("W1", entry.ref, f"The row {row.id} does not say what this verification has found.")


def add(values: dict[str, Any]) -> tuple[int, str]:
    """Write a row down; its number and its digest, as the database has it."""
    names = ", ".join(values)
    statement = f"insert into audit_verification ({names}) values ({', '.join(['%s'] * len(values))}) returning id"
    number = int(verify_rows.rows(statement, list(values.values()))[0][0])
    return number, rows(number)[number].digest()
