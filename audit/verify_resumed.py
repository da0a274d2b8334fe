"""The tree as it was at an earlier checkpoint, from what is stored of it: so that only newer leaves are read."""

from __future__ import annotations

from audit import verify_rows
from audit.verify.tree import KEPT_LEVELS, Tree, parent


class CannotResume(Exception):
    """The sentence that says what of the stored tree is not there."""


def tree(size: int) -> Tree:
    """The tree of the first `size` leaves, in a query for each stored level. Raises CannotResume."""
    subtrees, first = {}, 0
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            subtrees[level] = _subtree(level, first)
            first += 1 << level
    return Tree.resumed(subtrees)


def _subtree(level: int, first: int) -> bytes:
    """The hash over the 2^level leaves from `first` on, folded from the kept level below it."""
    kept = level - level % KEPT_LEVELS
    count = 1 << (level - kept)
    hashes = _leaves(first, count) if kept == 0 else _nodes(kept, first >> kept, count)
    while len(hashes) > 1:
        hashes = [parent(left, right) for left, right in zip(hashes[::2], hashes[1::2], strict=True)]
    return hashes[0]


def _leaves(first: int, count: int) -> list[bytes]:
    found = verify_rows.leaves_between(first, first + count)
    if [leaf.index for leaf in found] != list(range(first, first + count)):
        raise CannotResume(f"Of the leaves {first} to {first + count - 1}, not all are there.")
    return [leaf.hash for leaf in found]


def _nodes(level: int, first: int, count: int) -> list[bytes]:
    wanted = [(level, index) for index in range(first, first + count)]
    stored = verify_rows.nodes(wanted)
    missing = [index for _, index in wanted if (level, index) not in stored]
    if missing:
        raise CannotResume(f"The node {missing[0]} of level {level} is not there.")
    return [stored[one] for one in wanted]
