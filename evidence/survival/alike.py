"""Evidence that repeats most of other evidence, by the pieces that are not common to many results.

One chance pair of short units links two results in the compatible measure, and then everything hangs together. Here a
result repeats another when most of its pieces stand in it, word for word but for case and blanks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evidence.survival.fields import EVIDENCE
from evidence.survival.pieces import pieces_of

MOST_OF = 0.6  # of its pieces
LEAST_PIECES = 2
BOILERPLATE = 0.5  # a piece that stands in more of the results says nothing about any
LEAST_RESULTS = 4  # among fewer, nothing can be told to be boilerplate
MOST_HOLDERS = 50  # a piece in more results is looked up in the first of them


class Repeats(NamedTuple):
    """The step whose result repeats an earlier one, how many of its pieces do, and of how many."""

    step: int
    earlier: int
    shared: int
    pieces: int

    def as_json(self) -> dict[str, int]:
        return dict(self._asdict())


def repeats_of(steps: Sequence[Mapping[str, Any]]) -> list[Repeats]:
    """Each result that repeats most of an earlier one, with the one that it repeats most of."""
    pieces = {at: _pieces(step["content"]) for at, step in enumerate(steps) if step["type"] in EVIDENCE}
    counts = Counter(piece for held in pieces.values() for piece in held)
    common = len(pieces) * BOILERPLATE if len(pieces) >= LEAST_RESULTS else len(pieces) + 1
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    found = []
    for at, held in pieces.items():
        telling = {piece for piece in held if counts[piece] <= common}
        repeated = _most(at, telling, holders)
        if repeated is not None:
            found.append(repeated)
        for piece in telling:
            if len(holders[piece]) < MOST_HOLDERS:
                holders[piece].append(at)
    return found


def _pieces(text: str) -> frozenset[tuple[str, str]]:
    """Leaves by where they stand as well: the same number under another name is another thing."""
    return frozenset(
        (piece.path or "", " ".join(text[piece.start : piece.end].lower().split())) for piece in pieces_of(text)
    )


def _most(at: int, telling: set[tuple[str, str]], holders: Mapping[tuple[str, str], Sequence[int]]) -> Repeats | None:
    shared = Counter(earlier for piece in telling for earlier in holders.get(piece, ()))
    if len(telling) < LEAST_PIECES or not shared:
        return None
    earlier, number = min(shared.items(), key=lambda one: (-one[1], one[0]))
    return Repeats(at, earlier, number, len(telling)) if number >= MOST_OF * len(telling) else None
