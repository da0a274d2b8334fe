"""Receipts: what somebody was told about an entry, held against the log whenever something rests on it.

The entry's content is held against its commitments, these against its digest, the digest against the receipt and the
leaf, and the leaf, through its proof, against the root of the newest signed checkpoint. A page asks for all that it
shows at once: the number of queries does not grow with the receipts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self
from uuid import UUID

from django.utils import timezone

from audit import heads, log, proofs, reading, sealing
from audit.heads import Head
from audit.models import Entry, Payload, Retained
from audit.sealing import SEALED_WITHIN
from audit.verify.tree import root_of_proof

SMALL = 16_384  # compressed bytes: contents up to this are checked on pages that list many verdicts
EVERYTHING = 2**31 - 1


@dataclass(frozen=True)
class Receipt:
    """An entry's number, key and digest, and where it stands in the sealed tree once that is known."""

    seq: int
    id: UUID
    digest: str
    leaf: int | None = None
    size: int | None = None  # leaves under the checkpoint that it was first proven under

    @property
    def ref(self) -> str:
        """The entry's id as people read it."""
        return f"A-{self.seq}"

    def as_json(self) -> dict[str, Any]:
        """The receipt as rows keep it."""
        return {"seq": self.seq, "id": str(self.id), "digest": self.digest, "leaf": self.leaf, "size": self.size}

    @classmethod
    def given(cls, recorded: log.Recorded) -> Self:
        """The receipt of an entry that was just written."""
        return cls(recorded.seq, recorded.id, recorded.digest.hex())

    @classmethod
    def of_json(cls, kept: Any) -> Self:
        """The receipt of what a row keeps. Raises ValueError for anything else."""
        try:
            return cls(int(kept["seq"]), UUID(kept["id"]), str(kept["digest"]), kept.get("leaf"), kept.get("size"))
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError("This is not a receipt.") from problem


@dataclass(frozen=True)
class Checked:
    """A receipt held against the log: what is wrong, or what it waits for. Neither is there when all is well."""

    receipt: Receipt
    fault: str = ""  # a sentence: nothing may rest on this entry
    waits: str = ""  # a sentence: it is not sealed, because nothing is sealed now

    @property
    def is_sealed(self) -> bool:
        """Whether it was proven to stand under a checkpoint."""
        return not self.fault and self.receipt.leaf is not None


def recheck(receipts: Iterable[Receipt]) -> dict[Receipt, Checked]:
    """Every receipt held against all that vouches for its entry. Seven queries at most, however many there are."""
    return _Look(set(receipts), EVERYTHING, is_proven=True).all()


def glance(receipts: Iterable[Receipt]) -> dict[Receipt, Checked]:
    """The same for a list of many: one query while all is well. Large contents and proofs are left to `recheck`."""
    return _Look(set(receipts), SMALL, is_proven=False).all()


ROWS = """
select e.*, l.idx as leaf, l.h as leaf_hash, kept.salt, kept.args, kept.result, kept.is_whole
from audit_entry e
left join audit_leaf l on l.entry_id = e.id
left join lateral (
  select salt, is_whole, case when bytes <= %s then args end as args, case when bytes <= %s then result end as result
  from (select salt, args, result, args is not null and result is not null as is_whole,
          octet_length(args) + octet_length(result) as bytes
        from audit_payload p where p.entry_id = e.id) stored
) kept on true
where e.id = any(%s)
"""


