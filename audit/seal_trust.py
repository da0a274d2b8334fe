"""Two of the four answers about an entry: whether it is sealed, and whether somebody outside holds the seal."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils import timezone

from audit import cosignatures, proofs, reading, sealing
from audit.cosignatures import WitnessKey
from audit.heads import Head
from audit.models import Entry
from audit.sealing import SEALED_WITHIN
from audit.surroundings import Held, Surroundings
from audit.trust import Answer
from audit.verify import note as notes
from audit.verify.tree import root_of_proof

NAMES = {"file": "the file", "webhook": "the webhook", "witness": "the witness"}


def sealed_answer(entry: Entry, beside: Surroundings, head: Head | None) -> Answer:
    """Whether the entry stands in the tree under the newest checkpoint, proven now."""
    if beside.leaf is None:
        return _unsealed(entry)
    fault = _fault(entry, beside.leaf, beside.leaf_hash, head)
    if fault or head is None:
        return Answer("Sealed", "bad", "not proven", fault)
    sentence = f"Its proof leads to the root of checkpoint {head.size:,}, which is signed. Checked now."
    return Answer("Sealed", "ok", f"leaf {beside.leaf:,}", sentence)


def _unsealed(entry: Entry) -> Answer:
    if timezone.now() - entry.at <= SEALED_WITHIN:
        return Answer("Sealed", "open", "not yet", "It is sealed with the next checkpoint, in about a second.")
    seal = sealing.status()
    if seal.is_well:
        return Answer("Sealed", "bad", "passed over", "The sealer is at work and has not sealed it.")
    return Answer("Sealed", "open", "not yet", f"It is not sealed yet. {seal.sentence}")


def _fault(entry: Entry, leaf: int, stored: bytes, head: Head | None) -> str:
    """What is wrong with an entry's place in the tree, as a sentence; empty when nothing is."""
    if reading.leaf_of(entry) != stored:
        return f"It does not give leaf {leaf:,}, which was made from it."
    if head is None or leaf >= head.size:
        return f"It is leaf {leaf:,}, and no checkpoint is that long."
    if head.fault:
        return f"{head.fault[0].upper()}{head.fault[1:]}"
    try:
        path = proofs.inclusion(leaf, head.size)
    except proofs.TreeBroken as broken:
        return str(broken)
    is_proven = root_of_proof(leaf, head.size, stored, path) == head.root
    return "" if is_proven else f"No proof leads from it to the root of checkpoint {head.size:,}."


def witnessed_answer(beside: Surroundings) -> Answer:
    """Whether a checkpoint over the entry is held outside, where nobody inside can take it back."""
    contradicting = next((one for one in beside.held if one.state == "refused"), None)
    if contradicting is not None:
        return Answer("Witnessed", "bad", "contradicted", contradicting.sentence)
    if not beside.held:
        sentence = "No checkpoint leaves this installation. Set a file, a webhook or a witness to send them to."
        return Answer("Witnessed", "open", "by nobody", sentence)
    if beside.leaf is None:
        return Answer("Witnessed", "open", "not yet", "It has to be sealed first.")
    leaf = beside.leaf
    have = [one for one in beside.held if one.size > leaf]
    if not have:
        sentence = f"No checkpoint over it has arrived at {_names(beside.held)} yet."
        return Answer("Witnessed", "open", "not yet", sentence)
    word, arrived = f"{len(have)} of {len(beside.held)}", f"{_who_holds(have)}."
    signed = next((one for one in have if one.target == "witness"), None)
    if signed is None:
        sentence = f"{arrived} No witness has signed one yet, so nobody outside has compared it with earlier ones."
        return Answer("Witnessed", "open", word, sentence)
    return _cosigned(beside, leaf, signed, word, arrived)


def _cosigned(beside: Surroundings, leaf: int, signed: Held, word: str, arrived: str) -> Answer:
    """What the witness's own signature says: the row that tells of it is the database's, and the signature is not."""
    try:
        key = cosignatures.read_key(settings.WITNESS_KEY) if settings.WITNESS_KEY else None
    except (ValueError, OSError) as problem:
        return Answer("Witnessed", "open", word, f"{arrived} The witness's key cannot be read here: {problem}")
    if key is None:
        sentence = f"{arrived} This process was told of no key of the witness, so what it signed is not checked here."
        return Answer("Witnessed", "open", word, sentence)
    fault = _cosignature_fault(beside, leaf, signed, key)
    if fault:
        return Answer("Witnessed", "bad", "not proven", fault)
    return Answer("Witnessed", "ok", word, f"{arrived} The witness has signed it, checked now.")


def _cosignature_fault(beside: Surroundings, leaf: int, signed: Held, key: WitnessKey) -> str:
    """Why what is kept of the witness's signature does not vouch for the entry, as a sentence; empty when it does."""
    try:
        note = notes.parse(signed.note)
    except notes.Unreadable as problem:
        return f"What is kept of the witness's checkpoint cannot be read. {problem}"
    if note.size != signed.size or cosignatures.found(key, note.text, signed.note) is None:
        return f"What is kept of checkpoint {signed.size:,} is not signed by the witness."
    if beside.head is not None and (note.size, note.root) == (beside.head.size, beside.head.root):
        return ""  # the entry was proven to be under it
    try:
        path = proofs.inclusion(leaf, note.size)
    except proofs.TreeBroken as broken:
        return str(broken)
    if root_of_proof(leaf, note.size, beside.leaf_hash, path) != note.root:
        return f"No proof leads from it to the root of checkpoint {note.size:,}, which the witness has signed."
    return ""


def _who_holds(have: Sequence[Held]) -> str:
    smallest = min(have, key=lambda one: one.size)
    since = max((one.at for one in have if one.at), default=None)
    when = f", last at {since:%H:%M:%S} UTC" if since else ""
    return f"Checkpoint {smallest.size:,} or a later one has arrived at {_names(have)}{when}"


def _names(places: Sequence[Held]) -> str:
    names = [NAMES.get(one.target, one.target) for one in places]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
