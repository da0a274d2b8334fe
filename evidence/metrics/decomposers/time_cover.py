"""Time cover: every instant of an entity's interval has exactly one reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from evidence.metrics.decomposers.parts import Component, Decomposition, Piece
from evidence.metrics.status import Code, Reason, because


def decompose(
    entity: str,
    begins: Fraction,
    finishes: Fraction,
    pieces: Sequence[Piece],
    kinds: Sequence[str],
    without_reason: Sequence[str] = (),
) -> Decomposition:
    """The length of the interval by reason.

    An instant without a piece is a gap and shows as a residual; one with two is an overlap, named with its place, for a
    gap of the same length would hide it in the sum. A kind of `without_reason` is time that is known to have passed and
    that nothing recorded accounts for.
    """
    amounts = dict.fromkeys(kinds, Fraction(0))
    for piece in pieces:
        if piece.kind in amounts:
            amounts[piece.kind] += piece.ends - piece.starts
    reasons = (
        *_contradictions(entity, begins, finishes, pieces),
        *_unknown(pieces, kinds),
        *_uncovered(entity, begins, finishes, pieces),
        *(
            because(Code.WITHOUT_REASON, entity=entity, kind=kind, seconds=amounts[kind])
            for kind in without_reason
            if amounts[kind]
        ),
    )
    return Decomposition("time_cover", finishes - begins, tuple(Component(*pair) for pair in amounts.items()), reasons)


def _contradictions(entity: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Iterator[Reason]:
    """What ends before it starts, or lies outside of the interval that it is to be a part of."""
    if finishes < begins:
        yield because(Code.CONTRADICTION, entity=entity, column="finishes")
    for piece in pieces:
        if piece.ends < piece.starts or piece.starts < begins or piece.ends > finishes:
            yield because(Code.CONTRADICTION, entity=entity, column="starts", kind=piece.kind)


def _unknown(pieces: Sequence[Piece], kinds: Sequence[str]) -> Iterator[Reason]:
    for kind in dict.fromkeys(piece.kind for piece in pieces if piece.kind not in kinds):
        yield because(Code.UNKNOWN_VALUE, column="kind", value=kind)


def _uncovered(entity: str, begins: Fraction, finishes: Fraction, pieces: Sequence[Piece]) -> Iterator[Reason]:
    """The gaps and overlaps, walked from the start. A piece of no length covers nothing."""
    reached = begins
    for piece in sorted(pieces, key=lambda piece: (piece.starts, piece.ends)):
        if piece.starts == piece.ends:
            continue
        if piece.starts > reached:
            yield because(Code.GAP, entity=entity, since=reached, until=piece.starts)
        if piece.starts < reached:
            yield because(Code.OVERLAP, entity=entity, since=piece.starts, until=min(piece.ends, reached))
        reached = max(reached, piece.ends)
    if reached < finishes:
        yield because(Code.GAP, entity=entity, since=reached, until=finishes)
