"""Verifying an export file: one pass over its lines, in memory that does not grow with them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from audit.verify import lines
from audit.verify.claims import OUT_OF_ORDER
from audit.verify.entries import Entry
from audit.verify.findings import Report
from audit.verify.lines import Line, Malformed
from audit.verify.note import Note
from audit.verify.run import Outside, Verification

MOST_WAITING = 10_000  # entries without a leaf that are looked at again: in a second, no more are written


class Export:
    """One file on its way through the checks."""

    def __init__(self, path: Path, outside: Outside, report: Report) -> None:
        self.path = path
        self.outside = outside
        self.report = report
        self.is_complete = True
        self.is_followed = False  # written by a follower: it went on after each checkpoint
        self.next_leaf = 0
        self.has_ended = False
        self.under: Note | None = None
        self.sealed_at: datetime | None = None  # when the newest sealed entry was written
        self.waiting: list[tuple[str, datetime]] = []  # entries without a leaf, and when they were written
        self.verification = Verification(outside, report, is_file=True)

    def verify(self) -> Verification:
        """Report everything in the file that does not fit. Raises OSError."""
        self._read_ends()
        with self.path.open("rb") as file:
            for line in lines.read(file):
                if isinstance(line, Line):
                    self._take(line)
                else:
                    self._bad(*line)
        self._settle()
        return self.verification

    def _read_ends(self) -> None:
        """The checkpoint stands last and is needed first, and what the first line says decides how to read."""
        end = lines.last(self.path)
        if end is not None and isinstance(end.values["note"], str):
            self.under = self.verification.signed(end.values["note"], f"checkpoint {end.values['size']}")
        with self.path.open("rb") as file:
            first = next(lines.read(file), None)
        if isinstance(first, Line) and first.type == "export":
            self.is_complete = first.values["complete"] is not False
            self.is_followed = self.is_complete and first.values.get("filter") == {"follow": True}
        self.verification = Verification(self.outside, self.report, is_selection=not self.is_complete, is_file=True)

    def _bad(self, number: int, sentence: str) -> None:
        self.report.add("F1", f"line {number}", sentence)

    def _take(self, line: Line) -> None:
        try:
            if self.is_followed and line.type != "checkpoint":
                self.has_ended = False
            if self.has_ended or (line.number == 1) != (line.type == "export"):
                raise Malformed("It stands where no such line stands: an export has one first line and one last line.")
            getattr(self, f"_take_{line.type}")(line)
        except Malformed as problem:
            self._bad(line.number, str(problem))

    def _take_export(self, line: Line) -> None:
        if line.values["format"] != lines.FORMAT:
            raise Malformed(f"The file is not in the form {lines.FORMAT}.")
        if type(line.values["complete"]) is not bool:
            raise Malformed("It does not say whether the export is complete.")
        if self.is_complete and not self.is_followed and line.values.get("filter", {}) != {}:
            raise Malformed("It says that the export is complete, and names a filter.")
        # A follower may have begun before there was a checkpoint that says how the log is called.
        origin = line.values.get("origin")
        is_early = self.is_followed and origin is None
        if self.under is not None and origin != self.under.origin and not is_early:
            raise Malformed("It names another log than the checkpoint does.")

    def _take_entry(self, line: Line) -> None:
        stored = lines.stored(line)
        before = self.report.counts.total()
        self.verification.entry(stored.entry, is_sealed=stored.leaf is not None)
        if "damaged" in line.values and self.report.counts.total() == before:
            self._bad(line.number, "It is said to be damaged, and nothing of it is.")
        if stored.entry.redacted_by is not None and None not in (line.values["args"], line.values["result"]):
            self._bad(line.number, "It is said to be redacted, and all of it is there.")
        if (stored.proof is not None) and (self.is_complete or stored.leaf is None):
            self._bad(line.number, "It comes with a proof, which only a sealed entry of a selection has.")
        if stored.leaf is None:
            self._wait(stored.entry)
            return
        leaf = self.verification.leaf_of(stored.entry, stored.leaf, stored.hash)
        if self.report.counts.total() == before:
            self.sealed_at = max(self.sealed_at or stored.entry.at, stored.entry.at)
        if self.is_complete:
            self._grow(stored.leaf, leaf)
        elif stored.proof is None:
            self.report.add("R1", stored.entry.ref, f"It is said to be leaf {stored.leaf} and comes without a proof.")
        elif self.under is not None:
            self.verification.proof(stored.entry, stored.leaf, stored.proof, self.under)

    def _wait(self, entry: Entry) -> None:
        """An entry that is said not to be sealed yet. Sealing takes a second, and goes by time or nearly so."""
        if len(self.waiting) < MOST_WAITING:
            self.waiting.append((entry.ref, entry.at))

    def _take_pruned(self, line: Line) -> None:
        if not self.is_complete:
            raise Malformed("A selection says nothing of what was dropped.")
        index, by = lines.number(line.values, "leaf"), line.values["by"]
        if by is None:
            self._take_missing(line)
            return
        self._grow(index, lines.hashed(line.values, "hash"))
        self.verification.prune(index, lines.number(line.values, "by"))

    def _take_missing(self, line: Line) -> None:
        index = lines.number(line.values, "leaf")
        self.report.add("L2", f"leaf {index}", "Its entry is not there, and no retention accounts for it.")
        if line.values["hash"] is not None:
            self._grow(index, lines.hashed(line.values, "hash"))

    def _grow(self, index: int, leaf: bytes) -> None:
        if index != self.next_leaf:
            self.report.add("L3", f"leaf {index}", f"It stands where leaf {self.next_leaf} should.")
        # A leaf that stands here again is not taken twice; after a hole the tree cannot give the root any more.
        if index >= self.next_leaf:
            self.verification.grow(leaf)
            self.next_leaf = index + 1

    def _take_checkpoint(self, line: Line) -> None:
        self.has_ended = True
        size = lines.number(line.values, "size")
        if not isinstance(line.values["note"], str):
            self.report.add("S1", f"checkpoint {size}", "There is no signed checkpoint: nothing vouches for the file.")
        elif self.is_followed:
            self._take_on_the_way(size, line.values["note"])
        elif self.under is not None and self.under.size != size:
            raise Malformed(f"It says {size} leaves, and its note says {self.under.size}.")

    def _take_on_the_way(self, size: int, text: str) -> None:
        """A checkpoint that a follower wrote: the leaves up to there have to give its root."""
        note = self.verification.signed(text, f"checkpoint {size}")
        if note is None:
            return
        if note.size != size:
            raise Malformed(f"It says {size} leaves, and its note says {note.size}.")
        self._check_root(note)

    def _settle(self) -> None:
        if not self.has_ended:
            self.report.add("F1", "the file", "It ends before its checkpoint: it was cut, and nothing vouches for it.")
        elif self.under is None and not self.report.counts["S1"]:
            # Its last line is longer than that of any export, so it was never looked at as a signed note.
            self.report.add("S1", "the file", "Its checkpoint cannot be read at its end: nothing vouches for it.")
        if self.is_complete and self.under is not None:
            self._check_root(self.under)
        elif self.has_ended:
            self.report.say("The file is a selection: what is in it is proven, and what is not in it cannot be seen.")
        self._settle_waiting()
        self.verification.settle()
        self.verification.pins(self.under)

    def _settle_waiting(self) -> None:
        """Whoever has the file alone can edit an entry and say that it has no leaf yet; next to later ones, it had."""
        for ref, at in self.waiting:
            if self.sealed_at is not None and at < self.sealed_at - OUT_OF_ORDER:
                self.report.add("U1", ref, f"It has no leaf, and one of {self.sealed_at:%Y-%m-%d %H:%M:%S} UTC has.")

    def _check_root(self, under: Note) -> None:
        tree, subject = self.verification.tree, f"checkpoint {under.size}"
        if tree.size != under.size:
            self.report.add("L3", subject, f"It has {under.size} leaves, and {tree.size} are in the file.")
        if tree.root() != under.root:
            self.report.add("R1", subject, "The leaves in the file do not give the root that was signed.")
