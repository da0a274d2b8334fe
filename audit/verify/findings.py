"""What a verification can find, and the report that it is told to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

# Every code with what it means. A code is never given another meaning.
CODES = {
    "D1": "An entry's fields do not give its digest.",
    "D2": "An entry's arguments or result do not give their commitment, or are gone without a redaction.",
    "L1": "An entry does not give its leaf.",
    "L2": "A leaf has no entry, and no retention accounts for it.",
    "L3": "Leaves are not numbered from 0 without gaps and doubles.",
    "R1": "Leaves do not give the root that was signed.",
    "S1": "A checkpoint is not signed by a known key, or cannot be read.",
    "N1": "A stored node of the tree is not what its leaves give.",
    "T1": "An entry's time cannot be true: it lies outside of its checkpoint's window, or apart from its id.",
    "O1": "Leaves, transactions and the sealer's bookmarks are not in one order.",
    "U1": "A committed entry was passed over by the sealer.",
    "G1": "Numbers of a writer are missing.",
    "G2": "A number of a writer occurs twice or out of order.",
    "I1": "Two entries claim one number.",
    "I2": "Rows of the log stand where no look-up by their key finds them.",
    "I3": "An entry is left out of the search.",
    "H1": "A hold or a definition is not what the log recorded of it.",
    "H2": "An override, or a request for a redaction, is not what the log recorded of it.",
    "H3": "An agent, or a token of one, is not what the log recorded of it.",
    "H4": "What is said to cite an entry is not what the log recorded.",
    "V1": "An entry's form is not one that this program knows.",
    "P1": "Arguments and result are there without their entry.",
    "Q2": "The sequence of numbers stands behind the newest entry.",
    "E1": "The log's epochs do not fit the cluster that it stands in, or what was recorded of them.",
    "K1": "A redaction is claimed that the log does not record.",
    "K2": "A retention is claimed that the log does not record, or its counts do not fit.",
    "K3": "What was redacted is there again.",
    "W1": "What a verification has found is not what the log recorded of it.",
    "M1": "What guards the log is not what the last upgrade recorded.",
    "C1": "A pinned checkpoint has more leaves than the log.",
    "C2": "A pinned checkpoint has another root than the log at that size: the log was forked or rewritten.",
    "C3": "A pinned checkpoint is not among the log's own.",
    "X1": "An entry whose receipt was given out is not in the log as it was.",
    "F1": "The file is not in the form that an export has.",
}
# What says that something is not there. All other codes say that something is not what it was.
COMPLETENESS = frozenset({"L2", "L3", "U1", "G1", "P1", "C1", "C3", "X1", "K2", "Q2", "I3"})
FIRST = 100  # findings that are kept; all are told and counted


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: its code, what it is about ("A-12", "leaf 4", "checkpoint 450"), and a sentence."""

    code: str
    subject: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}  {self.subject}: {self.sentence}"


@dataclass
class Report:
    """What a run has found. Each finding is told at once; only the first ones are kept."""

    tell: Callable[[Finding], None] = lambda finding: None
    counts: Counter[str] = field(default_factory=Counter)
    first: list[Finding] = field(default_factory=list)
    information: list[str] = field(default_factory=list)

    def add(self, code: str, subject: str, sentence: str) -> None:
        """Report a finding."""
        finding = Finding(code, subject, sentence)
        self.counts[code] += 1
        if len(self.first) < FIRST:
            self.first.append(finding)
        self.tell(finding)

    def say(self, sentence: str) -> None:
        """Report what is no finding and yet worth knowing."""
        self.information.append(sentence)

    @property
    def is_clean(self) -> bool:
        return not self.counts

    @property
    def integrity(self) -> int:
        """How many findings say that something is not what it was."""
        return sum(count for code, count in self.counts.items() if code not in COMPLETENESS)

    @property
    def completeness(self) -> int:
        """How many findings say that something is not there."""
        return sum(count for code, count in self.counts.items() if code in COMPLETENESS)
