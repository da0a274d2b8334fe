"""Proofs of inclusion and consistency, read from the stored tree in a query for each stored level (RFC 9162)."""

from __future__ import annotations

from collections import defaultdict
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


def _subtree(node: Node, stored: dict[Node, bytes]) -> bytes:
    try:
        return merkle.subtree(node, stored)
    except KeyError as missing:
        lost = missing.args[0]
        raise TreeBroken(f"The stored tree has no node {lost.index} of level {lost.level}.") from missing


SPANS = "join unnest(%s::int8[], %s::int8[]) span (first, last) on idx between first and last"
LEAVES = f"select idx, h from audit_leaf {SPANS}"
NODES = f"select idx, h from audit_node {SPANS} where lvl = %s"


def _stored(nodes: Iterable[Node]) -> dict[Node, bytes]:
    """The stored nodes that these are worked out from, with one query for each level that has some."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for node in nodes:
        below = merkle.stored_below(node)
        spans[below[0].level].append((below[0].index, below[-1].index))
    found = {}
    with connection.cursor() as cursor:
        for level, wanted in spans.items():
            bounds = [list(side) for side in zip(*wanted, strict=True)]
            cursor.execute(NODES if level else LEAVES, [*bounds, level] if level else bounds)
            found.update({Node(level, index): bytes(hashed) for index, hashed in cursor.fetchall()})
    return found
