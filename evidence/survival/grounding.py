"""What each fact of an answer or of a write's parameters rests on: evidence, the question, a named derivation, nothing.

Only what is named here counts as derived: another unit, a rounding to the digits that the answer writes, a percentage
of two numbers that stand together, and a sum of at most five of a kind. Everything else is for a person to judge.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, NamedTuple

from evidence.survival.atoms import UNITS, Atom, atoms_of
from evidence.survival.fields import EVIDENCE, sha256_of
from evidence.survival.pieces import Piece, pieces_of

SUPPORTED, DERIVED, QUESTION, UNSUPPORTED = "supported", "derived", "from the question", "unsupported"
SUMMANDS = 5
TOGETHER = 8  # among more numbers of a kind, only neighbors are added up
SHORT_HASH = 7
ASKED = ("system", "user")
RATE = re.compile(r"\b(?:per|each|every|an?|in (?:the )?last) (second|minute|hour)\b")


class Source(NamedTuple):
    """A text that an answer may rest on; `ref` says which, for whoever shows it."""

    ref: str
    text: str


class Operand(NamedTuple):
    """A fact in a source, as a reason."""

    source: int
    atom: Atom


class Grounds(NamedTuple):
    """What a fact rests on, and how."""

    status: str
    how: str | None = None
    operands: tuple[Operand, ...] = ()


@dataclass
class Known:
    """The facts of some sources, and which of the numbers stand together."""

    sources: Sequence[Source]
    atoms: list[Operand] = field(default_factory=list)
    by_value: dict[str, Operand] = field(default_factory=dict)
    together: dict[tuple[int, str], list[Operand]] = field(default_factory=lambda: defaultdict(list))
    alike: dict[tuple[int, str, str], list[Operand]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, source in enumerate(self.sources):
            for piece in pieces_of(source.text):
                self._learn(number, source.text, piece)

    def _learn(self, number: int, text: str, piece: Piece) -> None:
        above, _, name = (piece.path or "").rpartition("/")
        place = above if piece.path else f"{piece.start}"
        for atom in atoms_of(text, piece.start, piece.end, name or None):
            operand = Operand(number, atom)
            self.atoms.append(operand)
            self.by_value.setdefault(atom.value, operand)
            if atom.number is not None:
                self.together[number, place].append(operand)
                self.atoms += _implied_rate(operand, text, piece)
                if name or atom.dimension:
                    self.alike[number, name, atom.dimension].append(operand)


def ground(text: str, evidence: Sequence[Source], question: Sequence[Source] = ()) -> dict[str, Any]:
    """Each fact of the text with its status, what it rests on, and where both stand, in code points."""
    read, asked = Known(evidence), Known(question)
    facts = []
    for piece in pieces_of(text):
        name = piece.path.rpartition("/")[2] if piece.path else None
        for atom in atoms_of(text, piece.start, piece.end, name):
            if not _is_ordinal(atom):
                facts.append(_shown(text, atom, grounds_of(atom, text, read, asked), read, asked))
    return {"sha256": sha256_of(text), "facts": facts, "counts": _counts(facts)}


def ground_answer(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The last answer of a trace, by the evidence and the question before it; None without an answer."""
    answers = [at for at, step in enumerate(steps) if step["type"] == "assistant"]
    if not answers:
        return None
    before = steps[: answers[-1]]
    evidence, question = (
        [Source(f"step {at}", step["content"]) for at, step in enumerate(before) if step["type"] in kinds]
        for kinds in (EVIDENCE, ASKED)
    )
    return ground(steps[answers[-1]]["content"], evidence, question)


def grounds_of(atom: Atom, text: str, read: Known, asked: Known) -> Grounds:
    """The first that holds: evidence says it, the question says it, it is derived as named above, or nothing."""
    told = _told(atom, text, read)
    if told:
        return Grounds(SUPPORTED, None, (told,))
    told = _told(atom, text, asked)
    if told:
        return Grounds(QUESTION, None, (told,))
    for how, find in (("unit", _unit), ("rounding", _rounding), ("percent", _percent), ("sum", _sum)):
        operands = find(atom, read) if atom.number is not None else ()
        if operands:
            return Grounds(DERIVED, how, operands)
    return Grounds(UNSUPPORTED)


def _implied_rate(operand: Operand, text: str, piece: Piece) -> list[Operand]:
    """ "2.1GB in the last minute" states 2.1GB per minute as well."""
    atom = operand.atom
    per = RATE.search(text, atom.end, piece.end)
    if per is None or not atom.dimension or atom.number is None:
        return []
    seconds = UNITS[per[1]][1]
    amount, step = atom.number / seconds, atom.step / seconds
    rate = atom._replace(number=amount, step=step, dimension=f"{atom.dimension}/time", value="")
    return [operand._replace(atom=rate)]


def _is_ordinal(atom: Atom) -> bool:
    """A single digit on its own counts something off; it is no fact that could be looked for."""
    return atom.kind == "number" and not atom.dimension and atom.written is not None and abs(atom.written) < 10


