"""The tree against the published vectors, against the definition written down naively, and against itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import merkle
from audit.merkle import Frontier, Node

# The reference tree of Certificate Transparency (RFC 6962): eight leaves, and the roots of its beginnings.
RECORDS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def grown(leaves: Sequence[bytes]) -> tuple[Frontier, dict[Node, bytes]]:
    """The tree over leaves, with everything that would be stored."""
    frontier, stored = Frontier(), {Node(0, index): leaf for index, leaf in enumerate(leaves)}
    for leaf in leaves:
        stored.update(frontier.append(leaf))
    return frontier, stored


def hashed(spans: Sequence[merkle.Span], stored: dict[Node, bytes]) -> list[bytes]:
    return [merkle.folded([merkle.subtree(node, stored) for node in merkle.complete(span)]) for span in spans]


# RFC 9162, section 2.1, as it is written there and as slow as that.
def split(width: int) -> int:
    k = 1
    while k * 2 < width:
        k *= 2
    return k


def mth(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def subproof(m: int, leaves: Sequence[bytes], is_whole: bool) -> list[bytes]:
    if m == len(leaves):
        return [] if is_whole else [mth(leaves)]
    k = split(len(leaves))
    if m <= k:
        return [*subproof(m, leaves[:k], is_whole), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]


def some_leaves(count: int) -> list[bytes]:
    return [merkle.leaf_hash(str(number).encode()) for number in range(count)]


def test_the_roots_are_those_that_were_published() -> None:
    leaves = [merkle.leaf_hash(bytes.fromhex(record)) for record in RECORDS]
    assert [grown(leaves[:size])[0].root().hex() for size in range(9)] == ROOTS


@given(st.integers(1, 700), st.data())
def test_root_and_proofs_are_those_of_the_definition(size: int, data: st.DataObject) -> None:
    leaves = some_leaves(size)
    frontier, stored = grown(leaves)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    assert frontier.root() == mth(leaves)
    assert hashed(merkle.inclusion_path(index, size), stored) == path(index, leaves)
    assert hashed(merkle.consistency_path(old, size), stored) == subproof(old, leaves, True)


def test_a_proof_of_a_large_tree_needs_the_stored_levels() -> None:
    # Beyond 65,536 leaves the second stored level is in use.
    leaves = some_leaves(70_000)
    frontier, stored = grown(leaves)
    assert {node.level for node in stored} == {0, 8, 16}
    assert frontier.root() == mth(leaves)
    assert hashed(merkle.inclusion_path(68_123, 70_000), stored) == path(68_123, leaves)
    assert hashed(merkle.consistency_path(65_537, 70_000), stored) == subproof(65_537, leaves, True)


@pytest.mark.parametrize(("index", "size"), [(-1, 5), (5, 5), (0, 0)])
def test_a_leaf_that_is_not_there_has_no_proof(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="has no leaf"):
        merkle.inclusion_path(index, size)


@pytest.mark.parametrize(("old", "new"), [(0, 5), (6, 5)])
def test_there_is_no_consistency_proof_backwards_or_from_nothing(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="no proof from"):
        merkle.consistency_path(old, new)
