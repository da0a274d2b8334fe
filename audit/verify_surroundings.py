"""What stands around the entries: payloads without one, nodes beyond the tree, numbers, epochs, columns, partitions."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from audit import verify_rows
from audit.verify.claims import content
from audit.verify.entries import FIELDS
from audit.verify.entries import check as check_entry
from audit.verify.findings import Report

ORPHANS = """
select entry_id::text from audit_payload p where not exists (select from audit_entry e where e.id = p.entry_id)
"""
BEYOND = "select lvl, idx from audit_node where idx >= %s >> lvl or lvl not in (8, 16, 24, 32, 40) order by 1, 2"
NUMBERS = "select audit_newest_number(), coalesce(max(seq), 0) from audit_entry"
EPOCHS = (
    "select number, e.system_identifier, c.system_identifier from audit_epoch e, pg_control_system() c order by number"
)
COLUMNS = """
select attrelid::regclass::text, attname from pg_attribute
where attrelid = any(%s::regclass[]) and attnum > 0 and not attisdropped
"""
# Partitions are made ahead: a month that lies before the newest of them has, or had, one of its own.
STRAYED = """
select to_char(uuid_extract_timestamp(id) at time zone 'UTC', 'YYYYMM'), count(*)
from audit_entry where tableoid = 'audit_entry_default'::regclass group by 1
having to_char(uuid_extract_timestamp(id) at time zone 'UTC', 'YYYYMM') is null
  or to_char(uuid_extract_timestamp(id) at time zone 'UTC', 'YYYYMM') <= (
    select max(right(inhrelid::regclass::text, 6)) from pg_inherits
    where inhparent = 'audit_entry'::regclass and inhrelid::regclass::text ~ '_[0-9]{6}$')
"""
# All rows, counted from the heap: the digest is in no index, so none decides what is counted.
PLACES = """
select tableoid::regclass::text, count(*), min(uuid_send(id)), max(uuid_send(id)), count(length(digest))
from audit_entry group by 1
union all
select tableoid::regclass::text, count(*), min(uuid_send(entry_id)), max(uuid_send(entry_id)), count(length(salt))
from audit_payload group by 1
"""
MONTH = re.compile(r"[a-z_]+_([0-9]{4})([0-9]{2})")
KNOWN = {
    "audit_entry": {"id", "seq", "at", "xid", "epoch", "db_role", "digest", *FIELDS[1]},
    "audit_payload": {"entry_id", "salt", "args", "result", "codec"},
    "audit_leaf": {"idx", "entry_id", "h"},
}


def check(report: Report, leaves: int, *, seen: int | None, is_pruned: bool) -> None:
    """Report what of the log's surroundings does not fit a tree of so many leaves.

    `seen`: how many entries the walk along leaves and transactions has met, when it was along all of them.
    """
    for (key,) in verify_rows.rows(ORPHANS):
        report.add("P1", key, "Its arguments and result are there, and the entry is not.")
    check_quickly(report, leaves, is_pruned=is_pruned)
    _places(report, seen)


def check_quickly(report: Report, leaves: int, *, is_pruned: bool) -> None:
    """The same without what reads every row of the log."""
    for level, index in verify_rows.rows(BEYOND, [leaves]):
        report.add("N1", f"node {index} of level {level}", f"A tree of {leaves} leaves has no such node.")
    _numbers(report)
    _epochs(report, is_pruned)
    _columns(report)
    for month, count in verify_rows.rows(STRAYED):
        sentence = f"{count} entries of {month} stand in the default partition, and their month had one of its own."
        report.add("M1", "audit_entry_default", sentence)


def _places(report: Report, seen: int | None) -> None:
    """Rows beside their month, or out of the indexes: pages may show them, and no look-up by key meets them."""
    there = 0
    for table, count, first, last, _ in verify_rows.rows(PLACES):
        there += count if table.startswith("audit_entry") else 0
        if (found := MONTH.fullmatch(table)) and not _lies_in(int(found[1]), int(found[2]), bytes(first), bytes(last)):
            report.add("I2", table, "It holds rows whose keys are of another month.")
    if seen is not None and there > seen:
        report.add("I2", "audit_entry", f"It holds {there} rows, and {seen} of them are found by their keys.")


def _lies_in(year: int, month: int, first: bytes, last: bytes) -> bool:
    start, end = datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return _milliseconds(start) <= int.from_bytes(first[:6]) and int.from_bytes(last[:6]) < _milliseconds(end)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000


def _numbers(report: Report) -> None:
    given, newest = verify_rows.rows(NUMBERS)[0]
    if given is not None and given < newest:
        report.add("Q2", f"A-{newest}", f"The next number would be {given + 1}: the sequence was set back.")
    elif given is not None and given > newest:
        report.say(
            f"Q1: {given - newest} numbers after A-{newest} were given out and have no entry. Either what took them "
            "was rolled back, or the newest entries were removed; only receipts and pins can tell."
        )


def _epochs(report: Report, is_pruned: bool) -> None:
    epochs = verify_rows.rows(EPOCHS)
    if not epochs or [number for number, *_ in epochs] != list(range(1, len(epochs) + 1)):
        report.add("E1", "epochs", "They are not numbered from 1 without gaps.")
        return
    recorded = _reopenings()
    for number, lives_in, _ in epochs[1:]:
        # With old entries dropped, the one that recorded an old epoch may be among them.
        if (repr(number), repr(str(lives_in))) not in recorded and not is_pruned:
            report.add("E1", f"epoch {number}", "No entry records that an operator has begun it.")
    if epochs[-1][1] != epochs[-1][2]:
        sentence = "The log stands in another cluster than it says: it was restored and not reopened, or changed."
        report.add("E1", f"epoch {epochs[-1][0]}", sentence)


def _reopenings() -> set[tuple[str, str]]:
    found = verify_rows.rows("select id from audit_entry where kind = 'log.reopened'")
    entries = verify_rows.entries_of([key for (key,) in found]).values()
    said = [content(entry) for entry in entries if check_entry(entry, Report())]
    return {(repr(one.get("epoch")), repr(one.get("system_identifier"))) for one in said if isinstance(one, dict)}


def _columns(report: Report) -> None:
    found = verify_rows.rows(COLUMNS, [list(KNOWN)])
    for table, known in KNOWN.items():
        there = {column for name, column in found if name == table}
        if there != known:
            differing = ", ".join(sorted(there ^ known))
            report.add("M1", table, f"Its columns are not those that entries are made of: {differing}.")