def _told(atom: Atom, text: str, known: Known) -> Operand | None:
    exact = known.by_value.get(atom.value)
    if exact is not None and (atom.number is None or exact.atom.written == atom.written):
        return exact
    said = next((operand for operand in known.atoms if _says(operand.atom, atom)), None)
    return said if said or atom.number is not None else _verbatim(text[atom.start : atom.end], known)


def _verbatim(name: str, known: Known) -> Operand | None:
    """A name that stands in a source as part of something longer, with nothing of a word beside it."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    for number, source in enumerate(known.sources):
        found = pattern.search(source.text)
        if found:
            return Operand(number, Atom("text", name.lower(), *found.span()))
    return None


def _says(held: Atom, asked: Atom) -> bool:
    """Whether one fact states another, though it is written more fully or without its unit."""
    if asked.number is not None or held.number is not None:
        return _says_number(held, asked)
    if {held.kind, asked.kind} == {"hash"}:
        short, full = sorted((held.value, asked.value), key=len)
        return len(short) >= SHORT_HASH and full.startswith(short)
    if asked.kind == "clock":
        return held.kind in ("moment", "clock") and held.value.rpartition(" ")[2].startswith(asked.value)
    if asked.kind == "moment":
        return held.kind == "moment" and held.value.startswith(asked.value)
    # A name may be written with less before it: pool.acquire for self.pool.acquire, /app.log for /srv/app.log.
    ends = asked.value if asked.kind == "path" else f".{asked.value}"
    return asked.kind in ("host", "id", "path") and held.value.endswith((ends, f"/{asked.value}"))


def _says_number(held: Atom, asked: Atom) -> bool:
    if held.number is None or asked.number is None or held.written != asked.written:
        return False
    # One of them may leave its unit out; two different units are never the same.
    same = held.number == asked.number and held.dimension == asked.dimension
    return same or not held.dimension or not asked.dimension


def _unit(atom: Atom, known: Known) -> tuple[Operand, ...]:
    found = (one for one in known.atoms if one.atom.number == atom.number and one.atom.dimension == atom.dimension)
    return tuple(found)[:1]


def _rounding(atom: Atom, known: Known) -> tuple[Operand, ...]:
    for operand in known.atoms:
        held = operand.atom
        if held.number is None or held.step >= atom.step or not _may_compare(held, atom):
            continue
        if _rounded(held.number, atom.step) == atom.number:
            return (operand,)
    return ()


def _percent(atom: Atom, known: Known) -> tuple[Operand, ...]:
    if atom.dimension != "share":
        return ()
    for operands in known.together.values():
        for part, whole in permutations(operands[: 2 * TOGETHER], 2):
            if _is_share(atom, part.atom, whole.atom):
                return part, whole
    return ()


def _is_share(atom: Atom, part: Atom, whole: Atom) -> bool:
    if not part.number or not whole.number or part.dimension != whole.dimension or part.dimension == "share":
        return False
    return part.number < whole.number and _rounded(part.number / whole.number, atom.step) == atom.number


def _sum(atom: Atom, known: Known) -> tuple[Operand, ...]:
    for operands in known.alike.values():
        if not _may_compare(operands[0].atom, atom):
            continue
        for some in _some(operands):
            if sum((one.atom.number or Fraction(0) for one in some), Fraction(0)) == atom.number:
                return some
    return ()


def _some(operands: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    for size in range(2, SUMMANDS + 1):
        if len(operands) <= TOGETHER:
            yield from combinations(operands, size)
        else:
            yield from (tuple(operands[at : at + size]) for at in range(len(operands) - size + 1))


def _may_compare(held: Atom, asked: Atom) -> bool:
    """Derived numbers keep their dimension; money may come from a field that states no currency."""
    return held.dimension == asked.dimension or (asked.kind == "money" and not held.dimension)


def _rounded(number: Fraction, step: Fraction) -> Fraction:
    """To the nearest multiple of the step, halves away from zero, as people round."""
    whole, rest = divmod(abs(number), step)
    nearest = (whole + (2 * rest >= step)) * step
    return nearest if number >= 0 else -nearest


def _shown(text: str, atom: Atom, grounds: Grounds, read: Known, asked: Known) -> dict[str, Any]:
    sources = asked.sources if grounds.status == QUESTION else read.sources
    return {
        "kind": atom.kind,
        "text": text[atom.start : atom.end],
        "start": atom.start,
        "end": atom.end,
        "status": grounds.status,
        "how": grounds.how,
        "rests_on": [_operand(operand, sources) for operand in grounds.operands],
    }


def _operand(operand: Operand, sources: Sequence[Source]) -> dict[str, Any]:
    source, (start, end) = sources[operand.source], (operand.atom.start, operand.atom.end)
    return {"ref": source.ref, "text": source.text[start:end], "start": start, "end": end}


def _counts(facts: Iterable[dict[str, Any]]) -> dict[str, int]:
    found = dict.fromkeys((SUPPORTED, DERIVED, QUESTION, UNSUPPORTED), 0)
    for fact in facts:
        found[fact["status"]] += 1
    return found
