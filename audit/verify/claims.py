"""What is claimed to have been taken out on purpose, held against what the log says about it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from audit.verify.entries import PARTS, Entry, time_of_id
from audit.verify.findings import Report
from audit.verify.sequences import Seen

# Entries are sealed in the order of their transactions, so one may be older than its neighbors by as long as a
# transaction may be open (10 minutes), and by what clocks and keys may differ.
OUT_OF_ORDER = timedelta(minutes=12)


@dataclass(frozen=True)
class Range:
    """A partition that was dropped: its leaves lie between these two, and were so many."""

    first: int
    last: int
    entries: int
    partition: str
    first_number: int | None = None  # of the entries, when the record says so
    last_number: int | None = None

    @property
    def month(self) -> str:
        """The month that was dropped, like "202611"."""
        return self.partition[-6:]


def ranges_of(args: Any) -> list[Range]:
    """What a `log.retained` entry says was dropped: itself, and under "restates" what earlier such entries said."""
    if not isinstance(args, dict):
        return []
    earlier = args.get("restates")
    found = [args, *earlier] if isinstance(earlier, list) else [args]
    return [made for one in found if (made := _range(one)) is not None]


def month_bounds(month: str) -> tuple[datetime, datetime] | None:
    """When a month like "202611" begins and when the next one does; None for what is none."""
    if not (month.isascii() and month.isdigit() and len(month) == 6):
        return None
    try:
        began = datetime.strptime(month, "%Y%m").replace(tzinfo=UTC)
        return began, began.replace(year=began.year + began.month // 12, month=began.month % 12 + 1)
    except ValueError:
        return None


def _range(value: Any) -> Range | None:
    if not isinstance(value, dict):
        return None
    first, last, entries = (_number(value, name) for name in ("first_leaf", "last_leaf", "entries"))
    if first is None or last is None or entries is None:
        return None
    numbers = _number(value, "first_number"), _number(value, "last_number")
    return Range(first, last, entries, str(value.get("partition")), *numbers)


def _number(value: dict[str, Any], name: str) -> int | None:
    found = value.get(name)
    return found if type(found) is int else None


@dataclass
class Span:
    """Leaves next to each other whose entries are said to be dropped, and when those beside them were written."""

    first: int
    last: int
    before: datetime | None
    after: datetime | None = None

    def may_be_of(self, month: str) -> bool:
        """Whether entries of a month can lie between the two that are there: sealing goes by time, or nearly so."""
        bounds = month_bounds(month)
        if bounds is None:
            return True  # reported as no month
        began, ended = bounds
        is_after = self.before is None or self.before - OUT_OF_ORDER <= ended
        return is_after and (self.after is None or began <= self.after + OUT_OF_ORDER)


class Claims:
    """The redactions and retentions that rows or lines claim, and those that intact entries of the log record."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.pruned = 0
        self._pruned_by: dict[int, list[Span]] = {}  # by the number of the retention
        self._open: list[Span] = []  # the spans after which no entry has come yet
        self._written: datetime | None = None  # when the last sealed entry was, that is there
        self._kept = {name: Seen() for name in PARTS}  # the numbers of entries that have this part
        self._redacted: list[tuple[Entry, set[str]]] = []
        self._retentions: dict[int, list[Range]] = {}
        self._retained_at: dict[int, datetime] = {}
        self._redactions: dict[int, dict[str, set[str]]] = {}  # by the entry's number: the parts, with its ids
        self._redacting: set[tuple[int, int]] = set()  # (redaction, entry)
        self._unproven: dict[int, tuple[int, str, tuple[str, ...]]] = {}  # redaction → entry, its id, the parts
        self._months: set[tuple[int, int]] = set()  # of the entries that are there

    def learn(self, entry: Entry) -> None:
        """An intact entry, which may be the record of a redaction or a retention."""
        kind = entry.text("kind")
        if kind == "log.retained":
            self._retentions[entry.seq] = ranges_of(content(entry))
            self._retained_at[entry.seq] = entry.at
        elif kind == "log.redacted":
            self._learn_redaction(entry.seq, content(entry))

    def hear(self, entry: Entry) -> None:
        """An intact entry of a file that is not sealed: anybody may have put it there, so it proves nothing.

        A redaction shows before its own entry is sealed, a second later; this tells that from one that nobody recorded.
        """
        said = content(entry) if entry.text("kind") == "log.redacted" else None
        if isinstance(said, dict) and type(said.get("entry")) is int:
            self._unproven[entry.seq] = (said["entry"], str(said.get("entry_id")), _parts(said))

    def there(self, entry: Entry, *, is_sealed: bool) -> None:
        """An entry that is there, so its month was not dropped; and what of it is there, so that was not redacted."""
        if made := time_of_id(entry.id):
            self._months.add((made.year, made.month))
        for name in PARTS:
            if getattr(entry, name).kept is not None:
                self._kept[name].add(entry.seq)
        if is_sealed:
            self._written = entry.at
            for span in self._open:
                span.after = entry.at
            self._open.clear()

    def _learn_redaction(self, seq: int, args: Any) -> None:
        if not isinstance(args, dict) or type(args.get("entry")) is not int:
            return
        self._redacting.add((seq, args["entry"]))
        parts = self._redactions.setdefault(args["entry"], {})
        for part in _parts(args):
            parts.setdefault(part, set()).add(str(args.get("entry_id")))

    def redacted(self, entry: Entry) -> None:
        """An entry of which a part is said to have been redacted."""
        gone = {name for name in PARTS if getattr(entry, name).kept is None and not getattr(entry, name).damage}
        if entry.redacted_by is not None and gone:
            # Without what is kept of it: only its numbers are needed.
            self._redacted.append(
                (Entry(entry.id, entry.seq, entry.at, "", b"", {}, redacted_by=entry.redacted_by), gone)
            )

    def prune(self, leaf: int, by: int) -> None:
        """A leaf whose entry is said to have been dropped by a retention."""
        self.pruned += 1
        spans = self._pruned_by.setdefault(by, [])
        if spans and spans[-1].last == leaf - 1:
            spans[-1].last = leaf
        else:
            spans.append(Span(leaf, leaf, self._written))
            self._open.append(spans[-1])

    def dropped(self) -> list[Range]:
        """Every range that was dropped, but of months that have entries."""
        there = self._months_there()
        return [one for found in self._retentions.values() for one in found if one.month not in there]

    def _months_there(self) -> set[str]:
        return {f"{year:04}{month:02}" for year, month in self._months}

    def settle(self, *, is_whole: bool) -> None:
        """Report every claim that no entry of the log backs. With the whole log, counts have to fit too."""
        for entry, gone in self._redacted:
            self._settle_redaction(entry, gone)
        self._settle_undone()
        for by, spans in sorted(self._pruned_by.items()):
            self._settle_retention(by, spans)
        self._settle_months()
        self._settle_restatements()
        dropped = {one.partition: one.entries for found in self._retentions.values() for one in found}
        if is_whole and self._retentions and sum(dropped.values()) != self.pruned:
            said = sum(dropped.values())
            self.report.add("K2", "log", f"Retentions dropped {said} entries, and {self.pruned} leaves have none.")

    def _settle_redaction(self, entry: Entry, gone: Iterable[str]) -> None:
        by = entry.redacted_by or 0
        named, key, parts = self._unproven.get(by, (0, "", ()))
        if (named, key) == (entry.seq, entry.id) and set(gone) <= set(parts):
            self.report.say(f"{entry.ref} was redacted by A-{by}, which is not sealed yet: a later export proves it.")
            return
        for name in sorted(gone):
            # Its parts may have been redacted one after the other; a line or row names one of the redactions.
            ids = self._redactions.get(entry.seq, {}).get(name, set())
            if entry.id not in ids or (by, entry.seq) not in self._redacting:
                sentence = f"Its {PARTS[name]} are said to be redacted by A-{by}, and the log does not say so."
                self.report.add("K1", entry.ref, sentence)

    def _settle_undone(self) -> None:
        """What was redacted must not be there: whoever kept a copy can put it back, and its commitment fits."""
        for number, parts in sorted(self._redactions.items()):
            for name in sorted(parts.keys() & self._kept.keys()):
                if number in self._kept[name]:
                    sentence = f"The log says that its {PARTS[name]} were redacted, and they are there."
                    self.report.add("K3", f"A-{number}", sentence)

    def _settle_retention(self, by: int, spans: list[Span]) -> None:
        ranges = self._retentions.get(by, [])
        for span in spans:
            # Partitions overlap by a few leaves, so a span may lie in two ranges together.
            if not _covered(span.first, span.last, [one for one in ranges if span.may_be_of(one.month)]):
                named = f"leaf {span.first}" if span.first == span.last else f"leaves {span.first} to {span.last}"
                said = "does not say so, or says it of a month far from theirs"
                self.report.add("K2", named, f"They are said to be dropped by A-{by}, which {said}.")

    def _settle_months(self) -> None:
        """A month goes as a whole: whoever says so of one that has entries has taken some of them out."""
        there = self._months_there()
        for by, ranges in sorted(self._retentions.items()):
            for month in sorted({one.month for one in ranges} & there):
                sentence = f"It says that the month {month} was dropped, and entries of it are there."
                self.report.add("K2", f"A-{by}", sentence)
            if ranges and not _was_over(ranges[0].month, self._retained_at[by]):
                sentence = f"It says that the month {ranges[0].month} was dropped, which no retention may do so soon."
                self.report.add("K2", f"A-{by}", sentence)

    def _settle_restatements(self) -> None:
        """Each retention says again what those before it dropped; all have to say the same of one partition."""
        first: dict[str, tuple[int, Range]] = {}
        for by, ranges in sorted(self._retentions.items()):
            for one in ranges:
                earlier, said = first.setdefault(one.partition, (by, one))
                if one != said:
                    sentence = f"It says other leaves of {one.partition} than A-{earlier} does."
                    self.report.add("K2", f"A-{by}", sentence)


def _parts(said: dict[str, Any]) -> tuple[str, ...]:
    return tuple(PARTS) if said.get("part") == "both" else (str(said.get("part")),)


def _was_over(month: str, at: datetime) -> bool:
    """Whether a month had ended a whole month before a moment: a younger one is never dropped."""
    bounds = month_bounds(month)
    following = month_bounds(f"{bounds[1]:%Y%m}") if bounds else None
    return following is not None and following[1] <= at


def _covered(first: int, last: int, ranges: Iterable[Range]) -> bool:
    for one in sorted(ranges, key=lambda found: found.first):
        if one.first <= first <= one.last:
            first = one.last + 1
    return first > last


def content(entry: Entry) -> Any:
    """The arguments of an entry, as a value; None when they are not there or not JSON."""
    try:
        return json.loads(entry.args.kept or b"")
    except (ValueError, RecursionError):
        return None
