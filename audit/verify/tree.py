"""The Merkle tree of RFC 9162, section 2.1, written apart from the sealer's: two hands make one mistake less often."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

EMPTY = hashlib.sha256(b"").digest()
KEPT_LEVELS = 8  # the log stores complete subtrees of 2^8, 2^16, … leaves


def leaf(record: bytes) -> bytes:
    """The hash of a leaf (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x00" + record).digest()


def parent(left: bytes, right: bytes) -> bytes:
    """The hash of a node over two subtrees (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows by a leaf at a time. It keeps one hash for each bit of its size."""

    def __init__(self) -> None:
        self.size = 0
        self._full: list[bytes | None] = []  # by level: the complete subtree that still waits for its sibling

    @classmethod
    def resumed(cls, subtrees: Mapping[int, bytes]) -> Tree:
        """A tree that goes on growing from its complete subtrees, by level: one for each bit of its size."""
        made = cls()
        made.size = sum(1 << level for level in subtrees)
        made._full = [subtrees.get(level) for level in range(made.size.bit_length())]
        return made

    def append(self, hashed: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf; the kept subtrees that it completes, as (level, index, hash)."""
        completed, level = [], 0
        while level < len(self._full) and (left := self._full[level]) is not None:
            self._full[level] = None
            hashed = parent(left, hashed)
            level += 1
            if level % KEPT_LEVELS == 0:
                completed.append((level, self.size >> level, hashed))
        if level == len(self._full):
            self._full.append(None)
        self._full[level] = hashed
        self.size += 1
        return completed

    def root(self) -> bytes:
        """The hash of the whole (RFC 9162, 2.1.1)."""
        found = None
        for hashed in self._full:
            if hashed is not None:
                found = hashed if found is None else parent(hashed, found)
        return EMPTY if found is None else found


def root_of_proof(index: int, size: int, hashed: bytes, proof: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to from a leaf (RFC 9162, 2.1.3.2); None when it is no proof."""
    if not 0 <= index < size:
        return None
    at, last = index, size - 1
    for sibling in proof:
        if last == 0:
            return None
        if at & 1 or at == last:
            hashed = parent(sibling, hashed)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            hashed = parent(hashed, sibling)
        at, last = at >> 1, last >> 1
    return hashed if last == 0 else None


def consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the tree of `old` leaves is the beginning of that of `new` (RFC 9162, 2.1.4.2).

    Nothing precedes the first tree, and equal trees need no proof.
    """
    if not 0 <= old <= new:
        return False
    if old in (0, new):
        return not proof and (old == 0 or old_root == new_root)
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    return bool(path) and _both_roots(old - 1, new - 1, path) == (old_root, new_root)


def _both_roots(at: int, last: int, path: list[bytes]) -> tuple[bytes, bytes] | None:
    """The roots of the old and of the new tree that a path leads to; None when it has not the right form."""
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if at & 1 or at == last:
            before, after = parent(sibling, before), parent(sibling, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = parent(after, sibling)
        at, last = at >> 1, last >> 1
    return (before, after) if last == 0 else None
