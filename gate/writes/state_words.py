"""How a write stands, as people read it: in lists, on its page, and in the sentence after a decision."""

from __future__ import annotations

from dataclasses import dataclass

from gate.writes import guards, quorum, targets
from gate.writes.models import Decision, WriteRequest

Status = WriteRequest.Status

STATES = {
    Status.PROPOSED: ("●", "state--wait", "Being checked"),
    Status.BLOCKED: ("✕", "state--bad", "Blocked by admission"),
    Status.WAITING: ("◌", "state--wait", "Waits for an approval"),
    Status.APPROVED: ("✓", "state--ok", "Approved, not run yet"),
    Status.EXECUTING: ("●", "state--wait", "Executing"),
    Status.EXECUTED: ("✓", "state--ok", "Executed"),
    Status.REFUSED_STALE: ("✕", "state--bad", "Refused as stale"),
    Status.FAILED: ("✕", "state--bad", "Failed"),
    Status.UNKNOWN: ("?", "state--wait", "Not known if it ran"),
    Status.REJECTED: ("✕", "state--bad", "Rejected"),
    Status.WITHDRAWN: ("–", "", "Withdrawn"),
    Status.EXPIRED: ("–", "", "Expired"),
    Status.CHANGES_REQUESTED: ("↻", "state--wait", "Changes requested"),
    Status.SETTLED_EXECUTED: ("✓", "", "Executed, as people found"),
    Status.SETTLED_FAILED: ("✕", "", "Not executed, as people found"),
}


@dataclass(frozen=True)
class State:
    """A status as people read it: glyph, color, words."""

    glyph: str
    css: str
    words: str


def state_of(write: WriteRequest) -> State:
    """The state of a write."""
    return State(*STATES[Status(write.status)])


def of_quorum(given: int, needed: int) -> State:
    """How far a write that waits has come: ◌ Waits for 2 approvals, then ◐ 1 of 2 approved."""
    if given:
        return State("◐", "state--wait", f"{given} of {needed} approved")
    glyph, css, words = STATES[Status.WAITING]
    return State(glyph, css, words if needed == 1 else f"Waits for {needed} approvals")


def told(decided: Decision) -> str:
    """What became of the write by a decision, in a sentence."""
    write = decided.write
    if decided.act in quorum.APPROVALS and write.status == Status.WAITING:
        policy = targets.of(write.target).policy
        left = quorum.seats_in_words(quorum.open_seats(policy, quorum.counted(write, decided.preview)))
        return f"{write.ref}: your approval is recorded; it still needs {left}."
    return f"{write.ref}: {guards.words(write)}."
