"""The Merkle tree over the log's leaves (RFC 9162, section 2.1), as the sealer grows it. Pure: no database, no clock.

What is kept is every leaf and every complete subtree of 256, 65,536, … leaves; the rest is worked out when asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

STORED_EVERY = 8  # levels: a stored node covers 256 of the level below
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(record: bytes) -> bytes:
    """SHA-256 over 0x00 and the leaf's record (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256 over 0x01 and two subtrees (RFC 9162, 2.1.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Node(NamedTuple):
    """A complete subtree: of 2^level leaves, the index-th of its size. Level 0 is a leaf."""

    level: int
    index: int  # type: ignore[assignment]  # in place of what tuples have, which nobody needs here


@dataclass
class Frontier:
    """The right edge of a tree: its complete subtrees from the largest to the smallest. All that growing it needs."""

    size: int = 0
    peaks: list[bytes] = field(default_factory=list)

    def append(self, leaf: bytes) -> Iterator[tuple[Node, bytes]]:
        """Add a leaf's hash; yields each subtree that is complete now and is to be stored."""
        level, index, hashed = 0, self.size, leaf
        while index & 1:
            hashed = node_hash(self.peaks.pop(), hashed)
            level, index = level + 1, index >> 1
            if level % STORED_EVERY == 0:
                yield Node(level, index), hashed
        self.peaks.append(hashed)
        self.size += 1

    def root(self) -> bytes:
        """The tree's hash; that of the empty text for an empty tree."""
        return folded(self.peaks)


def folded(peaks: Iterable[bytes]) -> bytes:
    """The hash over complete subtrees that stand beside each other, from the largest to the smallest."""
    hashed = b""
    for peak in reversed(list(peaks)):
        hashed = node_hash(peak, hashed) if hashed else peak
    return hashed or EMPTY_ROOT


@dataclass(frozen=True)
class Span:
    """The leaves from `start` up to `end`, not including it."""

    start: int
    end: int


def complete(span: Span) -> list[Node]:
    """The complete subtrees that a span of a tree consists of, from the largest to the smallest.

    The span has to begin where a subtree of its size may begin, as every span of a proof does.
    """
    found, start = [], span.start
    while start < span.end:
        level = (span.end - start).bit_length() - 1
        found.append(Node(level, start >> level))
        start += 1 << level
    return found


def inclusion_path(index: int, size: int) -> list[Span]:
    """The siblings on the way from a leaf to the root of `size` leaves, from the bottom (RFC 9162, 2.1.3.1).

    Raises ValueError for a leaf that the tree does not have.
    """
    if not 0 <= index < size:
        raise ValueError(f"A tree of {size} leaves has no leaf {index}.")
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(start, middle))
            start = middle
    return path[::-1]


def consistency_path(old: int, new: int) -> list[Span]:
    """What shows that the tree of `old` leaves is the beginning of that of `new` (RFC 9162, 2.1.4.1).

    Raises ValueError unless 0 < old <= new.
    """
    if not 0 < old <= new:
        raise ValueError(f"There is no proof from {old} to {new} leaves.")
    path, start, end, is_whole = [], 0, new, True
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(start, middle))
            start, is_whole = middle, False
    # The old tree itself is known to who asks, unless it was split on the way down.
    return ([] if is_whole else [Span(start, end)]) + path[::-1]


def _split(width: int) -> int:
    """The largest power of two below a width: where RFC 9162 parts a tree."""
    return 1 << ((width - 1).bit_length() - 1)


def subtree(node: Node, stored: Mapping[tuple[int, int], bytes]) -> bytes:
    """A complete subtree's hash, from itself or from the nearest stored ones below it, by level and index.

    Raises KeyError with the level and index of what is not there.
    """
    level, indices = stored_below(node)
    below = [stored[level, index] for index in indices]
    while len(below) > 1:
        below = [node_hash(left, right) for left, right in zip(below[::2], below[1::2], strict=True)]
    return below[0]


def stored_below(node: Node) -> tuple[int, range]:
    """What a complete subtree is worked out from: itself, or up to 128 of the nearest stored level below it."""
    level = node.level - node.level % STORED_EVERY
    width = 1 << (node.level - level)
    return level, range(node.index * width, (node.index + 1) * width)
