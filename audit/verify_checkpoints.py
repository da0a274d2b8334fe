"""The stored checkpoints, held against the tree as it grows and against the times of what they cover."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from audit import verify_rows
from audit.verify.entries import Entry
from audit.verify.note import Note
from audit.verify.run import Verification
from audit.verify.tree import Tree
from audit.verify_rows import Checkpoint

# An entry may be older than the checkpoint before its own by as long as a transaction may be open that wrote it.
LONGEST_TRANSACTION = timedelta(minutes=10)
CLOCKS_DIFFER = timedelta(minutes=1)
Place = tuple[int, int, str]


@dataclass(frozen=True)
class Epoch:
    """The newest epoch, whether it is this cluster's, and the number of the next transaction here."""

    number: int
    is_here: bool
    next_xid: int

    def is_here_as(self, number: int) -> bool:
        """Whether transaction numbers of an epoch are those of this cluster."""
        return self.is_here and number == self.number


class Checkpoints:
    """The rows of audit_checkpoint, a few at a time, in the order of their sizes."""

    def __init__(self, verification: Verification) -> None:
        self.verification = verification
        self.report = verification.report
        self.near: list[Checkpoint] = []  # from the last one below the batch to the first one beyond it
        self.before: Checkpoint | None = None
        self.last_note: Note | None = None
        self.size = 0
        self._place: Place | None = None

    @cached_property
    def epoch(self) -> Epoch:
        """The newest epoch. Read when it is needed: the columns were looked at by then."""
        return _epoch()

    def resume(self, tree: Tree) -> None:
        """Go on from the checkpoint of a tree's size."""
        self.near = [one for one in verify_rows.checkpoints(tree.size - 1, tree.size) if one.size == tree.size]
        self.reached(tree.size, tree, None)

    def load(self, start: int, end: int) -> None:
        """Take the checkpoints for the leaves from `start` up to `end`."""
        below = [one for one in self.near if one.size <= start][-1:]
        self.near = below + verify_rows.checkpoints(start, end)

    def reached(self, size: int, tree: Tree, entry: Entry | None) -> None:
        """Compare the checkpoint of this size, when there is one, with the tree that has just got there."""
        self._check_order(entry)
        found = next((one for one in self._from(size) if one.size == size), None)
        if found is None:
            return
        self.size = found.size
        subject = f"checkpoint {found.size}"
        note = self._signed(found)
        if note is not None and note.root != tree.root():
            self.report.add("R1", subject, "The leaves that it covers do not give the root that was signed.")
        self._check_bookmark(found, entry)
        self.before = found

    def _from(self, size: int) -> list[Checkpoint]:
        at = bisect_right(self.near, size - 1, key=lambda one: one.size)
        return self.near[at : at + 1]

    def _signed(self, found: Checkpoint) -> Note | None:
        subject = f"checkpoint {found.size}"
        note = self.verification.signed(found.note, subject)
        if note is not None and (note.size, note.root) != (found.size, found.root):
            self.report.add("R1", subject, "Its row says another size or root than its signed note.")
        self.last_note = note
        return note

    def _check_order(self, entry: Entry | None) -> None:
        """Entries are sealed by epoch, transaction and id; those that a restore left over, by number."""
        if entry is None or entry.place is None:
            self._place = None
            return
        is_early = self._place is not None and (
            entry.place[0] < self._place[0] or (entry.place <= self._place and entry.place[0] == self.epoch.number)
        )
        if is_early:
            self.report.add("O1", entry.ref, "It was sealed after one whose transaction came later.")
        self._place = entry.place

    def _check_bookmark(self, found: Checkpoint, entry: Entry | None) -> None:
        if self.before is not None and found.at + CLOCKS_DIFFER < self.before.at:
            self.report.add("T1", f"checkpoint {found.size}", "It is older than the one before it.")
        kept = self.before.place if self.before else None
        if entry is not None and found.place != entry.place and found.place != kept:
            self.report.add("O1", f"checkpoint {found.size}", "The sealer's bookmark is not at its last leaf.")

    def check_time(self, entry: Entry, index: int) -> None:
        """Whether an entry's time lies between its own checkpoint and the one before it."""
        covering = self._from(index + 1)
        if covering and entry.at > covering[0].at + CLOCKS_DIFFER:
            self.report.add("T1", entry.ref, f"It is younger than checkpoint {covering[0].size}, which covers it.")
        self._check_not_backdated(entry, self._before(index))

    def _before(self, index: int) -> Checkpoint | None:
        at = bisect_right(self.near, index, key=lambda one: one.size)
        return self.near[at - 1] if at else None

    def _check_not_backdated(self, entry: Entry, before: Checkpoint | None) -> None:
        if before is not None and entry.at < before.at - LONGEST_TRANSACTION:
            made = f"checkpoint {before.size} was made at {_text(before.at)} without it"
            sentence = f"It says {_text(entry.at)}, and {made}."
            self.report.add("T1", entry.ref, sentence)

    def check_unsealed(self, entry: Entry) -> None:
        """Whether an entry without a leaf still waits for one, or was passed over."""
        self._check_not_backdated(entry, self.before)
        place = entry.place or (0, 0, "")
        if self.before is not None and place <= self.before.place:
            self.report.add("U1", entry.ref, f"It has no leaf, and the sealer has gone past it to {self.before.size}.")
        elif place[0] > self.epoch.number or (self.epoch.is_here_as(place[0]) and place[1] >= self.epoch.next_xid):
            self.report.add("U1", entry.ref, "Its transaction has not been yet, so it would never be sealed.")

    def end(self, leaves: int) -> None:
        """What stands beyond: leaves that no checkpoint covers, and checkpoints of more leaves than there are."""
        if leaves > self.size:
            self.report.add("L3", f"leaf {self.size}", f"{leaves - self.size} leaves stand beyond the last checkpoint.")
        for size in verify_rows.impossible_checkpoints():
            self.report.add("R1", f"checkpoint {size}", "It stands twice, or is of no leaf at all.")
        for found in verify_rows.checkpoints(leaves, 1 << 62):
            self._signed(found)
            self.report.add("R1", f"checkpoint {found.size}", f"It has more leaves than the log, which has {leaves}.")
            self.before, self.size = found, found.size

    def stands(self, size: int) -> bool:
        """Whether the log has a checkpoint of this size."""
        return bool(verify_rows.rows("select 1 from audit_checkpoint where size = %s", [size]))


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _epoch() -> Epoch:
    found = verify_rows.rows(
        "select number, e.system_identifier = c.system_identifier, pg_snapshot_xmax(pg_current_snapshot())::text "
        "from audit_epoch e, pg_control_system() c where number is not null order by number desc limit 1"
    )
    number, is_here, next_xid = found[0] if found else (0, False, 0)
    return Epoch(number, bool(is_here), int(next_xid))
