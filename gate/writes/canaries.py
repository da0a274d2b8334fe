"""Canaries: bad proposals that an operator plans, to see whether people read what they approve.

A canary looks like any other write until somebody decides about it. It can never run: its target is one whose
credential the writer does not hold, the writer shows its planned effect only then, and an approval moves nothing on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import actions, digests, quorum, states, targets
from gate.writes.errors import Unfit
from gate.writes.models import Canary, CanaryAnswer, Decision, WriteRequest


def planned(write: WriteRequest) -> dict[str, Any] | None:
    """What a canary's preview shows; None for a write that is none. For the writer.

    Raises Unfit where the writer holds the target's credential: then it could run, and is no canary.
    """
    plan = Canary.objects.filter(write=write).values_list("plan", flat=True).first()
    if plan is None:
        return None
    if os.environ.get(targets.of(write.target).credential_env):
        raise Unfit(f"{write.ref} cannot be previewed against {write.target.name}; tell your operator.")
    return {**plan, "effect_digest": digests.of_effect(plan["rows"], [])}


def answer(decision: Decision) -> bool:
    """Note what was decided about a canary. True when it was approved: then the write is over, and nothing runs.

    MUST run in the transaction of the decision, on its locked write, before the write moves on.
    """
    canary = Canary.objects.filter(write=decision.write).first()
    if canary is None:
        return False
    is_caught = decision.act not in quorum.APPROVALS
    CanaryAnswer.objects.create(canary=canary, decision=decision, by=decision.by, is_caught=is_caught)
    log.record_with(
        Kind.CANARY_CAUGHT if is_caught else Kind.CANARY_APPROVED, decision.by.actor(), subject=decision.write.ref,
        status="ok" if is_caught else "failed", summary=canary.flaw,
        args={"decision": decision.digest, "flaw": canary.flaw, "placed_by": canary.placed_by},
    )  # fmt: skip
    if not is_caught:
        states.move(decision.write, WriteRequest.Status.WITHDRAWN)
    return not is_caught


@dataclass(frozen=True)
class Score:
    """What one approver did with the canaries they decided about."""

    person: Person
    caught: int
    approved: int
    pause: CanaryAnswer | None


def scores() -> list[Score]:
    """A score for each approver who met a canary, by name."""
    answers = CanaryAnswer.objects.select_related("by", "canary__write", "lifted_by").order_by("by__username", "pk")
    kept: dict[Person, list[CanaryAnswer]] = {}
    for one in answers:
        kept.setdefault(one.by, []).append(one)
    return [_score(person, given) for person, given in kept.items()]


def _score(person: Person, given: list[CanaryAnswer]) -> Score:
    caught = sum(one.is_caught for one in given)
    pause = next((one for one in given if not one.is_caught and one.lifted_at is None), None)
    return Score(person, caught, len(given) - caught, pause)


def check_can_lift(person: Person, paused: CanaryAnswer) -> None:
    """Raises NotAllowed unless an admin lifts a pause of somebody else."""
    if not person.has_perm("gate.lift_pause"):
        raise NotAllowed("Your role lifts no pauses; an admin does.")
    if paused.by_id == person.pk:
        raise NotAllowed("It is your own pause, so another admin lifts it.")
    if paused.is_caught or paused.lifted_at is not None:
        raise NotAllowed(f"{paused.by} is not paused by this one any more.")


def lift(paused: CanaryAnswer, *, by: Person, reason: str) -> None:
    """Let an approver approve again. Raises NotAllowed, which is recorded."""
    with actions.recorded_refusal(by, paused.by.username, {"act": "lift", "reason": reason}):
        _lift(paused.pk, by, reason)


@transaction.atomic
def _lift(pk: int, by: Person, reason: str) -> None:
    paused = CanaryAnswer.objects.select_for_update(of=("self",)).select_related("by", "decision__write").get(pk=pk)
    check_can_lift(by, paused)
    paused.lifted_by, paused.lifted_at, paused.why_lifted = by, timezone.now(), reason
    paused.save(update_fields=["lifted_by", "lifted_at", "why_lifted"])
    log.record_with(
        Kind.CANARY_PAUSE_LIFTED, by.actor(), subject=paused.by.username, summary=reason,
        args={"write": paused.decision.write.ref, "reason": reason},
    )  # fmt: skip
