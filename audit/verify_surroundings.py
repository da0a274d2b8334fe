"""What stands around the entries: payloads without one, nodes beyond the tree, numbers, epochs, columns, partitions."""

from __future__ import annotations

import re
from datetime import datetime

from audit import verify_rows
from audit.verify.claims import content, month_bounds
from audit.verify.entries import FIELDS
from audit.verify.entries import check as check_entry
from audit.verify.findings import Report

ORPHANS = """
select entry_id::text from audit_payload p where not exists (select from audit_entry e where e.id = p.entry_id)
"""
BEYOND = """
select lvl, idx from audit_node where idx not between 0 and (%s >> lvl) - 1 or lvl not in (8, 16, 24, 32, 40)
union all select lvl, idx from audit_node group by lvl, idx having count(*) > 1 order by 1, 2
"""
NUMBERS = "select audit_newest_number(), coalesce(max(seq), 0) from audit_entry"
EPOCHS = (
    "select number, e.system_identifier, c.system_identifier from audit_epoch e, pg_control_system() c order by number"
)
# Partitions are made ahead: a month that lies before the newest of them has, or had, one of its own.
STRAYED = """
select place, month, count(*) from (
  select tableoid::regclass::text as place, to_char(uuid_extract_timestamp(id) at time zone 'UTC', 'YYYYMM') as month
  from audit_entry where tableoid = 'audit_entry_default'::regclass
  union all
  select tableoid::regclass::text, to_char(uuid_extract_timestamp(entry_id) at time zone 'UTC', 'YYYYMM')
  from audit_payload where tableoid = 'audit_payload_default'::regclass
) stray group by 1, 2
having month is null or month <= (
    select max(right(inhrelid::regclass::text, 6)) from pg_inherits
    where inhparent = 'audit_entry'::regclass and inhrelid::regclass::text ~ '_[0-9]{6}$')
order by 1, 2
"""
# All rows, counted from the heap: the digest is in no index, so none decides what is counted.
PLACES = """
select tableoid::regclass::text, count(*), min(uuid_send(id)), max(uuid_send(id)), count(length(digest))
from audit_entry group by 1
union all
select tableoid::regclass::text, count(*), min(uuid_send(entry_id)), max(uuid_send(entry_id)), count(length(salt))
from audit_payload group by 1
"""
MONTH = re.compile(r"[a-z_]+_([0-9]{6})")
KNOWN = {
    "audit_entry": {"id", "seq", "at", "xid", "epoch", "db_role", "digest", *FIELDS[1]},
    "audit_payload": {"entry_id", "salt", "args", "result", "codec"},
    "audit_leaf": {"idx", "entry_id", "h"},
}  # the columns that a slice is copied by


def check(report: Report, leaves: int, *, seen: int | None, is_pruned: bool) -> None:
    """Report what of the log's surroundings does not fit a tree of so many leaves.

    `seen`: how many entries the walk along leaves and transactions has met, when it was along all of them.
    """
    orphans = verify_rows.rows(ORPHANS)
    for (key,) in orphans:
        report.add("P1", key, "Its arguments and result are there, and the entry is not.")
    check_quickly(report, leaves, is_pruned=is_pruned)
    _places(report, seen, len(orphans))


def check_quickly(report: Report, leaves: int, *, is_pruned: bool) -> None:
    """The same without what reads every row of the log."""
    for level, index in verify_rows.rows(BEYOND, [leaves]):
        report.add("N1", f"node {index} of level {level}", f"A tree of {leaves} leaves has no such node, or one alone.")
    check_beside(report, is_pruned=is_pruned)


def check_beside(report: Report, *, is_pruned: bool) -> None:
    """What can be said without the tree: of numbers, epochs and the default partitions."""
    _numbers(report)
    _epochs(report, is_pruned)
    for place, month, count in verify_rows.rows(STRAYED):
        sentence = f"{count} rows of {month} stand in the default partition, and their month had one of its own."
        report.add("M1", place, sentence)


def _places(report: Report, seen: int | None, orphans: int) -> None:
    """Rows beside their month, or out of the indexes: pages may show them, and no look-up by key meets them."""
    there = {"audit_entry": 0, "audit_payload": 0}
    for table, count, first, last, _ in verify_rows.rows(PLACES):
        there["audit_entry" if table.startswith("audit_entry") else "audit_payload"] += count
        if (found := MONTH.fullmatch(table)) and not _lies_in(found[1], bytes(first or b""), bytes(last or b"")):
            report.add("I2", table, "It holds rows whose keys are of another month.")
    entries, payloads = there["audit_entry"], there["audit_payload"]
    if seen is not None and entries > seen:
        report.add("I2", "audit_entry", f"It holds {entries} rows, and {seen} of them are found by their keys.")
    if payloads - orphans > entries:
        report.add("I2", "audit_payload", f"It holds {payloads} rows for {entries} entries: some have two.")


def _lies_in(month: str, first: bytes, last: bytes) -> bool:
    bounds = month_bounds(month)
    if bounds is None:
        return False
    return _milliseconds(bounds[0]) <= int.from_bytes(first[:6]) and int.from_bytes(last[:6]) < _milliseconds(bounds[1])


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
    recorded = _reopenings().keys()
    for number, lives_in, _ in epochs[1:]:
        # With old entries dropped, the one that recorded an old epoch may be among them.
        if (repr(number), repr(str(lives_in))) not in recorded and not is_pruned:
            report.add("E1", f"epoch {number}", "No entry records that an operator has begun it.")
    if epochs[-1][1] != epochs[-1][2]:
        sentence = "The log stands in another cluster than it says: it was restored and not reopened, or changed."
        report.add("E1", f"epoch {epochs[-1][0]}", sentence)


def reopened_as() -> tuple[int, int] | None:
    """The newest epoch, and the number of the entry that says that an operator has begun it in this cluster.

    None in the first epoch, and when no intact entry says so.
    """
    epochs = [row for row in verify_rows.rows(EPOCHS) if row[0] is not None]
    number, lives_in, here = max(epochs, key=lambda row: int(row[0]), default=(0, 0, 0))
    by = _reopenings().get((repr(number), repr(str(lives_in)))) if number > 1 and lives_in == here else None
    return None if by is None else (number, by)


def _reopenings() -> dict[tuple[str, str], int]:
    """The epochs and clusters that intact entries say were begun, each with the number of the entry."""
    found: dict[tuple[str, str], int] = {}
    for entry in verify_rows.of_kind("log.reopened"):
        said = content(entry) if check_entry(entry, Report()) else None
        if isinstance(said, dict):
            found[repr(said.get("epoch")), repr(said.get("system_identifier"))] = entry.seq
    return found
