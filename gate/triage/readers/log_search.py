"""What every search of logs says, whatever the tool: where it looked, for what, over which time, what it counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gate.triage.readers.document import Answer, Document, Unreadable

STARTS = ("start", "startRfc3339", "start_time", "startTime", "from")
ENDS = ("end", "endRfc3339", "end_time", "endTime", "to")


@dataclass(frozen=True)
class Asked:
    """A search as it was asked. Both ends belong to the window."""

    place: frozenset[tuple[str, str]]  # index, data source or region, besides the recorded source of the call
    selector: frozenset[tuple[str, str]]  # labels or fields that a line must have
    patterns: tuple[str, ...]  # texts that a line must contain, all of them
    begins: datetime
    ends: datetime


class LogSearch(Answer):
    """An answer of a search of logs. What a system does not say is unreadable; a reader adds what it does say."""

    LAG = timedelta(seconds=1)  # lines younger than this may not have arrived

    def asked(self) -> Asked:
        """What was asked. A query of a shape that is not understood is unreadable."""
        raise Unreadable("", "what was searched for cannot be told.", "not said")

    def complete(self) -> bool:
        """True. Raises Unreadable unless the answer is finished and whole by every mark that its system has."""
        raise Unreadable("", "nothing says that the search was finished.", "not said")

    def found(self) -> int:
        """How many lines match, counted at the source."""
        raise Unreadable("", "nothing was counted at the source.", "no count")

    def at_least(self) -> int:
        """How many lines there are at least: for showing that there are some, a count that stopped is enough."""
        return self.found()

    def has_lines(self) -> bool:
        """Whether any line that matches came back at all, also in a list that may be cut."""
        return self.found() > 0

    def has_lines_since(self, moment: datetime) -> bool:
        """Whether what was listed of a wider window says by its own times that there are lines from a moment on."""
        return False

    def says_scanned(self) -> bool:
        """Whether such a system tells how many lines it looked at."""
        return True

    def scanned(self) -> int:
        """How many lines were looked at."""
        raise Unreadable("", "the answer does not say how many lines were looked at.", "not said")


def the_one(document: Document, spellings: tuple[str, ...], what: str) -> str:
    """Which spelling of an argument was used. Raises Unreadable unless exactly one was: two may disagree."""
    used = [key for key in spellings if key in frozenset(document.keys())]
    if len(used) != 1:
        raise Unreadable("", f"{what} is not said by exactly one of {', '.join(spellings)}.", f"{len(used)} of them")
    return used[0]


def nothing_unknown(document: Document, known: frozenset[str]) -> None:
    """Raises Unreadable for an argument that nobody listed: it may narrow the search or cut the answer."""
    unknown = sorted(document.keys() - known)
    if len(unknown) > 0:
        raise Unreadable("", f"`{unknown[0]}` was asked for, and what it does to the answer is unknown.", unknown[0])
