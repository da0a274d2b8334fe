"""Receipts: the digests that callers, verdicts and executions were given, held against the log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audit.verify import entries
from audit.verify.claims import Range
from audit.verify.entries import Entry
from audit.verify.findings import Report

LINE = re.compile(
    r"(?:A-)?([1-9][0-9]{0,18}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})[ \t,]+([0-9a-f]{64})"
)


class BadReceipt(ValueError):
    """The sentence that names the line that is no receipt."""


@dataclass(frozen=True)
class Receipt:
    """What somebody was told: an entry's number or id, and its digest."""

    of: str  # "48213", or a UUID
    digest: str

    @property
    def subject(self) -> str:
        return f"A-{self.of}" if self.of.isdigit() else self.of


def parse(lines: Iterable[str]) -> list[Receipt]:
    """The receipts of a file: on each line an entry's number or id and its digest, or both in a JSON object.

    Raises BadReceipt.
    """
    return [_receipt(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def _receipt(number: int, line: str) -> Receipt:
    found = LINE.fullmatch(_plain(line))
    if not found:
        raise BadReceipt(f"Line {number} is no receipt: it wants an entry's number or id, and 64 digits of its digest.")
    return Receipt(found[1].lower(), found[2])


def _plain(line: str) -> str:
    if not line.startswith("{"):
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    named = value.get("id") or value.get("seq") or value.get("entry") or value.get("audit_id")
    return f"{named} {value.get('digest')}"


class Receipts:
    """The receipts that are looked for while the entries pass by."""

    def __init__(self, receipts: Iterable[Receipt]) -> None:
        self._wanted: dict[str, set[str]] = {}
        self._differing: set[str] = set()  # the names of entries that are there and were not what was handed out
        for receipt in receipts:
            self._wanted.setdefault(receipt.of, set()).add(receipt.digest)

    def take(self, entry: Entry) -> None:
        """The next entry."""
        for name in (entry.id, str(entry.seq)):
            if entry.digest.hex() in self._wanted.get(name, ()):
                self._wanted[name].discard(entry.digest.hex())
            elif name in self._wanted:
                self._differing.add(name)

    def settle(self, report: Report, *, dropped: Sequence[Range], is_whole: bool) -> None:
        """Report the receipts that no entry answered, but for those of entries that a retention dropped.

        Of a part of the log only those are told whose entry is in it, and is another one.
        """
        for name, digests in self._wanted.items():
            is_told = is_whole or name in self._differing
            if digests and is_told and not any(_is_dropped(name, one) for one in dropped):
                receipt = Receipt(name, "")
                sentence = f"Its receipt says {min(digests)[:16]}…, and no entry of the log has that digest and name."
                report.add("X1", receipt.subject, sentence)


def _is_dropped(name: str, dropped: Range) -> bool:
    if name.isdigit():
        first, last = dropped.first_number, dropped.last_number
        return first is not None and last is not None and first <= int(name) <= last
    made = entries.time_of_id(name)
    return made is not None and f"{made:%Y%m}" == dropped.month
