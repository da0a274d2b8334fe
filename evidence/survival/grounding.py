"""What each fact of an answer or of a write's parameters rests on: evidence, the question, a named derivation, nothing.

Only what is named here counts as derived: another unit, a rounding to the digits that the answer writes, a percentage
of two numbers that stand together, and a sum of at most five of a kind. Everything else is for a person to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from evidence.survival.atoms import Atom, atoms_of, is_counting
from evidence.survival.fields import EVIDENCE, sha256_of
from evidence.survival.known import Known, Operand, Source, rounded
from evidence.survival.pieces import pieces_of

SUPPORTED, DERIVED, QUESTION, UNSUPPORTED = "supported", "derived", "from the question", "unsupported"
ASKED = ("system", "user")
MOST_FACTS = 500  # of one answer
TOO_SHORT = "too short to tell"
SAYS_NOTHING = frozenset({"", "true", "false", "null", "t", "f"})
WORST = (SUPPORTED, QUESTION, DERIVED, UNSUPPORTED)


class Grounds(NamedTuple):
    """What a fact rests on, and how."""

    status: str
    how: str | None = None
    operands: tuple[Operand, ...] = ()


def ground(text: str, evidence: Sequence[Source], question: Sequence[Source] = ()) -> dict[str, Any]:
    """Each fact of the text with its status, what it rests on, and where both stand, in code points."""
    read, asked = Known(evidence), Known(question)
    found = list(islice(_facts_of(text), MOST_FACTS + 1))
    facts = [_shown(text, atom, grounds_of(atom, text, read, asked), read, asked) for atom in found[:MOST_FACTS]]
    return {
        "sha256": sha256_of(text),
        "facts": facts,
        "counts": _counts(facts),
        # What was too much to be looked at. A fact that rests on it is called unsupported for that alone.
        "cut_at": found[MOST_FACTS].start if len(found) > MOST_FACTS else None,
        "unread": [*read.unread, *asked.unread],
        "derivations_cut": read.derived.is_cut,
    }


def _facts_of(text: str) -> Iterator[Atom]:
    for piece in pieces_of(text):
        name = piece.path.rpartition("/")[2] if piece.path else None
        yield from (atom for atom in atoms_of(text, piece.start, piece.end, name) if not _is_ordinal(atom, text))


def ground_values(
    values: Sequence[str], evidence: Sequence[Source], question: Sequence[Source] = ()
) -> list[dict[str, Any]]:
    """Each argument of a write as one value: with its status, what it rests on, and which part of it stands nowhere.

    A whole value that a source says word for word is supported, whatever is in it; else each fact in it must be.
    """
    read, asked = Known(evidence), Known(question)
    return [_ground_value(value, read, asked) for value in values]


def _ground_value(value: str, read: Known, asked: Known) -> dict[str, Any]:
    plain = value.strip()
    if plain.lower() in SAYS_NOTHING:
        return {"status": TOO_SHORT, "how": None, "text": "", "rests_on": []}
    atoms = list(atoms_of(value))
    if len(atoms) == 1 and value[atoms[0].start : atoms[0].end] == plain:
        return _shown(value, atoms[0], grounds_of(atoms[0], value, read, asked), read, asked)
    for status, known in ((SUPPORTED, read), (QUESTION, asked)):
        told = known.verbatim(plain)
        if told is not None:
            return {"status": status, "how": None, "text": value, "rests_on": [_operand(told, known.sources)]}
    facts = [_shown(value, atom, grounds_of(atom, value, read, asked), read, asked) for atom in atoms[:MOST_FACTS]]
    # The worst of them speaks for all; words that hold no fact and stand nowhere are nobody's but the writer's.
    nowhere: dict[str, Any] = {"status": UNSUPPORTED, "how": None, "text": value, "rests_on": []}
    return max(facts, key=lambda fact: WORST.index(fact["status"]), default=nowhere)


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


def _is_ordinal(atom: Atom, text: str) -> bool:
    """A single digit on its own counts something off; it is no fact that could be looked for."""
    return atom.kind == "number" and atom.end - atom.start == 1 and text[atom.start].isdecimal() and not atom.dimension


def _told(atom: Atom, text: str, known: Known) -> Operand | None:
    exact = known.by_value.get(atom.value)
    if exact is not None and (atom.number is None or exact.atom.written == atom.written):
        return exact
    if atom.number is not None:
        return known.number(atom, is_counting(atom, text, 0, len(text)))
    return known.name(atom) or known.verbatim(text[atom.start : atom.end])


def _unit(atom: Atom, known: Known) -> tuple[Operand, ...]:
    found = known.by_amount.get((atom.number, atom.dimension))
    return () if found is None else (found,)


def _rounding(atom: Atom, known: Known) -> tuple[Operand, ...]:
    for operand in known.near(atom):
        held = operand.atom
        if held.number is not None and held.step < atom.step and rounded(held.number, atom.step) == atom.number:
            return (operand,)
    return ()


def _percent(atom: Atom, known: Known) -> tuple[Operand, ...]:
    if atom.dimension != "share" or atom.number is None:
        return ()
    for part, whole in known.derived.shares_near(float(atom.number), float(atom.step)):
        one, other = part.atom.number, whole.atom.number
        if one and other and rounded(one / other, atom.step) == atom.number:
            return part, whole
    return ()


def _sum(atom: Atom, known: Known) -> tuple[Operand, ...]:
    if atom.number is None:
        return ()
    # Money may come from a field that states no currency.
    dimensions = (atom.dimension, "") if atom.kind == "money" else (atom.dimension,)
    found = (known.derived.sums.get((atom.number, dimension)) for dimension in dimensions)
    return next((some for some in found if some), ())


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
