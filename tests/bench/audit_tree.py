"""The sealed tree of a large log: sealing a backlog, verifying the leaves, proving one of them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from audit import notes, proofs, seal, verify_rows
from audit.models import Leaf
from audit.verify.tree import Tree, root_of_proof
from tests.bench.filling import fill
from tests.bench.timing import milliseconds

WANTED_BACKLOG = 30_000
Found = TypeVar("Found")


def run(sockets: Path, entries: int) -> None:
    """Print the rates for a log of so many entries, by the clock and by our own processor's."""
    fill(entries)
    sealed, seconds, own = _timed(_seal)
    _say(f"a backlog of {sealed:,} entries sealed: {sealed / seconds:,.0f}/s, {sealed / own:,.0f}/s of our own time",
         f"{WANTED_BACKLOG:,}/s")  # fmt: skip
    size = Leaf.objects.count()
    leaves, seconds, own = _timed(lambda: [leaf.hash for batch in verify_rows.leaves() for leaf in batch])
    root, more, more_own = _timed(lambda: _root(leaves))
    million = 1e6 / size
    _say(
        f"a million leaves of {size:,} read: {seconds * million:.2f} s, {own * million:.2f} s of our own time",
        "what it takes",
    )
    _say(f"and verified: {more * million:.2f} s, {more_own * million:.2f} s of our own time", "about 1 s")
    index, dice = size // 3, random.Random(1)  # noqa: S311
    assert root_of_proof(index, size, leaves[index], proofs.inclusion(index, size)) == root
    took = milliseconds(lambda: proofs.inclusion(dice.randrange(size), size))
    _say(f"an inclusion proof among {size:,} leaves: {took:.2f} ms", "2 ms")
    took = milliseconds(lambda: proofs.consistency(dice.randrange(1, size), size))
    _say(f"a consistency proof up to {size:,} leaves: {took:.2f} ms", "2 ms")


def _say(found: str, wanted: str) -> None:
    print(f"{found} (wanted {wanted})")  # noqa: T201


def _timed(work: Callable[[], Found]) -> tuple[Found, float, float]:
    start, own = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - start, time.process_time() - own


def _seal() -> int:
    sealer = seal.Sealer([notes.SigningKey("bench.example/log", bytes(32))])
    sealer.start()
    count = 0
    while sealed := sealer.round():
        count += sealed
    return count


def _root(leaves: list[bytes]) -> bytes:
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()
