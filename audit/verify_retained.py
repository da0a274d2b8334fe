"""Months that are said to be dropped, held against what stays when a month goes: leaves, and the times of checkpoints.

A forged retention has to be of a month that was over, of leaves that were sealed in it, and known to the table too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from audit import verify_rows
from audit.verify.claims import Range, month_bounds
from audit.verify.entries import Entry
from audit.verify.findings import Report
from audit.verify_checkpoints import CLOCKS_DIFFER, LONGEST_TRANSACTION

ROWS = """
select to_char(month, 'YYYYMM'), first_leaf, last_leaf, entries, first_number, last_number, recorded_as,
  recorded_id::text
from audit_retained order by month
"""
# The checkpoint that covers a leaf, and the one before that.
AROUND = """
select (select {at} from audit_checkpoint where size > %(leaf)s order by size limit 1),
  (select {at} from audit_checkpoint where size <= %(leaf)s order by size desc limit 1)
""".format(at="greatest(least(coalesce(at, 'epoch'), '9999-12-30Z'), '0001-01-02Z')")


def check(report: Report, retained: Sequence[tuple[Entry, Range]]) -> None:
    """Report retentions whose leaves were not sealed in their month, or that the table does not know.

    `retained`: what each entry says that it dropped itself.
    """
    listed = {tuple(row) for row in verify_rows.rows(ROWS)}
    for entry, one in retained:
        _check_leaves(report, entry, one)
        if (*_row(one), entry.seq, entry.id) not in listed:
            report.add(
                "K2", entry.ref, f"It says that {one.month} was dropped, and the list of dropped months does not."
            )


def check_rows(report: Report, said: Sequence[Range]) -> None:
    """Report months that the table lists as dropped and that no entry says were: itself, or again in a later one."""
    backed = {_row(one) for one in said}
    for month, *numbers, _, _ in verify_rows.rows(ROWS):
        if (month, *numbers) not in backed:
            report.add("K2", f"month {month}", "It is listed as dropped, and no entry says so.")


def _row(one: Range) -> tuple[str | int | None, ...]:
    return one.month, one.first, one.last, one.entries, one.first_number, one.last_number


def _check_leaves(report: Report, entry: Entry, one: Range) -> None:
    bounds = month_bounds(one.month)
    if bounds is None:
        return  # reported as no month
    began, ended = bounds
    covered, _ = _around(one.first)
    _, before = _around(one.last)
    if covered is not None and covered < began - CLOCKS_DIFFER:
        report.add("K2", entry.ref, f"Leaf {one.first} was sealed before the month {one.month} began.")
    if before is not None and before > ended + LONGEST_TRANSACTION:
        report.add("K2", entry.ref, f"Leaf {one.last} was sealed after the month {one.month} had ended.")
    if not one.first <= one.last or one.entries > one.last - one.first + 1:
        report.add("K2", entry.ref, f"It says {one.entries} entries, and its leaves {one.first} to {one.last} are not.")


def _around(leaf: int) -> tuple[datetime | None, datetime | None]:
    covered, before = verify_rows.rows(AROUND, {"leaf": leaf})[0]
    return covered, before