class _Look:
    """One look at the log for some receipts."""

    def __init__(self, receipts: Collection[Receipt], most: int, *, is_proven: bool) -> None:
        self.receipts = receipts
        self.is_proven = is_proven
        keys = list({receipt.id for receipt in receipts})
        rows = Entry.objects.raw(ROWS, [most, most, keys]) if keys else ()
        self.rows: dict[UUID, Entry] = {row.pk: row for row in rows}

    def all(self) -> dict[Receipt, Checked]:
        """What became of each."""
        return {receipt: self._check(receipt) for receipt in self.receipts}

    def _check(self, receipt: Receipt) -> Checked:
        entry = self.rows.get(receipt.id)
        if entry is None:
            return Checked(receipt, fault=self._gone(receipt))
        fault = _content_fault(receipt, entry) or self._seal_fault(receipt, entry)
        if fault:
            return Checked(receipt, fault=fault)
        leaf = vars(entry)["leaf"]
        if leaf is None:
            return self._unsealed(receipt, entry)
        if not self.is_proven or self.head is None:
            return Checked(receipt)
        return Checked(replace(receipt, leaf=leaf, size=receipt.size or self.head.size))

    @cached_property
    def head(self) -> Head | None:
        """Read after the leaves, so that it is no older than they are."""
        return heads.newest()

    def _gone(self, receipt: Receipt) -> str:
        dropped = next((one for one in self._retained if one.first_number <= receipt.seq <= one.last_number), None)
        if dropped is not None:
            return f"{receipt.ref} was dropped by retention, {dropped.ref}."
        return f"{receipt.ref} is not in the log any more."

    @cached_property
    def _retained(self) -> list[Retained]:
        return list(Retained.objects.order_by("-month"))

    def _seal_fault(self, receipt: Receipt, entry: Entry) -> str:
        leaf, stored = vars(entry)["leaf"], vars(entry)["leaf_hash"]
        if leaf is None and receipt.leaf is None:
            return ""
        if leaf is None:
            return f"{receipt.ref} was sealed as leaf {receipt.leaf}, and that leaf is gone."
        if receipt.leaf not in (None, leaf):
            return f"{receipt.ref} was sealed as leaf {receipt.leaf} and is leaf {leaf} now."
        if reading.leaf_of(entry) != bytes(stored):
            return f"{receipt.ref} does not give leaf {leaf}, which was made from it."
        return self._proof_fault(receipt, leaf, bytes(stored)) if self.is_proven else ""

    def _proof_fault(self, receipt: Receipt, leaf: int, stored: bytes) -> str:
        head = self.head
        if head is None or leaf >= head.size:
            return f"{receipt.ref} is leaf {leaf}, and no checkpoint is that long."
        if head.fault:
            return f"{receipt.ref} cannot be shown to be sealed: {head.fault}"
        path = self._paths.get(leaf)
        if path is None or root_of_proof(leaf, head.size, stored, path) != head.root:
            return f"No proof leads from {receipt.ref} to the root of checkpoint {head.size}."
        return ""

    @cached_property
    def _paths(self) -> Mapping[int, list[bytes]]:
        """The proofs of all leaves at once; none when the stored tree has a hole."""
        size = self.head.size if self.head else 0
        leaves = [leaf for row in self.rows.values() if (leaf := vars(row)["leaf"]) is not None and leaf < size]
        try:
            return proofs.inclusions(leaves, size)
        except proofs.TreeBroken:
            return {}

    def _unsealed(self, receipt: Receipt, entry: Entry) -> Checked:
        if timezone.now() - entry.at <= SEALED_WITHIN:
            return Checked(receipt)
        if self._sealer.is_well:
            return Checked(
                receipt, fault=f"The sealer is at work, and {receipt.ref} was passed over: it is not sealed."
            )
        return Checked(receipt, waits=f"{receipt.ref} is not sealed yet. {self._sealer.sentence}")

    @cached_property
    def _sealer(self) -> sealing.Status:
        return sealing.status()


def _content_fault(receipt: Receipt, entry: Entry) -> str:
    """What of the entry is not what its receipt is about, as a sentence; empty when it is."""
    if entry.seq != receipt.seq or bytes(entry.digest).hex() != receipt.digest:
        return f"{receipt.ref} is not the entry that its receipt was given for."
    kept = vars(entry)
    if not kept["is_whole"]:
        return f"The arguments or the result of {receipt.ref} were taken away."
    if kept["args"] is None:
        changed = reading.digest_of(entry) != bytes(entry.digest)
        return f"{receipt.ref} does not match the digest that was taken when it was written." if changed else ""
    payload = Payload(entry_id=entry.pk, salt=kept["salt"], args=kept["args"], result=kept["result"])
    content = reading.check(entry, payload)
    return "" if content.is_intact else f"{receipt.ref} is not what was written. {content.why}"
