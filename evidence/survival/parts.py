"""The pieces of a trace's steps, with what can be recognized of each when it is met again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evidence.survival.atoms import Atom, atoms_of
from evidence.survival.pieces import MOST, Piece, Token, pieces_of, tokens_of
from evidence.survival.words import STOP_WORDS

MOST_PIECES = 200_000  # of all steps of a trace together
SHORT_NUMBER = 3  # a bare number of fewer digits is found by chance


class Match(NamedTuple):
    """Where a piece survives: the later piece and how it was recognized."""

    sink: int
    how: str


@dataclass
class Part:
    """One piece of one step, with what can be recognized of it."""

    step: int
    piece: Piece
    tokens: list[Token]
    informing: frozenset[str]
    atoms: list[Atom]
    matches: list[Match] = field(default_factory=list)

    @property
    def facts(self) -> Iterator[str]:
        """Its facts that are no coincidence when they are met again."""
        return (atom.value for atom in self.atoms if is_telling(atom))


def is_telling(atom: Atom) -> bool:
    """Whether meeting the fact twice says something: a bare number needs three digits."""
    if atom.kind != "number" or atom.dimension:
        return True
    return len(atom.value.strip("-").replace("/", "")) >= SHORT_NUMBER


def parts_of_all(texts: Sequence[str]) -> tuple[list[list[Part]], list[dict[str, int]]]:
    """The pieces of each step, and of which steps the rest was left out because they would be too many."""
    found: list[list[Part]] = []
    unread = []
    left = MOST_PIECES
    for at, text in enumerate(texts):
        most = min(left, MOST)
        parts = list(_parts(at, text, most))
        found.append(parts)
        left -= len(parts)
        end = parts[-1].piece.end if parts else 0
        if len(parts) >= most and text[end:].strip():
            unread.append({"step": at, "from": end})
    return found, unread


def _parts(at: int, text: str, most: int) -> Iterator[Part]:
    for piece in pieces_of(text, most):
        tokens = list(tokens_of(text, piece.start, piece.end))
        name = piece.path.rpartition("/")[2] if piece.path else None
        atoms = list(atoms_of(text, piece.start, piece.end, name))
        yield Part(at, piece, tokens, frozenset(token.word for token in tokens) - STOP_WORDS, atoms)
