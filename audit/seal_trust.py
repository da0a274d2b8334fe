"""Two of the four answers about an entry: whether it is sealed, and whether somebody outside holds the seal."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from audit import proofs, reading, sealing
from audit.heads import Head
from audit.models import Entry
from audit.sealing import SEALED_WITHIN
from audit.surroundings import Held, Surroundings
from audit.trust import Answer
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
    have = [one for one in beside.held if one.size > (beside.leaf or 0)]
    word = f"{len(have)} of {len(beside.held)}"
    if any(one.target == "witness" for one in have):
        return Answer("Witnessed", "ok", word, f"{_who_holds(have)}. The witness has signed it.")
    if have:
        sentence = (
            f"{_who_holds(have)}. No witness has signed one yet, so nobody outside has compared it with earlier ones."
        )
        return Answer("Witnessed", "open", word, sentence)
    return Answer("Witnessed", "open", "not yet", f"No checkpoint over it has arrived at {_names(beside.held)} yet.")


def _who_holds(have: Sequence[Held]) -> str:
    smallest = min(have, key=lambda one: one.size)
    since = max((one.at for one in have if one.at), default=None)
    when = f", last at {since:%H:%M:%S} UTC" if since else ""
    return f"Checkpoint {smallest.size:,} or a later one has arrived at {_names(have)}{when}"


def _names(places: Sequence[Held]) -> str:
    names = [NAMES.get(one.target, one.target) for one in places]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
