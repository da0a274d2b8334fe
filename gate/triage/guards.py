"""Who may do what to a draft, and when. Each rule raises its sentence."""

from __future__ import annotations

from django.utils import timezone

from gate.errors import NotAllowed, Stale
from gate.people.models import Person
from gate.triage import closing, receipts
from gate.triage.models import Draft

OPEN = (Draft.Status.WAITING, Draft.Status.CLAIMED)


def check_is_open(draft: Draft) -> None:
    """Raises NotAllowed when the draft was decided."""
    if draft.status not in OPEN:
        raise NotAllowed(
            f"{draft.ref} was already {draft.get_status_display().lower()}; open the incident to see what came of it."
        )


def check_can_claim(person: Person, draft: Draft) -> None:
    """Raises NotAllowed when the person reviews nothing, or someone else is at it."""
    if not person.has_perm("gate.review_draft"):
        raise NotAllowed("Your role reviews no drafts; someone on call does.")
    check_is_open(draft)
    holder = claimant(draft)
    if holder and holder != person:
        raise NotAllowed(f"{holder} claimed {draft.ref} and has it until the lease ends; ask them, or wait.")


def check_can_review(person: Person, draft: Draft, seen_version: int) -> None:
    """Raises Stale when the draft changed since the person saw it, NotAllowed when the act is not theirs."""
    if draft.version != seen_version:
        raise Stale(
            f"{draft.ref} was decided while you were reading. Nothing of yours was recorded.",
            seen=seen_version, current=draft.version,
        )  # fmt: skip
    check_can_claim(person, draft)


def check_evidence(draft: Draft) -> None:
    """Raises NotAllowed when a pass has lost what it rests on, nothing vouches for it yet, or it is none by now."""
    found = receipts.shown(draft)
    if found.faults:
        raise NotAllowed(
            f"{draft.ref} is no pass any more. {found.faults[0]} Overrule it or send it back, and say what you know."
        )
    if found.waits:
        raise NotAllowed(f"Nothing is closed on a pass that is not sealed. {found.waits[0]} Agree once it is.")
    closing.check_still_earned(draft)


def claimant(draft: Draft) -> Person | None:
    """Who holds the draft now. A lease lapses silently."""
    if draft.claimed_by is None or draft.claimed_until is None or draft.claimed_until <= timezone.now():
        return None
    return draft.claimed_by
