"""Where a write can go from where it stands: the only way in which its status changes."""

from __future__ import annotations

from gate.writes.models import WriteRequest

Status = WriteRequest.Status

STOPPED = {Status.REJECTED, Status.CHANGES_REQUESTED, Status.WITHDRAWN, Status.EXPIRED}
MOVES: dict[Status, frozenset[Status]] = {
    # Whether it is blocked or waits, admission decides, through the database's own function: gate.writes.admitting.
    Status.PROPOSED: frozenset({Status.BLOCKED, Status.WAITING, Status.WITHDRAWN, Status.EXPIRED}),
    # Where another version of its policy came in force since, it is judged anew.
    Status.WAITING: frozenset({Status.PROPOSED, Status.APPROVED, *STOPPED}),
    Status.APPROVED: frozenset({Status.EXECUTING, Status.FAILED, *STOPPED}),
    Status.EXECUTING: frozenset({
        Status.EXECUTING, Status.EXECUTED, Status.REFUSED_STALE, Status.FAILED, Status.EXPIRED, Status.UNKNOWN,
    }),
    # People settle what the writer cannot find out; it is never run again then.
    Status.UNKNOWN: frozenset({Status.EXECUTING, Status.SETTLED_EXECUTED, Status.SETTLED_FAILED}),
    Status.SETTLED_EXECUTED: frozenset(),
    Status.SETTLED_FAILED: frozenset(),
    Status.BLOCKED: frozenset(),
    Status.EXECUTED: frozenset(),
    Status.REFUSED_STALE: frozenset(),
    Status.FAILED: frozenset(),
    Status.REJECTED: frozenset(),
    Status.WITHDRAWN: frozenset(),
    Status.EXPIRED: frozenset(),
    # An edit makes it wait again: see gate.writes.editing.
    Status.CHANGES_REQUESTED: frozenset({Status.WITHDRAWN, Status.EXPIRED}),
}  # fmt: skip


def take_back(write: WriteRequest) -> None:
    """Let a claimed write be executing again, to be moved on from there, whatever status somebody else gave it.

    The writer's own record decides what became of it; otherwise a changed status would hide that it ran.
    """
    write.status = Status.EXECUTING


def move(write: WriteRequest, to: Status) -> None:
    """Move a locked write on and count its version. Raises ValueError for a move that is not in the table."""
    if to not in MOVES[Status(write.status)]:
        raise ValueError(f"{write.ref} cannot go from {write.status} to {to}.")
    write.status, write.version = to, write.version + 1
    write.save(update_fields=["status", "version"])
