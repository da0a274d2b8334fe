"""Hints that an answer says otherwise than what was read. Words and numbers alone: a hint to look, and no finding.

Two sentences about the same, of which one denies what the other says, or a number that stands under the same name with
another value. Who wrote the answer may be right: a value changes between two reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.survival.atoms import Atom, atoms_of
from evidence.survival.fields import EVIDENCE
from evidence.survival.holding import Holding, numbers_in
from evidence.survival.pieces import Piece, Token, informative_words, pieces_of, tokens_of
from evidence.survival.words import STOP_WORDS, words_of

NEGATIONS = frozenset(
    ("not", "no", "never", "none", "without", "cannot", "nothing", "neither", "nor", "isn", "wasn", "didn", "doesn",
     "don", "won", "hasn", "haven", "couldn", "weren", "aren")
)  # fmt: skip
OPPOSITES = (
    ({"failed", "fail", "fails", "failure", "failing"}, {"succeeded", "success", "successful", "succeeds", "passed"}),
    ({"up", "running", "online", "healthy"}, {"down", "stopped", "offline", "unhealthy"}),
    ({"increased", "increasing", "rose", "rising", "higher"}, {"decreased", "decreasing", "fell", "falling", "lower"}),
    ({"open", "opened"}, {"closed"}),
    ({"enabled"}, {"disabled"}),
    ({"true"}, {"false"}),
)
LEAST_SHARED = 3  # informing words that two sentences about the same have in common
MOST = 50  # hints
MOST_PIECES = 5_000  # of evidence, and as many of the answer
MOST_LOOKED_AT = 40  # pieces of evidence for one sentence
LONGEST_NAME = 4  # words of a field's name
LONGEST = 60  # words of a piece of evidence that can be set against a sentence
POLARITY, NUMBER = "polarity", "number"


@dataclass(frozen=True)
class Hint:
    """What stands against what: a piece of the answer and a piece of a step's text, in code points."""

    kind: str
    why: str
    start: int
    end: int
    step: int
    from_: int
    to: int

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "why": self.why, "start": self.start, "end": self.end, "step": self.step,
            "evidence_start": self.from_, "evidence_end": self.to,
        }  # fmt: skip


def hints_of(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What in the last answer is at odds with what was read before it."""
    answers = [at for at, step in enumerate(steps) if step["type"] == "assistant"]
    if not answers:
        return []
    text = steps[answers[-1]]["content"]
    said = [piece for piece in pieces_of(text, MOST_PIECES) if piece.kind != "leaf"]
    held = list(_held(steps[: answers[-1]]))
    found = [*_denials(text, said, held, steps), *_numbers(text, said, held, steps)]
    return [hint.as_json() for hint in found[:MOST]]


def _held(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Piece]]:
    left = MOST_PIECES
    for at, step in enumerate(steps):
        if step["type"] in EVIDENCE and left > 0:
            pieces = pieces_of(step["content"], left)
            left -= len(pieces)
            yield from ((at, piece) for piece in pieces)


def _denials(
    text: str, said: Sequence[Piece], held: Sequence[tuple[int, Piece]], steps: Sequence[Mapping[str, Any]]
) -> Iterator[Hint]:
    """Two sentences that share most of what informs, of which one denies the other."""
    rows = [frozenset(token.word for token in tokens_of(steps[at]["content"], *piece[1:3])) for at, piece in held]
    index = Holding([row - NEGATIONS if len(row) <= LONGEST else frozenset() for row in rows])
    for piece in said:
        words = frozenset(token.word for token in tokens_of(text, piece.start, piece.end))
        telling = informative_words(text, piece.start, piece.end) - NEGATIONS
        least = max(LEAST_SHARED, (len(telling) + 1) // 2)
        if len(telling) < least:
            continue
        for number in list(numbers_in(index.at_least(telling, least)))[:MOST_LOOKED_AT]:
            why = _opposed(words, rows[number])
            at, other = held[number]
            if why and (why != "not" or _is_about_the_same(telling, rows[number])):
                yield Hint(POLARITY, why, piece.start, piece.end, at, other.start, other.end)


def _opposed(one: frozenset[str], other: frozenset[str]) -> str:
    """What one says and the other denies; empty when they agree, as far as words can tell."""
    for these, those in OPPOSITES:
        for first, second in ((one, other), (other, one)):
            if first & these and second & those and not (first & those or second & these):
                pair = sorted(one & (these | those)), sorted(other & (these | those))
                return f"{', '.join(pair[0])} against {', '.join(pair[1])}"
    return "not" if bool(one & NEGATIONS) != bool(other & NEGATIONS) else ""


def _is_about_the_same(telling: frozenset[str], row: frozenset[str]) -> bool:
    """A bare "not" counts only where nearly all else is the same: most sentences are about other things."""
    rest = row - NEGATIONS - STOP_WORDS
    return 3 * len(telling & rest) >= 2 * max(len(telling), len(rest))


def _numbers(
    text: str, said: Sequence[Piece], held: Sequence[tuple[int, Piece]], steps: Sequence[Mapping[str, Any]]
) -> Iterator[Hint]:
    """A field of a result that the answer names beside another number: "attempts: 3" where it read 2."""
    fields = _fields(held, steps)
    for piece in said:
        words = list(tokens_of(text, piece.start, piece.end))
        starts = {word.start: place for place, word in enumerate(words)}
        for atom in atoms_of(text, piece.start, piece.end):
            place = starts.get(atom.start) if atom.kind == "number" else None
            if place is not None:
                yield from _another(text, atom, words[max(0, place - LONGEST_NAME) : place], fields)


def _another(
    text: str, said: Atom, before: Sequence[Token], fields: Mapping[str, Sequence[tuple[int, Atom]]]
) -> Iterator[Hint]:
    for begin in range(len(before)):
        name = " ".join(token.word for token in before[begin:])
        known = fields.get(name, ())
        if known and not any(_is_same(said, atom) for _, atom in known):
            at, atom = known[-1]
            why = f"{name} {text[said.start : said.end]} against {_written(atom)}"
            yield Hint(NUMBER, why, before[begin].start, said.end, at, atom.start, atom.end)
            return


def _written(atom: Atom) -> str:
    number = atom.written
    return "another" if number is None else f"{number.numerator / number.denominator:g}"


def _fields(
    held: Sequence[tuple[int, Piece]], steps: Sequence[Mapping[str, Any]]
) -> Mapping[str, Sequence[tuple[int, Atom]]]:
    found: dict[str, list[tuple[int, Atom]]] = defaultdict(list)
    for at, piece in held:
        name = (piece.path or "").rpartition("/")[2]
        words = " ".join(words_of(name))
        if words and not words.isdecimal():
            atoms = list(atoms_of(steps[at]["content"], piece.start, piece.end, name))
            if len(atoms) == 1 and atoms[0].kind == "number":
                found[words].append((at, atoms[0]))
    return found


def _is_same(said: Atom, read: Atom) -> bool:
    # One of them may leave its unit out, and "about 28" stands for 28.1.
    if said.written is None or read.written is None:
        return True
    return said.number == read.number or abs(said.written - read.written) * 2 < max(said.step, read.step)
