"""Whether enough people approved: the same proposal, the same effect, each of them on a seat of the policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gate.writes.models import Decision, Preview, WriteRequest
from gate.writes.policy import Policy

Act = Decision.Act
APPROVALS = (Act.APPROVE, Act.BREAK_GLASS)


def latest_preview(write: WriteRequest) -> Preview | None:
    """The preview that counts: the newest one of the newest edition."""
    return write.previews.filter(edition=write.edition).order_by("-pk").first()


def counted(write: WriteRequest, seen: Preview | None) -> list[Decision]:
    """The approvals of what is proposed and shown now, oldest first. Another edition or effect has its own."""
    if seen is None:
        return []
    given = write.decisions.filter(act__in=APPROVALS, edition=write.edition).select_related("by", "preview")
    return [one for one in given.order_by("at", "pk") if is_of(one, write, seen) and holds_its_seat(one)]


def holds_its_seat(decision: Decision) -> bool:
    """Whether who approved still works here, in the role in which they did: a person has one role, so one seat."""
    return decision.by.is_active and decision.by.role == decision.role


def is_of(decision: Decision, write: WriteRequest, seen: Preview) -> bool:
    """Whether a decision is about this proposal and this effect, by its own statement."""
    made = decision.statement
    return bool(made["proposal"] == write.proposal_digest and made["preview"] == seen.digest)


def open_seats(policy: Policy, approvals: Sequence[Decision]) -> Counter[str]:
    """The seats that are still to be filled, by role. A person fills one, whatever they approve again."""
    return policy.open_seats({one.by_id: one.role for one in approvals}.values())


def is_complete(policy: Policy, approvals: Sequence[Decision]) -> bool:
    """Whether the write may run: every seat is filled, or one person broke the glass where the policy lets them."""
    if policy.break_glass and any(one.act == Act.BREAK_GLASS for one in approvals):
        return True
    return bool(approvals) and not open_seats(policy, [one for one in approvals if one.act == Act.APPROVE])


def seats_in_words(seats: Counter[str]) -> str:
    """Seats inside a sentence: 2 on-call and 1 admin."""
    return " and ".join(f"{number} {role.replace('_', '-')}" for role, number in sorted(seats.items()))
