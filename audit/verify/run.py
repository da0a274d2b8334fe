"""One verification: entries and leaves pass by in the order of the tree, and what does not fit is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from audit.verify import entries, note
from audit.verify.claims import Claims
from audit.verify.entries import Entry
from audit.verify.findings import Report
from audit.verify.note import Key, Note, Unreadable
from audit.verify.receipts import Receipt, Receipts
from audit.verify.sequences import Calls, Seen, Writers
from audit.verify.tree import EMPTY, Tree, root_of_proof


@dataclass(frozen=True)
class Outside:
    """What a verifier has that does not come from the log: keys, and what was published or handed out."""

    keys: tuple[Key, ...]
    pins: tuple[Note | Unreadable, ...] = ()
    receipts: tuple[Receipt, ...] | None = None


class Verification:
    """The checks, fed with one entry after the other. It keeps what grows with writers and findings, not with entries.

    `is_selection`: the entries are some of the log's, each with a proof; nothing can be said of what is missing.
    `copied_to`: the tree is of its own, and its entries up to this number are a log's from somewhere in its midst.
    `is_file`: anybody may have put anything beside what is sealed, so that says nothing about other entries.
    """

    def __init__(
        self,
        outside: Outside,
        report: Report,
        *,
        is_selection: bool = False,
        copied_to: int | None = None,
        is_file: bool = False,
        since: int = 0,
    ) -> None:
        self.outside = outside
        self.report = report
        self.is_selection = is_selection
        self.copied_to = copied_to
        self.is_slice = copied_to is not None
        self.is_file = is_file
        self.is_whole = not is_selection and not since
        self.tree = Tree()
        self.roots = {0: EMPTY}  # at the sizes of pins
        self.claims = Claims(report)
        self.writers = Writers(report, is_from_the_start=not since and not self.is_slice)
        self.calls = Calls()
        self.receipts = Receipts(outside.receipts or ())
        self.seen = Seen()
        self.entries = self.unsealed = 0
        self._wanted = {pin.size for pin in outside.pins if isinstance(pin, Note)}

    def entry(self, entry: Entry, *, is_sealed: bool = True) -> None:
        """Check an entry by itself, and in its place among its writer's."""
        self.entries += 1
        self.unsealed += not is_sealed
        is_intact = entries.check(entry, self.report)
        if not self.seen.add(entry.seq):
            self.report.add("I1", entry.ref, "Another entry has the same number.")
        if is_intact and (is_sealed or not self.is_file):
            self.claims.learn(entry)
        elif is_intact:
            self.claims.hear(entry)
        self.claims.redacted(entry)
        self.claims.there(entry, is_sealed=is_sealed)
        self.receipts.take(entry)
        if not self.is_selection:
            self.writers.take(entry)
            self.calls.take(entry)

    def leaf_of(self, entry: Entry, index: int, stored: bytes | None) -> bytes:
        """The leaf that an entry gives, checked against the one that is stored when there is one."""
        found = entries.leaf_hash(entry) or b""
        if stored is not None and found != stored:
            self.report.add("L1", entry.ref, f"It does not give leaf {index}, which was made from it.")
        return found

    def grow(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """The next leaf of the tree; the stored nodes that it completes."""
        completed = self.tree.append(leaf)
        if self.tree.size in self._wanted:
            self.roots[self.tree.size] = self.tree.root()
        return completed

    def prune(self, index: int, by: int) -> None:
        """A leaf whose entry is said to be dropped."""
        self.claims.prune(index, by)
        self.writers.pruned += 1

    def proof(self, entry: Entry, index: int, path: list[bytes], under: Note) -> None:
        """Check that a proof leads from an entry to the root of a checkpoint."""
        root = root_of_proof(index, under.size, entries.leaf_hash(entry) or b"", path)
        if root != under.root:
            sentence = f"Its proof does not lead from leaf {index} to the root of checkpoint {under.size}."
            self.report.add("R1", entry.ref, sentence)

    def signed(self, text: str, subject: str) -> Note | None:
        """The checkpoint of a note when it can be read; reported unless a known key has signed it."""
        try:
            found = note.parse(text)
        except Unreadable as problem:
            self.report.add("S1", subject, str(problem))
            return None
        if fault := found.fault(self.outside.keys):
            self.report.add("S1", subject, fault)
        return found

    def pins(self, own: Note | None, stands: Callable[[int], bool] = lambda size: True) -> None:
        """Hold what was published against the log, which has `own` for its last checkpoint.

        `stands` says whether the log has a checkpoint of a size, where that can be known.
        """
        for number, pin in enumerate(self.outside.pins, start=1):
            if isinstance(pin, Unreadable):
                self.report.add("S1", f"pin {number}", str(pin))
            else:
                self._pin(pin, own, stands)

    def _pin(self, pin: Note, own: Note | None, stands: Callable[[int], bool]) -> None:
        subject = f"pinned checkpoint {pin.size}"
        if fault := pin.fault(self.outside.keys):
            self.report.add("S1", subject, fault)
            return
        if not stands(pin.size):
            self.report.add("C3", subject, "It was published, and the log has no checkpoint of that size.")
        size = own.size if own else 0
        size = size if self.is_selection else min(size, self.tree.size)
        root = self.roots.get(pin.size) or (own.root if own and own.size == pin.size else None)
        if pin.size > size:
            sentence = f"It has {pin.size} leaves, and here are {size}: some are gone, unless it is younger than this."
            self.report.add("C1", subject, sentence)
        elif root is None:
            self.report.say(f"The {subject} was not compared: that needs the whole log, and this is a part of it.")
        elif root != pin.root:
            self.report.add("C2", subject, f"The log gives another root for its first {pin.size} leaves.")

    def settle(self) -> None:
        """Report what could only be known at the end."""
        self.claims.settle(is_whole=self.is_whole and not self.is_slice)
        self.receipts.settle(self.report, dropped=self.claims.dropped(), is_whole=self.is_whole)
        if self.outside.receipts is not None and not self.is_whole:
            self.report.say("Receipts of entries that are not here were not looked for: that needs the whole log.")
        if self.unsealed:
            self.report.say(f"{self.unsealed} entries are not sealed yet: nothing but their digests vouches for them.")
        if sentence := self.calls.sentence():
            self.report.say(sentence)
