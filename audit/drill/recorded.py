"""How a drill went, as an entry of the log: a drill that misses a tampering must not be a line in a file alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from audit import log, reading
from audit.drill.run import Outcome
from audit.kinds import Kind
from audit.models import Entry

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
EVERY = timedelta(hours=36)  # a nightly drill that is older than this did not run


def record(outcomes: Sequence[Outcome], entries: int) -> log.Recorded:
    """Write down what was tried on a copy of so many entries, and what was found. Raises psycopg.Error."""
    missed = [one.tampering.name for one in outcomes if not one.is_found]
    said = {"entries": entries, "tried": len(outcomes), "found": len(outcomes) - len(missed), "missed": missed}
    summary = f"{said['found']} of {said['tried']} tamperings of {entries} entries were found"
    return log.record(
        Kind.LOG_DRILLED, log.Actor.process(), subject="log", status=FAILED if missed else OK, summary=summary,
        args=said,
    )  # fmt: skip


def record_undone(sentence: str, *, is_skipped: bool) -> log.Recorded:
    """Write down that nothing was drilled, and why. Raises psycopg.Error."""
    status = SKIPPED if is_skipped else FAILED
    return log.record(
        Kind.LOG_DRILLED, log.Actor.process(), subject="log", status=status, summary="Nothing was drilled",
        error=sentence,
    )  # fmt: skip


@dataclass(frozen=True)
class Drill:
    """The last drill, as its entry says it."""

    seq: int
    at: datetime
    status: str
    sentence: str
    is_intact: bool  # the entry's own fields are what was written

    @property
    def is_late(self) -> bool:
        """Whether no drill has run for longer than a night."""
        return timezone.now() - self.at > EVERY

    @property
    def is_bad(self) -> bool:
        """Whether the verifier missed something, or the log itself did not verify, or the entry cannot be believed."""
        return self.status not in (OK, SKIPPED) or not self.is_intact


def last() -> Drill | None:
    """The newest drill on record; None when there was none. One query."""
    entry = Entry.objects.filter(kind=Kind.LOG_DRILLED).order_by("-seq").first()
    if entry is None:
        return None
    is_intact = reading.digest_of(entry) == bytes(entry.digest)
    sentence = entry.error or entry.summary
    return Drill(entry.seq, entry.at, entry.status, sentence, is_intact)
