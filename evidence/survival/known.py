"""The facts of some sources, so arranged that whatever an answer says is looked up and never searched for.

An answer may hold hundreds of facts and its evidence a hundred thousand: comparing each with each would take minutes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from evidence.survival.atoms import UNITS, Atom, atoms_of, is_counting
from evidence.survival.derived import Derived
from evidence.survival.pieces import MOST as MOST_PIECES
from evidence.survival.pieces import Piece, pieces_of

MOST = 100_000  # facts of all sources together
SHORT_HASH = 7
CLOSE = 1e-9  # of a number's size: what floats blur, fractions decide afterwards
RATE = re.compile(r"\b(?:per|each|every|an?|in (?:the )?last) (second|minute|hour)\b")
NAMES = ("host", "id", "path")
# What makes a name part of a longer one: web is not in web-2, and 12:01 is not in 09:12:01.
GLUED_BEFORE = re.compile(r"(?:[^\W_]|[^\W_][-_]|\d:)$")
GLUED_AFTER = re.compile(r"[^\W_]|[-_.][^\W_]")


class Source(NamedTuple):
    """A text that an answer may rest on; `ref` says which, for whoever shows it."""

    ref: str
    text: str


class Operand(NamedTuple):
    """A fact in a source, as a reason."""

    source: int
    atom: Atom
    is_counting: bool = False  # it says in words what it counts, so that it is of no unit


class Known:
    """The facts of some sources. Of facts that say the same, the first counts."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.unread: list[str] = []  # the sources that were too long, by their refs
        self.by_value: dict[str, Operand] = {}
        self.by_amount: dict[tuple[Fraction | None, str], Operand] = {}
        self._by_written: dict[Fraction | None, dict[tuple[Fraction | None, str], Operand]] = defaultdict(dict)
        self._numbers: list[Operand] = []
        self._together: dict[tuple[int, str], list[Operand]] = defaultdict(list)
        self._alike: dict[tuple[int, str, str], list[Operand]] = defaultdict(list)
        self._verbatim: dict[str, Operand | None] = {}
        self._left = MOST
        for number, source in enumerate(sources):
            self._learn_all(number, source)

    def number(self, asked: Atom, is_counting: bool) -> Operand | None:
        """The number that a source states so, or without its unit, or that the answer gives without it.

        Two different units are never the same, and what is counted in words is of none.
        """
        for held in self._by_written.get(asked.written, {}).values():
            same = held.atom.number == asked.number and held.atom.dimension == asked.dimension
            is_left_out = _is_bare(held.atom, held.is_counting) != _is_bare(asked, is_counting)
            if same or (is_left_out and bool(held.atom.dimension) != bool(asked.dimension)):
                return held
        return None

    def name(self, asked: Atom) -> Operand | None:
        """A name that a source writes more fully: a whole moment for its time, a long hash for its beginning."""
        if asked.kind == "hash":
            return self._hash(asked.value)
        if asked.kind == "clock":
            return self._beginning(self._times, asked.value)
        if asked.kind == "moment":
            return self._beginning(self._moments, asked.value)
        if asked.kind not in NAMES:
            return None
        # pool.acquire for self.pool.acquire, /app.log for /srv/app.log
        ends = ("", "/") if asked.kind == "path" else (".", "/")
        found = (self._beginning(self._reversed, asked.value[::-1] + end) for end in ends)
        return next((held for held in found if held is not None), None)

    def verbatim(self, name: str) -> Operand | None:
        """A name that stands in a source on its own, or as the end of what is written with points."""
        folded = name.lower()
        if folded not in self._verbatim:
            self._verbatim[folded] = self._standing(folded)
        return self._verbatim[folded]

    def near(self, asked: Atom) -> Iterator[Operand]:
        """The numbers that could be rounded to one, in its dimension; money may stand without a currency."""
        assert asked.number is not None  # who asks has looked
        amount, step = float(asked.number), float(asked.step)
        blur = abs(amount) * CLOSE
        for dimension in dict.fromkeys((asked.dimension, "") if asked.kind == "money" else (asked.dimension,)):
            amounts, operands = self._sorted.get(dimension, ((), ()))
            begin = bisect_left(amounts, amount - step / 2 - blur)
            found = operands[begin : bisect_right(amounts, amount + step / 2 + blur)]
            yield from (one for one in found if dimension == asked.dimension or not one.is_counting)

    @cached_property
    def derived(self) -> Derived:
        """What percentages and sums its numbers make."""
        return Derived(self._together, self._alike)

    def _learn_all(self, number: int, source: Source) -> None:
        pieces = pieces_of(source.text)
        for piece in pieces:
            if self._left > 0:
                self._learn(number, source.text, piece)
        if pieces and (self._left <= 0 or len(pieces) >= MOST_PIECES):
            self.unread.append(source.ref)

    def _learn(self, number: int, text: str, piece: Piece) -> None:
        above, _, name = (piece.path or "").rpartition("/")
        place = above if piece.path else f"{piece.start}"
        for atom in atoms_of(text, piece.start, piece.end, name or None):
            self._left -= 1
            operand = Operand(number, atom, is_counting(atom, text, piece.start, piece.end))
            self.by_value.setdefault(atom.value, operand)
            if atom.number is not None:
                self._learn_number(operand, place, name)
                self._learn_rate(operand, text, piece)

    def _learn_number(self, operand: Operand, place: str, name: str) -> None:
        atom = operand.atom
        self._numbers.append(operand)
        self.by_amount.setdefault((atom.number, atom.dimension), operand)
        self._by_written[atom.written].setdefault((atom.number, atom.dimension), operand)
        self._together[operand.source, place].append(operand)
        if name or atom.dimension:
            self._alike[operand.source, name, atom.dimension].append(operand)

    def _learn_rate(self, operand: Operand, text: str, piece: Piece) -> None:
        """ "2.1GB in the last minute" states 2.1GB per minute as well."""
        atom = operand.atom
        per = RATE.search(text, atom.end, piece.end) if atom.dimension else None
        if per is None or atom.number is None:
            return
        seconds = UNITS[per[1]][1]
        amount, step, dimension = atom.number / seconds, atom.step / seconds, f"{atom.dimension}/time"
        rate = operand._replace(atom=atom._replace(number=amount, step=step, dimension=dimension, value=""))
        self._numbers.append(rate)
        self.by_amount.setdefault((amount, dimension), rate)
        self._by_written[atom.written].setdefault((amount, dimension), rate)

    @cached_property
    def _sorted(self) -> dict[str, tuple[list[float], list[Operand]]]:
        distinct: dict[str, dict[tuple[Fraction, Fraction], Operand]] = defaultdict(dict)
        for operand in self._numbers:
            atom = operand.atom
            assert atom.number is not None  # only those are kept
            distinct[atom.dimension].setdefault((atom.number, atom.step), operand)
        found = {}
        for dimension, operands in distinct.items():
            order = sorted(((float(number), at) for at, (number, _) in enumerate(operands)))
            held = list(operands.values())
            found[dimension] = [amount for amount, _ in order], [held[at] for _, at in order]
        return found

    def _of_kind(self, *kinds: str) -> Iterator[tuple[str, Operand]]:
        return ((value, held) for value, held in self.by_value.items() if held.atom.kind in kinds)

    @cached_property
    def _times(self) -> list[tuple[str, Operand]]:
        """Each moment and time of day by its time."""
        return _in_order((value.rpartition(" ")[2], held) for value, held in self._of_kind("moment", "clock"))

    @cached_property
    def _moments(self) -> list[tuple[str, Operand]]:
        return _in_order(self._of_kind("moment"))

    @cached_property
    def _hashes(self) -> list[tuple[str, Operand]]:
        return _in_order(self._of_kind("hash"))

    @cached_property
    def _reversed(self) -> list[tuple[str, Operand]]:
        """Names by their ends."""
        return _in_order((value[::-1], held) for value, held in self.by_value.items() if held.atom.number is None)

    @cached_property
    def _folded(self) -> list[str]:
        """The sources in lower case, sign by sign, so that places stay what they are."""
        return [
            folded
            if len(folded := source.text.lower()) == len(source.text)
            else "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in source.text)
            for source in self.sources
        ]

    def _standing(self, folded: str) -> Operand | None:
        for number, text in enumerate(self._folded):
            at = text.find(folded)
            while at >= 0:
                end = at + len(folded)
                if not (GLUED_BEFORE.search(text, max(0, at - 2), at) or GLUED_AFTER.match(text, end)):
                    return Operand(number, Atom("text", folded, at, end))
                at = text.find(folded, at + 1)
        return None

    def _hash(self, value: str) -> Operand | None:
        longer = self._beginning(self._hashes, value) if len(value) >= SHORT_HASH else None
        beginnings = (self.by_value.get(value[:length]) for length in range(len(value), SHORT_HASH - 1, -1))
        return longer or next((held for held in beginnings if held is not None and held.atom.kind == "hash"), None)

    @staticmethod
    def _beginning(order: Sequence[tuple[str, Operand]], asked: str) -> Operand | None:
        at = bisect_left(order, asked, key=_key)
        return order[at][1] if at < len(order) and order[at][0].startswith(asked) else None


def _is_bare(atom: Atom, is_counting: bool) -> bool:
    """Whether a number stands alone, and may be of any unit."""
    return not atom.dimension and not is_counting and atom.number == atom.written


def rounded(number: Fraction, step: Fraction) -> Fraction:
    """To the nearest multiple of the step, halves away from zero, as people round."""
    whole, rest = divmod(abs(number), step)
    nearest = (whole + (2 * rest >= step)) * step
    return nearest if number >= 0 else -nearest


def _key(pair: tuple[str, Operand]) -> str:
    return pair[0]


def _in_order(pairs: Iterator[tuple[str, Operand]]) -> list[tuple[str, Operand]]:
    return sorted(pairs, key=_key)
