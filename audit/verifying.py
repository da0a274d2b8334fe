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
from uuid import UUID

from django.db import DataError, InternalError, NotSupportedError, ProgrammingError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.utils import timezone
from psycopg.types.json import Jsonb

from audit import (
    log,
    verify_records,
    verify_resumed,
    verify_retained,
    verify_rows,
    verify_shapes,
    verify_surroundings,
    verify_upkeep,
)
from audit.kinds import Kind
from audit.models import Verification as Recorded
from audit.verify import note
from audit.verify.claims import Range, content, ranges_of
from audit.verify.entries import Entry, check
from audit.verify.findings import Finding, Report
from audit.verify.note import Key, Note, Unreadable
from audit.verify.run import Outside, Verification
from audit.verify_checkpoints import Checkpoints

# What a run is told about the guards: it is given what the last upgrade recorded and says what differs now.
Guards = Callable[[Entry], Sequence[str]]


# What the database answers when somebody has changed tables, rights or functions; not when it cannot be reached.
UNREADABLE = (DataError, InternalError, NotSupportedError, ProgrammingError)


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
    is_slice: bool = False,
    is_new: bool = False,
    tell: Callable[[Finding], None] | None = None,
) -> Result:
    """The same over what the open transaction sees, for who tampers in it and rolls it back.

    `is_slice`: the entries were copied from somewhere in a log's midst, and sealed anew.
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
    run = _Run(Verification(outside, report, is_slice=is_slice, since=since), since)
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


class _Run:
    """One pass over the rows."""

    def __init__(self, verification: Verification, since: int) -> None:
        self.verification = verification
        self.report = verification.report
        self.since = since
        self.checkpoints = Checkpoints(verification)
        self.redactions: dict[int, int] = {}  # entry → the entry of its redaction
        self.retentions: dict[int, list[Range]] = {}
        self.retained: list[tuple[Entry, Range]] = []  # what each such entry itself says was dropped
        self.next_leaf = 0

    def all(self, guards: Guards | None) -> None:
        """Everything, but of entries only those from `since` on."""
        if not verify_shapes.check(self.report):
            return
        self._try(self._read_claims, "what was dropped and redacted")
        self._try(lambda: self._walk(verify_rows.leaves()), "the leaves")
        self._try(lambda: self._walk_unsealed(verify_rows.unsealed()), "the entries without a leaf")
        self._try(self._look_around, "the surroundings")
        self._try(self._look_at_retentions, "the dropped months")
        if not self.verification.is_slice:
            self._try(lambda: verify_upkeep.check(self.report, is_pruned=bool(self.retentions)), "what people keep")
        self._settle(guards, is_whole=True)

    def _look_around(self) -> None:
        seen = None if self.since else self.verification.entries
        verify_surroundings.check(self.report, self.next_leaf, seen=seen, is_pruned=bool(self.retentions))

    def _look_at_retentions(self) -> None:
        said = [one for ranges in self.retentions.values() for one in ranges]
        verify_retained.check_rows(self.report, said)
        if not self.verification.is_slice:
            verify_retained.check(self.report, self.retained)

    def _try(self, look: Callable[[], None], what: str) -> None:
        """Look at a part of the log. One that the database will not show is a finding, and the rest is looked at."""
        try:
            with transaction.atomic():
                look()
        except TransactionManagementError:
            raise
        except UNREADABLE as problem:
            reason = str(problem).strip().partition("\n")[0]
            self.report.add("M1", what, f"The database does not let it be read: {reason}")

    def new(self, guards: Guards | None) -> None:
        """What was sealed from `since` on, and what of the rest can be seen without reading it."""
        if not verify_shapes.check(self.report):
            return
        self._try(self._read_claims, "what was dropped and redacted")
        try:
            self._resume()
        except verify_resumed.CannotResume as problem:
            # Without the tree below nothing can be said of what stands on it; a whole run says what else is wrong.
            self.report.add("N1", f"the tree of {self.since} leaves", str(problem))
            self._try(self._look_beside, "the surroundings")
            self._try(lambda: self._compare(guards), "what guards the log")
            return
        self._try(lambda: self._walk(verify_rows.leaves(self.since)), "the leaves")
        before = self.checkpoints.before
        unsealed = verify_rows.unsealed(before.place if before else None)
        self._try(lambda: self._walk_unsealed(unsealed), "the entries without a leaf")
        self._try(self._look_around_quickly, "the surroundings")
        self._settle(guards, is_whole=False)

    def _look_beside(self) -> None:
        verify_surroundings.check_beside(self.report, is_pruned=bool(self.retentions))

    def _look_around_quickly(self) -> None:
        verify_surroundings.check_quickly(self.report, self.next_leaf, is_pruned=bool(self.retentions))

    def _resume(self) -> None:
        tree = verify_resumed.tree(self.since)
        self.verification.tree, self.next_leaf = tree, tree.size
        self.verification.roots[tree.size] = tree.root()
        self.checkpoints.resume(tree)

    def _walk(self, batches: Iterator[list[verify_rows.Leaf]]) -> None:
        for leaves in batches:
            self._take(leaves)
        self.checkpoints.end(self.next_leaf)

    def _walk_unsealed(self, batches: Iterator[list[Entry]]) -> None:
        for entries in batches:
            for entry in entries:
                self._take_unsealed(entry)

    def _settle(self, guards: Guards | None, *, is_whole: bool) -> None:
        dropped = {one.month for ranges in self.retentions.values() for one in ranges}
        self._try(lambda: verify_records.check(self.report, dropped, is_whole=is_whole), "the verifications")
        self._try(lambda: self._compare(guards), "what guards the log")
        self.verification.settle()
        self.verification.pins(self.checkpoints.last_note, self.checkpoints.stands)

    def _read_claims(self) -> None:
        """What the log says was redacted or dropped: only an intact entry may say so."""
        for entry in verify_rows.of_kind("log.redacted", "log.retained"):
            said = content(entry)
            if not check(entry, Report()) or not isinstance(said, dict):
                continue
            if entry.text("kind") == "log.retained":
                self.retentions[entry.seq] = ranges_of(said)
                self.retained += [(entry, one) for one in self.retentions[entry.seq][:1]]
            elif isinstance(said.get("entry"), int):
                self.redactions[said["entry"]] = entry.seq

    def _take(self, leaves: list[verify_rows.Leaf]) -> None:
        self.checkpoints.load(leaves[0].index, leaves[-1].index + 1)
        wanted = [leaf.entry_id for leaf in leaves if leaf.index >= self.since]
        entries = verify_rows.entries_of(wanted) if wanted else {}
        completed = []
        for leaf in leaves:
            self._check_index(leaf.index)
            entry = entries.get(leaf.entry_id)
            if leaf.index >= self.since:
                self._take_sealed(leaf, entry)
            completed += self.verification.grow(leaf.hash)
            self.checkpoints.reached(leaf.index + 1, self.verification.tree, entry)
        self._check_nodes(completed)

    def _check_index(self, index: int) -> None:
        if index != self.next_leaf:
            self.report.add("L3", f"leaf {index}", f"It stands where leaf {self.next_leaf} should.")
        self.next_leaf = index + 1

    def _take_sealed(self, leaf: verify_rows.Leaf, entry: Entry | None) -> None:
        if entry is None:
            self._take_missing(leaf.index, leaf.entry_id)
            return
        self.verification.entry(self._with_redaction(entry))
        self.verification.leaf_of(entry, leaf.index, leaf.hash)
        self.checkpoints.check_time(entry, leaf.index)

    def _take_missing(self, index: int, key: UUID) -> None:
        by = next((seq for seq, ranges in self.retentions.items() if _holds(ranges, index)), None)
        if by is None:
            self.report.add("L2", f"leaf {index}", f"Its entry {key} is not there, and no retention accounts for it.")
        else:
            self.verification.prune(index, by)

    def _with_redaction(self, entry: Entry) -> Entry:
        by = self.redactions.get(entry.seq)
        return entry if by is None else entry.redacted(by)

    def _take_unsealed(self, entry: Entry) -> None:
        self.verification.entry(self._with_redaction(entry), is_sealed=False)
        self.checkpoints.check_unsealed(entry)

    def _check_nodes(self, completed: list[tuple[int, int, bytes]]) -> None:
        stored = verify_rows.nodes([(level, index) for level, index, _ in completed])
        for level, index, hashed in completed:
            if stored.get((level, index)) != hashed:
                how = "is not what its leaves give" if (level, index) in stored else "is not there"
                self.report.add("N1", f"node {index} of level {level}", f"It {how}.")

    def _compare(self, guards: Guards | None) -> None:
        if guards is None:
            return
        recorded = verify_rows.of_kind("log.schema")[-1:]
        if not recorded:
            self.report.say("No upgrade has recorded what guards the log, so there is nothing to compare with.")
        for entry in recorded:
            for sentence in guards(entry):
                self.report.add("M1", entry.ref, sentence)


def _holds(ranges: list[Range], index: int) -> bool:
    return any(one.first <= index <= one.last for one in ranges)
