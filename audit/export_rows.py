"""What an export holds, read in small pieces: no transaction is open while a receiver reads slowly.

Everything goes out by leaf, so that nothing can be missed; a selection goes out by number, on the list's own indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from audit import browse, proofs
from audit.browse import Filters
from audit.export_gone import Gone
from audit.kinds import Kind
from audit.models import Checkpoint, Entry, Leaf, Payload

BATCH = 50  # entries read at once: with the largest payloads they are 25 MB
DRIFT = timedelta(minutes=2)  # an entry's key was drawn that near to its time


@dataclass(frozen=True)
class Selection:
    """Which entries go out: the list's filters (its jump to a time is none), a span of time, or one entry alone."""

    filters: Filters = field(default_factory=Filters)
    since: datetime | None = None
    until: datetime | None = None  # this moment itself is beyond
    seq: int | None = None

    @property
    def is_everything(self) -> bool:
        return not self.described()

    def described(self) -> dict[str, str | int]:
        """The selection by its parts, for the file's first line and the export's entry."""
        named: dict[str, str | int] = {
            name: getattr(self.filters, name)
            for name in browse.FILTERS
            if name != "time" and getattr(self.filters, name)
        }
        for name, moment in (("since", self.since), ("until", self.until)):
            if moment:
                named[name] = moment.isoformat()
        return named | ({"entry": self.seq} if self.seq is not None else {})

    def entries(self) -> QuerySet[Entry]:
        """The entries that are selected. Raises BadFilter."""
        found = browse.matching(self.filters)
        if self.seq is not None:
            found = found.filter(seq=self.seq)
        # The key begins with its time: it prunes partitions and has the index, and the column decides.
        if self.since:
            found = found.filter(at__gte=self.since, id__gte=_first_key(self.since - DRIFT))
        if self.until:
            found = found.filter(at__lt=self.until, id__lt=_first_key(self.until + DRIFT))
        return found


def _first_key(moment: datetime) -> UUID:
    return UUID(int=min(max(0, int(moment.timestamp() * 1000)), (1 << 48) - 1) << 80)


@dataclass(frozen=True)
class Extent:
    """How far the log went when an export began: what comes later is not in it."""

    size: int
    note: str | None
    newest: int

    @property
    def origin(self) -> str | None:
        """The log's name, as its checkpoint says it."""
        return self.note.partition("\n")[0] if self.note else None


def extent() -> Extent:
    """How far the log goes now."""
    last = Checkpoint.objects.order_by("-size").first()
    newest = Entry.objects.order_by("-seq").values_list("seq", flat=True).first()
    return Extent(last.size if last else 0, last.note if last else None, newest or 0)


@dataclass(frozen=True)
class Row:
    """One line to be: an entry with what belongs to it, or a leaf whose entry is not there."""

    entry: Entry | None
    payload: Payload | None = None
    leaf: int | None = None
    leaf_hash: bytes | None = None
    gone_by: int | None = None  # the entry that says why this leaf's entry is not there
    proof: list[bytes] | None = None


def rows(selection: Selection, at: Extent) -> Iterator[list[Row]]:
    """Everything that is selected, in pieces of at most BATCH. Raises BadFilter."""
    if not selection.is_everything:
        yield from _selected(selection, at)
        return
    yield from sealed(0, at.size, Gone())
    covered = Leaf.objects.filter(entry_id=OuterRef("pk"), index__lt=at.size)
    for entries in _by_number(Entry.objects.filter(~Exists(covered)), at):
        yield _joined(entries, {})


def _selected(selection: Selection, at: Extent) -> Iterator[list[Row]]:
    """The entries that were asked for, and beside them the redactions that account for what of them is gone.

    Without these, whoever cuts a payload out of the file could say that it was redacted.
    """
    redacted: list[str] = []
    for entries in _by_number(selection.entries(), at):
        found = with_proofs(entries, at)
        redacted += [row.entry.ref for row in found if row.entry and _lacks_a_part(row.payload)]
        yield found
    for first in range(0, len(redacted), BATCH):
        beside = Entry.objects.filter(kind=Kind.LOG_REDACTED, subject__in=redacted[first : first + BATCH])
        asked_for = selection.entries().filter(pk__in=list(beside.values_list("pk", flat=True)))
        for entries in _by_number(beside.exclude(pk__in=list(asked_for.values_list("pk", flat=True))), at):
            yield with_proofs(entries, at)


def _lacks_a_part(payload: Payload | None) -> bool:
    return payload is not None and (payload.args is None or payload.result is None)


def sealed(start: int, end: int, gone: Gone) -> Iterator[list[Row]]:
    """The leaves from `start` up to `end` with their entries, each index once."""
    for first in range(start, end, BATCH):
        wanted = range(first, min(first + BATCH, end))
        leaves = {leaf.index: leaf for leaf in Leaf.objects.filter(index__gte=wanted.start, index__lt=wanted.stop)}
        yield _by_leaf(wanted, leaves, gone)


def _by_leaf(wanted: range, leaves: dict[int, Leaf], gone: Gone) -> list[Row]:
    entries = Entry.objects.in_bulk([leaf.entry_id for leaf in leaves.values()])
    known = {leaf.entry_id: leaf for leaf in leaves.values()}
    whole = {row.leaf: row for row in _joined(list(entries.values()), known)}
    return [whole.get(index) or _without_entry(index, leaves.get(index), gone) for index in wanted]


def _without_entry(index: int, leaf: Leaf | None, gone: Gone) -> Row:
    return Row(None, leaf=index, leaf_hash=bytes(leaf.h or b"") if leaf else None, gone_by=gone.pruned_by(index))


def _by_number(found: QuerySet[Entry], at: Extent) -> Iterator[list[Entry]]:
    """Entries by number and key: numbers that an intruder doubled are not skipped."""
    ordered = found.filter(seq__lte=at.newest).order_by("seq", "id")
    entries = list(ordered[:BATCH])
    while entries:
        yield entries
        last = entries[-1]
        entries = list(ordered.filter(seq__gte=last.seq).exclude(seq=last.seq, id__lte=last.pk)[:BATCH])


def with_proofs(entries: list[Entry], at: Extent) -> list[Row]:
    """The rows of these entries, each with its proof under the checkpoint where it is sealed."""
    leaves = Leaf.objects.filter(entry_id__in=[entry.pk for entry in entries], index__lt=at.size)
    known = {leaf.entry_id: leaf for leaf in leaves}
    return _joined(entries, known, _proofs([leaf.index for leaf in known.values()], at.size))


def _proofs(indices: list[int], size: int) -> dict[int, list[bytes]]:
    """The proofs that the stored tree gives. A hole in it costs the leaves beneath it their proofs, and no others."""
    try:
        return proofs.inclusions(indices, size)
    except proofs.TreeBroken:
        if len(indices) < 2:
            return {}
    half = len(indices) // 2
    return _proofs(indices[:half], size) | _proofs(indices[half:], size)


def _joined(entries: list[Entry], leaves: dict[UUID, Leaf], paths: dict[int, list[bytes]] | None = None) -> list[Row]:
    payloads = Payload.objects.in_bulk([entry.pk for entry in entries])
    return [_row(entry, payloads.get(entry.pk), leaves.get(entry.pk), paths or {}) for entry in entries]


def _row(entry: Entry, payload: Payload | None, leaf: Leaf | None, paths: dict[int, list[bytes]]) -> Row:
    if leaf is None:
        return Row(entry, payload)
    return Row(entry, payload, leaf.index, bytes(leaf.h or b""), proof=paths.get(leaf.index))
