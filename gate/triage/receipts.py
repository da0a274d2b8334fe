"""A verdict's receipt held against the log each time that it is shown, and before it closes anything.

The verdict on record never changes. What is shown is a fail as soon as a pass has lost an entry that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from audit import receipts
from audit.reading import seq_of
from audit.receipts import Checked, Receipt
from gate.triage.models import Draft

WIDER = "More was grouped into the incident since, and nobody looked at that."
NOT_READ = "It has no receipt of what it was decided from."


@dataclass(frozen=True)
class Shown:
    """A verdict as it stands now: what is wrong with its evidence, and what of it still waits to be sealed."""

    outcome: str
    faults: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    checked: Mapping[int, Checked] = field(default_factory=dict)  # by the entries' numbers

    @property
    def is_lost(self) -> bool:
        """Whether a pass is none any more."""
        return bool(self.faults)


def of(draft: Draft) -> list[Receipt]:
    """The receipts of the entries that a verdict rests on. Raises ValueError when they cannot be read."""
    entries = draft.receipt.get("entries", {}) if isinstance(draft.receipt, dict) else {}
    return [Receipt.of_json({"seq": seq_of(ref), **kept, **draft.seals.get(ref, {})}) for ref, kept in entries.items()]


def shown(draft: Draft) -> Shown:
    """One verdict as it stands now, with everything held against the log."""
    return _shown([draft], receipts.recheck)[draft.pk]


def glanced(drafts: Iterable[Draft]) -> dict[int, Shown]:
    """Many verdicts as they stand now, in one query while all is well; large contents and proofs are left out."""
    return _shown(drafts, receipts.glance)


def _shown(drafts: Iterable[Draft], look: Callable[[Iterable[Receipt]], Mapping[Receipt, Checked]]) -> dict[int, Shown]:
    given = {draft.pk: (draft, _readable(draft)) for draft in drafts}
    checked = look(one for _, kept in given.values() for one in kept)
    return {pk: _one(draft, [checked[one] for one in kept]) for pk, (draft, kept) in given.items()}


def _is_wider(draft: Draft) -> bool:
    """Whether a pass was made for fewer subjects than are in the incident now."""
    incident = draft.investigation.incident
    subjects = draft.receipt.get("subjects") if isinstance(draft.receipt, dict) else None
    # A receipt that does not say was made for one.
    return incident.undelivered > 0 or 1 + len(incident.members) > (subjects if type(subjects) is int else 1)


def _readable(draft: Draft) -> list[Receipt]:
    """What a pass rests on. A fail rests on nothing that it could lose."""
    if draft.outcome != Draft.Outcome.PASS:
        return []
    try:
        return of(draft)
    except ValueError:
        return []


def _one(draft: Draft, checked: list[Checked]) -> Shown:
    if draft.outcome != Draft.Outcome.PASS:
        return Shown(draft.outcome)
    faults = tuple(one.fault for one in checked if one.fault) if checked else (NOT_READ,)
    faults = (*faults, WIDER) if _is_wider(draft) else faults
    waits = tuple(one.waits for one in checked if one.waits)
    by_number = {one.receipt.seq: one for one in checked}
    return Shown(Draft.Outcome.FAIL if faults else draft.outcome, faults, waits, by_number)
