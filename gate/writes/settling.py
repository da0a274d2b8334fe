"""A write of which the writer cannot say whether it ran: people look at the target and say what they found.

It is never run again after that. What they say is theirs: it is shown as found by them, not as the writer's record.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.models import Outbox
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import guards, states, targets
from gate.writes.actions import locked, recorded_refusal
from gate.writes.models import Execution, Settlement, WriteRequest
from gate.writes.unknowns import EXECUTE

Status = WriteRequest.Status
Found = Settlement.Found
SETTLES = {Found.EXECUTED: Status.SETTLED_EXECUTED, Found.FAILED: Status.SETTLED_FAILED}
# By then whatever the writer's last session had open in the target has ended by itself: see session.PINNED.
QUIET = timedelta(minutes=1)


@transaction.atomic
def settle(write: WriteRequest, *, by: Person, found: str, reason: str, seen_version: int) -> WriteRequest:
    """Say what the target shows. The write is settled once as many people as it takes say the same.

    Raises Stale or NotAllowed.
    """
    write = locked(write)
    guards.check_version(write, seen_version)
    with recorded_refusal(by, write.ref, {"act": "settle", "found": found, "reason": reason}):
        check_can_settle(by, write)
    made = Settlement.objects.create(write=write, found=found, reason=reason, by=by, role=by.role)
    if agreed(write) is not None:
        states.move(write, SETTLES[Found(found)])
    else:
        write.version += 1
        write.save(update_fields=["version"])
    _record(write, made)
    return write


def check_can_settle(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed unless the write is nobody's but people's to find out about, and this is one of them."""
    guards.check_may_decide(person, write)
    guards.check_is_no_party(person, write, "settle")
    if write.status != Status.UNKNOWN:
        raise NotAllowed(f"{write.ref} is {guards.words(write)}, so there is nothing to settle.")
    if is_asked_about(write):
        raise NotAllowed(f"The writer still asks {write.target.name} by itself; it can be settled when that is over.")
    if person.pk in {one.by_id for one in counted(write)}:
        raise NotAllowed("You already said what the target shows; someone else must look as well.")


def is_asked_about(write: WriteRequest) -> bool:
    """Whether the writer has not given up on it, or only just has."""
    if Outbox.objects.filter(task=EXECUTE, subject_id=write.pk, done_at=None, gave_up_at=None).exists():
        return True
    return not Execution.objects.filter(write=write, finished_at__lte=timezone.now() - QUIET).exists()


def needed(write: WriteRequest) -> int:
    """How many people must find the same: two where more than one approved."""
    return min(2, targets.of(write.target).policy.number)


def counted(write: WriteRequest) -> list[Settlement]:
    """What people said who still have their seat, oldest first. When they differ, others look as well."""
    said = write.settlements.select_related("by").order_by("pk")
    return [one for one in said if one.by.is_active and one.by.role == one.role]


def agreed(write: WriteRequest) -> str | None:
    """What enough people found; None while they have not."""
    said = [one.found for one in counted(write)]
    return next((found for found in Found.values if said.count(found) >= needed(write)), None)


def _record(write: WriteRequest, made: Settlement) -> None:
    execution = Execution.objects.get(write=write)
    log.record_with(
        Kind.WRITE_SETTLED, made.by.actor(), subject=write.ref, summary=made.reason,
        incident_id=write.incident_id, run_id=str(write.investigation_id or ""),
        args={
            "found": made.found, "reason": made.reason, "status": write.status, "needed": needed(write),
            "ledger": str(execution.ledger_key), "attempt": execution.attempt, "noted": execution.noted,
            "proposal": write.proposal_digest,
        },
    )  # fmt: skip
