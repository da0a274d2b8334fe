"""Verifying the log where it stands: its rows, in one snapshot, held against each other and against what was published.

It shares its checks with `python -m audit.verify`, and adds what only the database knows: stored nodes, the sealer's
bookmarks, payloads without entries, the sequence of numbers, epochs, and what guards the tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from audit import log, verify_records
from audit.kinds import Kind
from audit.models import Verification as Recorded
from audit.verify import note
from audit.verify.findings import Finding, Report
from audit.verify.note import Key, Note, Unreadable
from audit.verify.run import Outside, Verification
from audit.verify_pass import Guards, Pass


class CannotVerify(Exception):
    """The sentence that says what a verification lacks."""


@dataclass(frozen=True)
class Result:
    """What a run over the database has found, and how far the log was sealed in its snapshot."""

    verification: Verification
    size: int
    since: int
    last_note: Note | None  # the newest checkpoint
    is_new: bool = False  # only leaves from `since` on were looked at, on top of the stored tree
    took_ms: int = 0

    @property
    def mode(self) -> str:
        """Which kind of run it was."""
        return "new" if self.is_new else "since" if self.since else "full"

    @property
    def words(self) -> str:
        """What was looked at."""
        return f"the leaves {self.since} to {self.size}" if self.is_new else f"{self.size} leaves"

    @property
    def report(self) -> Report:
        return self.verification.report


def parsed(keys: Sequence[str]) -> tuple[Key, ...]:
    """The keys that a process was configured with; they never come from the database. Raises CannotVerify."""
    try:
        return tuple(note.parse_keys("\n".join(keys)))
    except Unreadable as problem:
        raise CannotVerify(f"COUNTERSEAL_LOG_PUBLIC_KEYS: {problem}") from problem


def verify(
    outside: Outside, *, guards: Guards | None = None, since: int = 0, tell: Callable[[Finding], None] | None = None
) -> Result:
    """Verify the whole log in one snapshot; with `since`, the tree whole and the entries from that leaf on.

    Nothing is written.
    """
    with _snapshot():
        return look(outside, guards=guards, since=since, tell=tell)


def verify_new(
    outside: Outside, since: int, *, guards: Guards | None = None, tell: Callable[[Finding], None] | None = None
) -> Result:
    """Verify what was sealed after the checkpoint of `since` leaves, on top of the tree that is stored: in a time that
    does not grow with the log. What reads every row is left to a whole run.
    """
    with _snapshot():
        return look(outside, guards=guards, since=since, is_new=True, tell=tell)


@contextmanager
def _snapshot() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("set transaction isolation level repeatable read, read only")
        yield


def look(
    outside: Outside,
    *,
    guards: Guards | None = None,
    since: int = 0,
    copied_to: int | None = None,
    is_new: bool = False,
    tell: Callable[[Finding], None] | None = None,
) -> Result:
    """The same over what the open transaction sees, for who tampers in it and rolls it back.

    `copied_to`: the entries up to this number were copied from somewhere in a log's midst, and sealed anew.
    """
    # Whoever may set where a session looks for its tables could show a verifier other ones than everybody else sees.
    # The same of how times and bytes come back; and what a row policy hides is to be an error.
    with connection.cursor() as cursor:
        cursor.execute(
            "set local search_path = public, pg_temp; set local datestyle = 'ISO, YMD'; "
            "set local bytea_output = hex; set local row_security = off; set local statement_timeout = 0"
        )
    began = time.monotonic()
    report = Report() if tell is None else Report(tell=tell)
    run = Pass(Verification(outside, report, copied_to=copied_to, since=since), since)
    run.new(guards) if is_new else run.all(guards)
    took = int((time.monotonic() - began) * 1000)
    return Result(run.verification, run.checkpoints.size, since, run.checkpoints.last_note, is_new, took)


def due_in(every: timedelta) -> timedelta:
    """How long until the next whole verification, when there is one each so often; none or less when it is due."""
    last = Recorded.objects.filter(is_full=True).order_by("-id").values_list("at", flat=True).first()
    return every - (timezone.now() - last) if last else timedelta(0)


@transaction.atomic
def record(result: Result, *, runs: int = 1, asked: int | None = None) -> log.Recorded:
    """Write down what a run has found: as a row for the pages, and as an entry that says what that row says.

    `runs`: over how many runs, of which those before found nothing. `asked`: whose wish it was.
    """
    report = result.report
    number, row = verify_records.add({
        "size": result.size,
        "is_full": result.mode == "full",
        "findings": Jsonb([vars(finding) for finding in report.first]),
        "finding_count": report.counts.total(),
        "is_clean": report.is_clean,
        "took_ms": result.took_ms,
    })  # fmt: skip
    args = {
        "mode": result.mode,
        "since": result.since,
        "size": result.size,
        "findings": report.counts.total(),
        "codes": dict(sorted(report.counts.items())),
        "verification": number,
        "row": row,
        "runs": runs,
        "asked": asked,
    }
    found = "nothing amiss" if report.is_clean else f"{report.counts.total()} findings"
    summary = f"Verified {result.words}: {found}"
    status = "ok" if report.is_clean else "failed"
    return log.record_with(
        Kind.LOG_VERIFIED, log.Actor.process(), subject="log", summary=summary, status=status, args=args,
        duration_ms=result.took_ms,
    )  # fmt: skip
