"""Proofs of inclusion and consistency, read from the stored tree in one query (RFC 9162)."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from audit import merkle
from audit.merkle import Node, Span


class TreeBroken(Exception):
    """The stored tree lacks a leaf or a node that it must have; the sentence names it."""


def inclusion(index: int, size: int) -> list[bytes]:
    """The hashes that lead from leaf `index` to the root of the first `size` leaves, from the bottom.

    Raises ValueError for a leaf beyond the tree, and TreeBroken when the stored tree has a hole.
    """
    return _hashes(merkle.inclusion_path(index, size))


def inclusions(indices: Iterable[int], size: int) -> dict[int, list[bytes]]:
    """The same for many leaves at once, with no more queries than for one. Raises ValueError and TreeBroken."""
    paths = {index: [merkle.complete(span) for span in merkle.inclusion_path(index, size)] for index in indices}
    stored = _stored({node for path in paths.values() for nodes in path for node in nodes})
    return {
        index: [merkle.folded([_subtree(node, stored) for node in nodes]) for nodes in path]
        for index, path in paths.items()
    }


def consistency(old: int, new: int) -> list[bytes]:
    """The hashes that show the tree of `old` leaves to be the beginning of that of `new`.

    Raises ValueError unless 0 < old <= new, and TreeBroken when the stored tree has a hole.
    """
    return _hashes(merkle.consistency_path(old, new))


def frontier(size: int) -> merkle.Frontier:
    """The right edge of the stored tree at `size` leaves. Raises TreeBroken."""
    nodes = merkle.complete(Span(0, size))
    stored = _stored(nodes)
    return merkle.Frontier(size, [_subtree(node, stored) for node in nodes])


def _hashes(spans: Iterable[Span]) -> list[bytes]:
    parts = [merkle.complete(span) for span in spans]
    stored = _stored(node for nodes in parts for node in nodes)
    return [merkle.folded([_subtree(node, stored) for node in nodes]) for nodes in parts]


def _subtree(node: Node, stored: dict[tuple[int, int], bytes]) -> bytes:
    try:
        return merkle.subtree(node, stored)
    except KeyError as missing:
        level, index = missing.args[0]
        raise TreeBroken(f"The stored tree has no node {index} of level {level}.") from missing


SPANS = "unnest(%s::int2[], %s::int8[], %s::int8[]) span (level, first, last)"
# The level of a span says in which of the tables it stands. Each span is a walk of its own along the primary key: with
# "offset 0" the planner may not read the whole level at once, which it does not know to be much longer.
STORED = f"""
select level, idx, h from {SPANS},
  lateral (select idx, h from audit_leaf where idx between first and last offset 0) found where level = 0
union all
select level, idx, h from {SPANS},
  lateral (select idx, h from audit_node where lvl = level and idx between first and last offset 0) found
  where level > 0
"""


def _stored(nodes: Iterable[Node]) -> dict[tuple[int, int], bytes]:
    """The stored nodes that these are worked out from, by level and index."""
    spans = [(level, below[0], below[-1]) for level, below in map(merkle.stored_below, nodes)]
    if not spans:
        return {}
    sides = [list(side) for side in zip(*spans, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(STORED, [*sides, *sides])
        return {(level, index): hashed for level, index, hashed in cursor.fetchall()}
