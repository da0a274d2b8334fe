"""Saying something about a write. A comment decides nothing, and voids nothing."""

from __future__ import annotations

from django.db import transaction

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes.actions import locked, recorded_refusal
from gate.writes.models import WriteComment, WriteRequest


def check_can_comment(person: Person) -> None:
    """Raises NotAllowed when the person's role says nothing about writes."""
    if not person.has_perm("gate.discuss_write"):
        raise NotAllowed("Your role comments on no writes; ask someone on call.")


def comment(write: WriteRequest, *, by: Person, text: str) -> WriteComment:
    """Comment on the edition that stands, whatever state it is in. Raises NotAllowed, which is recorded."""
    with recorded_refusal(by, write.ref, {"act": "comment", "text": text}):
        check_can_comment(by)
        return _comment(write, by, text)


@transaction.atomic
def _comment(write: WriteRequest, by: Person, text: str) -> WriteComment:
    write = locked(write)
    log.record_with(
        Kind.COMMENT_ADDED, by.actor(), subject=write.ref, incident_id=write.incident_id, summary=text,
        args={"edition": write.edition, "text": text},
    )  # fmt: skip
    return WriteComment.objects.create(write=write, by=by, edition=write.edition, text=text)
