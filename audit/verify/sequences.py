"""Numbers that have to be dense or single: those of writers, and those of entries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from audit.verify.entries import Entry
from audit.verify.findings import Report

WIDTH = 1024


class Seen:
    """A set of numbers, as bits: a million that lie close take 125 kB."""

    def __init__(self) -> None:
        self._bits: defaultdict[int, int] = defaultdict(int)

    def add(self, number: int) -> bool:
        """Add a number; whether it was not there before."""
        block, bit = number // WIDTH, 1 << number % WIDTH
        is_new = not self._bits[block] & bit
        self._bits[block] |= bit
        return is_new

    def __contains__(self, number: int) -> bool:
        return bool(self._bits.get(number // WIDTH, 0) & 1 << number % WIDTH)


@dataclass
class _Writer:
    number: int
    pruned: int  # how many leaves had been pruned when it was last seen


class Writers:
    """The streams of numbers, one for each database session that has written. They begin at 1 and have no gaps."""

    def __init__(self, report: Report, *, is_from_the_start: bool) -> None:
        self.report = report
        self.is_from_the_start = is_from_the_start
        self.pruned = 0
        self._last: dict[str, _Writer] = {}

    def take(self, entry: Entry) -> None:
        """The next entry in the order of the leaves."""
        run, number = f"{entry.text('writer')}/{entry.text('writer_run')}", entry.number("writer_seq")
        if number is None:
            return  # its digest says so already
        last = self._last.get(run)
        if last is None:
            # A run that began before the part that is looked at may begin with any number.
            last = _Writer(0 if self.is_from_the_start else number - 1, 0)
        if number <= last.number:
            self.report.add("G2", entry.ref, f"The writer {run} had given number {number} or a later one before.")
            return
        # Between two entries of a writer, as many of its entries may be gone as leaves were pruned.
        if number - last.number - 1 > self.pruned - last.pruned:
            self.report.add("G1", entry.ref, f"The writer {run} goes from number {last.number} to {number}.")
        self._last[run] = _Writer(number, self.pruned)


class Calls:
    """Calls that have started and not finished: at work now, or with an outcome that nobody knows."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}

    def take(self, entry: Entry) -> None:
        """The next entry in the order of the leaves."""
        kind, call = entry.text("kind"), entry.text("call_id")
        if kind == "call.started" and call:
            self._open[call] = entry.ref
        elif kind == "call.finished":
            self._open.pop(call, None)

    def sentence(self) -> str:
        """What is open, for the report; empty when nothing is."""
        if not self._open:
            return ""
        named = ", ".join(list(self._open.values())[:5])
        return f"{len(self._open)} calls were started and have not finished: {named}."
