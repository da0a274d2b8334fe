"""What may be asked of Stripe's API about a claim, so that the answer is about the claim and nothing less."""

from __future__ import annotations

from gate.triage.grammars.stripe_search import Clause
from gate.triage.readers.document import Answer, Unreadable
from gate.triage.readers.stripe_lists import CHOOSE_NOTHING, asked_query
from gate.triage.rules import claims
from gate.triage.rules.language import Case, Judgment, equal
from gate.triage.rules.subjects import the_only

EXPAND = frozenset(("expand",))
SEARCH, NOTES = "query", "metadata"


def asked_for_object(answer: Answer, names: tuple[str, ...], wanted: str) -> Judgment:
    """One object was asked for by its id, under one of the names that tools give that argument."""
    only = claims.asks_only(answer, frozenset(names) | EXPAND)
    if only.holds is not True:
        return only
    key = the_only(names, answer.args.keys(), "The object asked for")
    return equal(answer.args.text(key), wanted, f"another one than `{wanted}` was asked for.")


def asked_for_whole_list(answer: Answer, wanted: tuple[tuple[str, str], ...]) -> Judgment:
    """A list was asked for by nothing but these arguments, each with this value, at least one of them."""
    names = frozenset(name for name, _ in wanted)
    only = claims.asks_only(answer, names | CHOOSE_NOTHING)
    if only.holds is not True:
        return only
    used = [(name, value) for name, value in wanted if answer.args.has(name)]
    if len(used) < 1:
        return Judgment(False, "no id", "the list was not asked for by the thing that the claim is about.")
    for name, value in used:
        if answer.args.text(name) != value:
            return Judgment(False, answer.args.text(name), f"another one than `{value}` was asked for.")
    return Judgment(True, ", ".join(value for _, value in used), "")


def asked_by_note(answer: Answer, keys: tuple[str, ...], wanted: str) -> Judgment:
    """Everything that carries the shop's own note of the thing was asked for, and nothing narrower.

    Either as a search, or by an argument that is the note itself, alone or inside `metadata`.
    """
    only = claims.asks_only(answer, CHOOSE_NOTHING | frozenset((SEARCH, NOTES, *keys)))
    if only.holds is not True:
        return only
    for field, value in asked_notes(answer, keys):
        if field not in frozenset(keys):
            return Judgment(False, field, f"the question is narrowed by `{field}`.")
        if value != wanted:
            return Judgment(False, value, f"another one than `{wanted}` was asked for.")
    return Judgment(note_key(answer, keys) in frozenset(keys), wanted, "the question names nothing.")


def note_key(answer: Answer, keys: tuple[str, ...]) -> str:
    """The name of the note that was asked for. Raises Unreadable where it is not exactly one."""
    used = sorted(frozenset(field for field, _ in asked_notes(answer, keys)))
    if len(used) != 1:
        raise Unreadable("", "it was not asked for by one note of the shop.", f"{len(used)} notes")
    return used[0]


def asked_notes(answer: Answer, keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each note that was asked for, with its value, in all of the ways. Other clauses count as notes that are not."""
    clauses = asked_query(answer) if answer.args.has(SEARCH) else ()
    inside = sorted(answer.args.texts(NOTES).items()) if answer.args.has(NOTES) else []
    alone = [(key, answer.args.text(key)) for key in keys if answer.args.has(key)]
    return (*((name_of(clause), clause.value) for clause in clauses), *inside, *alone)


def name_of(clause: Clause) -> str:
    """A clause's note by its name; another field with a dot before it, which is the name of no note."""
    if clause.is_metadata is True:
        return clause.field
    return f".{clause.field}"


def check_every_id_differs(ids: tuple[str, ...]) -> None:
    """Raises Unreadable where one object stands in a list twice: then counting and adding up say nothing."""
    if len(frozenset(ids)) != len(ids):
        raise Unreadable("", "the same object stands in the list twice.", f"{len(ids)} listed")


def currency_is_the_claims(currency: str, case: Case) -> Judgment:
    """The claim's currency, where it names one."""
    if not claims.is_said(case, claims.CURRENCY):
        return Judgment(True, currency, "")
    wanted = claims.currency(case)
    return equal(currency, wanted, f"it is in {currency}, and the claim in {wanted}.")
