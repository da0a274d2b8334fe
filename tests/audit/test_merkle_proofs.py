"""Proofs as the sealer's tree makes them, against the published vectors and against the verifier's own algorithm.

The two share no code: one walks down from the root, as RFC 9162 defines a proof (2.1.3.1 and 2.1.4.1); the other works
its way up from the leaf, as the same text verifies one (2.1.3.2 and 2.1.4.2).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import merkle
from audit.verify.tree import Tree, consistency, leaf, root_of_proof
from tests.audit.test_merkle import RECORDS, ROOTS, grown, hashed, some_leaves

# Nodes of the reference tree of Certificate Transparency, and the proofs that its tests have published (the vectors of
# merkle_tree_test in github.com/google/certificate-transparency): leaves from 0, sizes, the hashes from the bottom.
L0, L1, L4 = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
)
N01, N23, N45, N67 = (
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
)
N03, N47 = (
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
)
INCLUSION = [
    (0, 1, []), (0, 8, [L1, N23, N47]), (5, 8, [L4, N67, N03]), (2, 3, [N01]), (1, 5, [L0, N23, L4]),
]  # fmt: skip
CONSISTENCY = [(1, 1, []), (1, 8, [L1, N23, N47]), (6, 8, [N45, N67, N03]), (2, 5, [N23, L4])]
LEAVES = [leaf(bytes.fromhex(record)) for record in RECORDS]


@pytest.mark.parametrize(("index", "size", "published"), INCLUSION)
def test_inclusion_proofs_are_those_that_were_published(index: int, size: int, published: list[str]) -> None:
    proof = hashed(merkle.inclusion_path(index, size), grown(LEAVES[:size])[1])
    assert [one.hex() for one in proof] == published
    assert root_of_proof(index, size, LEAVES[index], proof) == bytes.fromhex(ROOTS[size])


@pytest.mark.parametrize(("old", "new", "published"), CONSISTENCY)
def test_consistency_proofs_are_those_that_were_published(old: int, new: int, published: list[str]) -> None:
    proof = hashed(merkle.consistency_path(old, new), grown(LEAVES[:new])[1])
    assert [one.hex() for one in proof] == published
    assert consistency(old, new, bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]), proof)


def test_the_verifiers_tree_gives_the_published_roots_too() -> None:
    tree = Tree()
    roots = [tree.root().hex()]
    for one in LEAVES:
        tree.append(one)
        roots.append(tree.root().hex())
    assert roots == ROOTS


def flipped(proof: list[bytes], at: int) -> list[bytes]:
    changed = bytes([proof[at][0] ^ 1]) + proof[at][1:]
    return [*proof[:at], changed, *proof[at + 1 :]]


# What somebody makes of a proof: none of it is one any more.
SPOILED: dict[str, Callable[[list[bytes], int], list[bytes]]] = {
    "a bit": lambda proof, at: flipped(proof, at),
    "one left out": lambda proof, at: [*proof[:at], *proof[at + 1 :]],
    "one twice": lambda proof, at: [*proof[: at + 1], *proof[at:]],
    "one more at the end": lambda proof, at: [*proof, proof[at]],
    "one more before": lambda proof, at: [proof[at], *proof],
    "nothing": lambda proof, at: [],
}


@pytest.mark.parametrize("how", SPOILED)
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 700), st.data())
def test_an_inclusion_proof_verifies_and_no_change_of_it_does(how: str, size: int, data: st.DataObject) -> None:
    leaves = some_leaves(size)
    frontier, stored = grown(leaves)
    index = data.draw(st.integers(0, size - 1))
    proof = hashed(merkle.inclusion_path(index, size), stored)
    assert root_of_proof(index, size, leaves[index], proof) == frontier.root()
    spoiled = SPOILED[how](proof, data.draw(st.integers(0, len(proof) - 1)))
    assert root_of_proof(index, size, leaves[index], spoiled) != frontier.root()
    other = data.draw(st.integers(0, size - 1).filter(lambda one: one != index))
    assert root_of_proof(other, size, leaves[index], proof) != frontier.root()
    assert root_of_proof(index, size, leaves[other], proof) != frontier.root()


@pytest.mark.parametrize("how", SPOILED)
@settings(max_examples=40, deadline=None)
@given(st.integers(2, 700), st.data())
def test_a_consistency_proof_verifies_and_no_change_of_it_does(how: str, new: int, data: st.DataObject) -> None:
    leaves = some_leaves(new)
    old = data.draw(st.integers(1, new - 1))
    root, before = grown(leaves)[0].root(), grown(leaves[:old])[0].root()
    proof = hashed(merkle.consistency_path(old, new), grown(leaves)[1])
    assert consistency(old, new, before, root, proof)
    assert not consistency(old, new, before, root, SPOILED[how](proof, data.draw(st.integers(0, len(proof) - 1))))
    assert not consistency(old, new, root, before, proof)
    assert not consistency(old, new, leaves[0] if old > 1 else root, root, proof)
    forked = grown([*leaves[: old - 1], merkle.leaf_hash(b"forked")])[0].root()
    assert not consistency(old, new, forked, root, proof)


def test_every_proof_of_every_small_tree_verifies() -> None:
    leaves = some_leaves(40)
    roots = [grown(leaves[:size])[0].root() for size in range(41)]
    stored = grown(leaves)[1]
    for size in range(1, 41):
        for index in range(size):
            proof = hashed(merkle.inclusion_path(index, size), stored)
            assert root_of_proof(index, size, leaves[index], proof) == roots[size]
        for old in range(1, size + 1):
            proof = hashed(merkle.consistency_path(old, size), stored)
            assert consistency(old, size, roots[old], roots[size], proof)
