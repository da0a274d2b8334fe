"""Rows that decide something, held against the newest word of the log about each: see audit/vouching.py.

A hold that is lifted by hand lets a month go, a token that is slipped in lets anybody read, and an override that nobody
gave opens approving while the log does not verify.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models

from audit import verify_rows, vouching
from audit.models import Agent, AgentToken, Definition, Hold, Link, Override, Redaction
from audit.verify import entries
from audit.verify.claims import content
from audit.verify.entries import Entry
from audit.verify.findings import Report


@dataclass(frozen=True)
class Table:
    """A table of such rows: the code of its findings, and how a row is called there."""

    code: str
    noun: str
    also: str = "null"  # what else of a row is looked at


TABLES: Mapping[type[models.Model], Table] = {
    Hold: Table("H1", "hold"),
    Definition: Table("H1", "definition"),
    Override: Table("H2", "override"),
    Redaction: Table("H2", "redaction", "recorded_as::text"),
    Agent: Table("H3", "agent"),
    AgentToken: Table("H3", "token"),
}
CITATIONS: Mapping[type[models.Model], Table] = {Link: Table("H4", "citation")}  # as many as verdicts rest on calls
ALWAYS = "9"  # sorts after every month: what has no time that can be read is never left aside
BATCH = 1000
OF_KINDS = "select id from audit_entry where kind = any(%s) and seq > %s order by seq"


@dataclass(frozen=True)
class Word:
    """What an entry says of a row. Of the entry no more is kept: there are as many as people and rules have decided."""

    digest: str
    ref: str
    month: str  # in which it was written
    record: str | None  # the entry's key, where a redaction has to name it


def check(report: Report, dropped: set[str], *, is_whole: bool, after: int = 0) -> None:
    """Report rows that are not what the newest entry about them says, that are gone, or that no entry made.

    `dropped`: the months, like "202611", whose entries retentions took: of what was last decided in one of them or
    before, nothing is known. Unless `is_whole`, citations are left to a run that is. `after`: the number of an entry;
    what it and those before it said is left aside.
    """
    said = _said(vouching.KINDS if is_whole else vouching.RARE, after)
    latest = max(dropped, default="")  # before every month
    for model, table in {**TABLES, **(CITATIONS if is_whole else {})}.items():
        name = model._meta.db_table
        words = {number: word for (of, number), word in said.items() if of == name}
        for number, digest, month, also in _rows(model, table.also):
            word = words.pop(number, None)
            if (month if word is None else word.month) > latest:
                _check_row(report, table, number, digest, also, word)
        for number, word in words.items():
            if word.month > latest:
                report.add(table.code, word.ref, f"The {table.noun} {number} that it is about is gone.")


def _check_row(
    report: Report, table: Table, number: Any, digest: str, also: str | None, word: Word | None
) -> None:  # fmt: skip
    subject = f"{table.noun} {number}"
    if word is None:
        report.add(table.code, subject, "No entry says who made it.")
    elif word.digest != digest:
        report.add(table.code, subject, f"It is not as {word.ref}, the last entry about it, says.")
    elif also != word.record:
        report.add(table.code, subject, f"It names another entry than {word.ref} as the record of what was done.")


def _said(kinds: Sequence[str], after: int) -> dict[tuple[str, int], Word]:
    """The newest word about each row, in intact entries."""
    keys = [key for (key,) in verify_rows.rows(OF_KINDS, [list(kinds), after])]
    found: dict[tuple[str, int], Word] = {}
    for first in range(0, len(keys), BATCH):
        read = verify_rows.entries_of(keys[first : first + BATCH])
        for entry in sorted(read.values(), key=lambda one: one.seq):
            # Of one that says what a definition is, the text may have been redacted: what it says of rows stays.
            if entries.check(entry.redacted(by=0), Report()):
                for table, number, digest in vouching.said_in(content(entry)):
                    found[table, number] = _word(entry, digest)
    return found


def _word(entry: Entry, digest: str) -> Word:
    made = entries.time_of_id(entry.id)
    record = entry.id if entry.text("kind") == "log.redacted" else None
    return Word(digest, entry.ref, f"{made:%Y%m}" if made else ALWAYS, record)


def _rows(model: type[models.Model], also: str) -> Iterator[tuple[Any, str, str, str | None]]:
    """Each row's number and digest, the month in which it was last decided about, and what else is looked at."""
    name, covered = model._meta.db_table, vouching.COVERED[model]
    times = [one for one in covered if one.endswith("_at") and one != "expires_at"]
    month = f"to_char(greatest({', '.join(times)}) at time zone 'UTC', 'YYYYMM')"
    listed = f"t.id, {also}, coalesce({month}, '{ALWAYS}'), {vouching.columns(model)}"
    statement = f"select {listed} from {name} t where t.id >= %s order by t.id limit {BATCH}"
    start = -1 << 63
    while found := verify_rows.rows(statement, [start]):
        for number, extra, last, *values in found:
            yield number, vouching.digest(name, zip(covered, values, strict=True)), last, extra
        start = found[-1][0] + 1
