"""A verification's way over the log's rows: which part is looked at after which, and what each is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

from django.db import DataError, InternalError, NotSupportedError, ProgrammingError, transaction
from django.db.transaction import TransactionManagementError

from audit import (
    verify_records,
    verify_resumed,
    verify_retained,
    verify_rows,
    verify_shapes,
    verify_surroundings,
    verify_upkeep,
    verify_vouched,
)
from audit.verify.claims import Range, content, ranges_of
from audit.verify.entries import Entry, check
from audit.verify.findings import Report
from audit.verify.run import Verification
from audit.verify_checkpoints import Checkpoints

# What a run is told about the guards: it is given what the last upgrade recorded and says what differs now.
Guards = Callable[[Entry], Sequence[str]]
# What the database answers when somebody has changed tables, rights or functions; not when it cannot be reached.
UNREADABLE = (DataError, InternalError, NotSupportedError, ProgrammingError)


class Pass:
    """One pass over the rows, whole or from a leaf on."""

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
            self._try(lambda: verify_upkeep.check(self.report), "definitions and the search")
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
        self._try(lambda: self._look_at_decisions(dropped, is_whole), "what was decided")
        self._try(lambda: self._compare(guards), "what guards the log")
        self.verification.settle()
        self.verification.pins(self.checkpoints.last_note, self.checkpoints.stands)

    def _look_at_decisions(self, dropped: set[str], is_whole: bool) -> None:
        verify_vouched.check(self.report, dropped, is_whole=is_whole, after=self.verification.copied_to or 0)

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
