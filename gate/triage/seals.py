"""Adding to each verdict's receipt where its entries stand in the sealed tree, once their checkpoint has come."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from audit import receipts as audit_receipts
from audit.health_resting import Resting
from audit.receipts import Receipt
from gate.triage import receipts
from gate.triage.models import Draft

MOST_AT_ONCE = 200
MOST_COUNTED = 10_000


def note() -> None:
    """Look for what was sealed since. The newest verdicts come first: an old one may wait for what never comes."""
    drafts = list(Draft.objects.filter(is_sealed=False).order_by("-pk")[:MOST_AT_ONCE])
    given = {draft.pk: _receipts(draft) for draft in drafts}
    checked = audit_receipts.recheck(one for kept in given.values() for one in kept)
    for draft in drafts:
        sealed = [found.receipt for one in given[draft.pk] if (found := checked[one]).is_sealed]
        _add(draft, {one.ref: {"leaf": one.leaf, "size": one.size} for one in sealed}, len(given[draft.pk]))


def resting() -> Resting:
    """Of how many verdicts, among the newest, the whole evidence was proven sealed."""
    newest = Draft.objects.order_by("-pk")[:MOST_COUNTED]
    found = newest.aggregate(count=Count("pk"), proven=Count("pk", filter=Q(is_sealed=True)))
    sentence = "the evidence of each was proven sealed, and is checked again whenever it is shown"
    return Resting("Verdict receipts", sentence, found["count"], found["proven"])


def _receipts(draft: Draft) -> list[Receipt]:
    try:
        return receipts.of(draft)
    except ValueError:
        return []


def _add(draft: Draft, seals: dict[str, Any], wanted: int) -> None:
    # What was seen once stays, whatever has become of the entry.
    seals = {**seals, **draft.seals}
    is_sealed = len(seals) == wanted
    if seals != draft.seals or is_sealed:
        Draft.objects.filter(pk=draft.pk).update(seals=seals, is_sealed=is_sealed)
