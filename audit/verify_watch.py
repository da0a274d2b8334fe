"""The verifier's working day: the whole log each day and when somebody asks, and each minute what was sealed since.

What it remembers serves as a pin: a log that was set back or rewritten while it runs is found within the minute, with
nothing but what this process has seen. It forgets when it ends, and when an operator has reopened the log in another
cluster: a restored log ends where its backup did, and an entry of it says who goes on from there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils import timezone

from audit import log, verify_asks, verify_rows, verify_surroundings, verifying
from audit.verify.findings import Finding
from audit.verify.note import Note
from audit.verify.receipts import Receipt
from audit.verify.run import Outside
from audit.verify_asks import NEW, WHOLE
from audit.verify_pass import Guards
from audit.verifying import Result

SECONDS_BETWEEN_LOOKS = 2.0
NEW_EVERY = 60.0  # seconds
WRITTEN_DOWN_EVERY = 3600.0  # seconds: of the runs over new leaves that find nothing, one entry for all of an hour
# The newest checkpoint that a verification has covered, as far as the rows say.
COVERED = """
select coalesce(max(c.size), 0) from audit_checkpoint c
where c.size <= (select size from audit_verification order by id desc limit 1)
"""


@dataclass
class Watch:
    """One verifier at work, until it is told to stop."""

    outside: Outside
    every: timedelta  # between two whole runs
    guards: Guards
    done: Callable[[Result, log.Recorded], None]
    tell: Callable[[Finding], None] = lambda finding: None
    note: Note | None = None  # the newest checkpoint that it has verified
    receipt: Receipt | None = None  # of the last entry that it wrote
    known: frozenset[tuple[str, str]] = frozenset()  # what the last run has found
    runs: int = 0  # over new leaves, since the last that was written down
    since: int | None = None  # where the first of these began
    reopened: tuple[int, int] | None = None  # the epoch that was last seen to be begun, and by which entry
    has_looked: bool = False  # so that it knows that
    looked_at: float = float("-inf")
    written_at: float = float("-inf")

    def go_on(self, stop: threading.Event) -> None:
        """Look for what is due until told to stop. Raises django.db.Error."""
        verify_asks.say(doing="", since=None)
        while not stop.is_set():
            self.round()
            stop.wait(SECONDS_BETWEEN_LOOKS)

    def round(self) -> None:
        """Do what is due."""
        state = verify_asks.state()
        asked = state.asked if state.is_waiting else None
        is_elsewhere = self._was_reopened()
        if is_elsewhere or asked is not None or verifying.due_in(self.every) <= timedelta(0):
            self.whole(asked)
        elif time.monotonic() - self.looked_at >= NEW_EVERY:
            self.new()

    def whole(self, asked: int | None = None) -> Result:
        """Verify the whole log, and write down what was found."""
        answered = {} if asked is None else {"answered": asked}
        verify_asks.say(doing=WHOLE, since=timezone.now(), **answered)
        try:
            result = verifying.verify(self._outside(), guards=self.guards, tell=self.tell)
            self._write(result, asked=asked)
        finally:
            verify_asks.say(doing="", since=None)
        self._remember(result)
        return result

    def new(self) -> Result:
        """Verify what was sealed since the last run; write it down when it found something new, or after an hour."""
        verify_asks.say(doing=NEW, since=timezone.now())
        result = verifying.verify_new(self._outside(), self._from(), guards=self.guards, tell=self.tell)
        self.runs += 1
        self.since = result.since if self.since is None else self.since
        is_news = bool(_named(result) - self.known)
        if is_news or time.monotonic() - self.written_at >= WRITTEN_DOWN_EVERY:
            self._write(replace(result, since=self.since))
        found = result.report.counts.total()
        verify_asks.say(
            doing="", since=None, new_at=timezone.now(), new_from=result.since, new_size=result.size, new_findings=found
        )
        self._remember(result)
        return result

    def _was_reopened(self) -> bool:
        """Whether the log goes on in another cluster since the last look; what was seen of it is forgotten then."""
        now = verify_surroundings.reopened_as()
        is_new = self.has_looked and now is not None and now != self.reopened
        self.reopened, self.has_looked = now, True
        if is_new:
            self.note = self.receipt = None
            self.known = frozenset()
        return is_new

    def _from(self) -> int:
        if self.note is not None:
            return self.note.size
        return int(verify_rows.rows(COVERED)[0][0] or 0)

    def _outside(self) -> Outside:
        """What was given, and what it has seen itself."""
        pins = (*self.outside.pins, self.note) if self.note else self.outside.pins
        given = self.outside.receipts
        receipts = given if self.receipt is None else (*(given or ()), self.receipt)
        return replace(self.outside, pins=pins, receipts=receipts)

    def _write(self, result: Result, asked: int | None = None) -> None:
        receipt = verifying.record(result, runs=self.runs if result.is_new else 1, asked=asked)
        self.receipt = Receipt(str(receipt.seq), receipt.digest.hex())
        self.runs, self.since, self.written_at = 0, None, time.monotonic()
        self.done(result, receipt)

    def _remember(self, result: Result) -> None:
        self.looked_at = time.monotonic()
        self.known = _named(result)
        # Of a log that has findings, what was seen before them stays.
        if result.report.is_clean and result.last_note is not None:
            self.note = result.last_note


def _named(result: Result) -> frozenset[tuple[str, str]]:
    return frozenset((finding.code, finding.subject) for finding in result.report.first)
