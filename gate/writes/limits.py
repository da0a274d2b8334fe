"""How much of people's attention writes may take: proposals of one proposer, approvals by one person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F, Q
from django.db.models.functions import Now

from audit.agents import Principal
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import targets
from gate.writes.errors import Duplicate
from gate.writes.models import CanaryAnswer, Decision, Edition, Preview, WriteRequest

HOUR = timedelta(hours=1)
Status = WriteRequest.Status
# While one of these asks for it, asking again only asks for a second look.
STILL_ASKED = (
    Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED, Status.APPROVED, Status.EXECUTING, Status.UNKNOWN,
)  # fmt: skip
LOCK_CLASS = 0x57  # one proposer's proposals take turns, so that two at once do not both take the last place
APPROVER_LOCK_CLASS = 0x58  # and one person's approvals


def check_proposal(write: WriteRequest, by_agent: Principal | None, by_person: Person | None) -> None:
    """Raises NotAllowed when its proposer proposed too much in an hour, Duplicate when they ask for the same already.

    MUST run in the transaction that saves the write.
    """
    _take_turns(by_agent, by_person)
    _check_rate(by_agent, by_person)
    twin = _own(by_agent, by_person).filter(_same(write), status__in=STILL_ASKED).exclude(pk=write.pk).first()
    if twin is not None:
        raise Duplicate(f"{twin.ref} asks for exactly this already; look there what it still needs.", twin)


def _same(write: WriteRequest) -> Q:
    # Under another version of its target it is another proposal: the earlier one is approved no more.
    return Q(target=write.target_id, statement=write.statement, parameters=write.parameters)


def _take_turns(by_agent: Principal | None, by_person: Person | None) -> None:
    who = -by_agent.agent_id if by_agent else by_person.pk if by_person else 0
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s, hashint8(%s))", [LOCK_CLASS, who])


def _own(by_agent: Principal | None, by_person: Person | None) -> Any:
    if by_agent is not None:
        return WriteRequest.objects.filter(proposed_by_agent_id=by_agent.agent_id)
    return WriteRequest.objects.filter(proposed_by_person=by_person)


def _check_rate(by_agent: Principal | None, by_person: Person | None) -> None:
    most, since = settings.PROPOSALS_PER_HOUR, Now() - HOUR
    edits = (
        Edition.objects.filter(edited_by_agent_id=by_agent.agent_id)
        if by_agent is not None
        else Edition.objects.filter(edited_by_person=by_person)
    )
    # An edit asks everybody to read again, so it counts as a proposal.
    asked = _own(by_agent, by_person).filter(proposed_at__gt=since).count() + edits.filter(edited_at__gt=since).count()
    if asked >= most:
        raise NotAllowed(
            f"{most:,} writes were proposed or edited here in an hour, and people read no more with care; wait a while."
        )


def check_no_twin(write: WriteRequest, seen: Preview | None) -> None:
    """Raises NotAllowed when its proposer asks for the same effect in other words already: one of the two is enough.

    Only a preview shows that; what two requests do over HTTP, it does not.
    """
    if seen is None or not seen.row_count or targets.of(write.target).action is not None:
        return
    earlier = Preview.objects.filter(
        write__pk__lt=write.pk, write__status__in=STILL_ASKED, write__target__name=write.target.name,
        write__table=write.table, write__proposed_by_agent=write.proposed_by_agent_id,
        write__proposed_by_person=write.proposed_by_person_id, edition=F("write__edition"),
        effect_digest=seen.effect_digest, error="",
    )  # fmt: skip
    if twin := earlier.order_by("write").first():
        raise NotAllowed(
            f"W-{twin.write_id}, of the same proposer, does exactly this already; decide about that one first."
        )


def take_turns_approving(person: Person) -> None:
    """Let one person's approvals come one after another, so that two at once do not both take the last place.

    MUST run in the transaction that saves the decision, before its rules are asked.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s, hashint8(%s))", [APPROVER_LOCK_CLASS, person.pk])


def check_may_approve_more(person: Person) -> None:
    """Raises NotAllowed when the person approved too much in an hour, or approved what was placed to be turned down."""
    pause = CanaryAnswer.objects.filter(by=person, is_caught=False, lifted_at=None).select_related("canary").first()
    if pause is not None:
        raise NotAllowed(
            f"You approved W-{pause.canary.write_id}, which was placed to be turned down. You approve nothing until an"
            " admin lifts the pause; what you see, you may still reject."
        )
    most = settings.APPROVALS_PER_HOUR
    approvals = (Decision.Act.APPROVE, Decision.Act.BREAK_GLASS)
    if Decision.objects.filter(by=person, act__in=approvals, at__gt=Now() - HOUR).count() >= most:
        raise NotAllowed(f"You approved {most:,} writes in an hour; leave the next ones to somebody who is fresh.")
