"""What the writer believes: no status, but digests that it recomputes, and the person's act in the log."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models.functions import Now

from audit import alarm, reading, twohands
from audit.kinds import Kind
from audit.models import Agent, Definition, Entry
from gate.writes import digests, people, preview, targets
from gate.writes.errors import Unfit
from gate.writes.models import Decision, Preview, WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.screening import screened
from gate.writes.statement import Statement
from gate.writes.targets import WriteTarget


class NotApproved(Exception):
    """There is no approval that the writer may act on; the sentence says what is wrong."""


class Lapsed(NotApproved):
    """There was one, and its time is over."""


@dataclass(frozen=True)
class Approved:
    """A write with everything that was approved about it."""

    write: WriteRequest
    decision: Decision
    preview: Preview
    target: WriteTarget
    statement: Statement
    parameters: list[Parameter]


def decision_of(write: WriteRequest) -> Decision:
    """The approval of a write. Raises NotApproved when there is none with a preview."""
    found = Decision.objects.filter(write=write, act=Decision.Act.APPROVE).select_related("preview").first()
    if found is None or found.preview is None:
        raise NotApproved(f"{write.ref} has no approval on record.")
    return found


def verified(write: WriteRequest) -> Approved:
    """The write with its approval, each part checked against the others. Raises NotApproved, or Lapsed."""
    check_log_verifies()
    decision = decision_of(write)
    assert decision.preview is not None  # decision_of sees to it
    _check_target(write.target)
    _check_proposal(write)
    _check_preview(write, decision.preview)
    _check_statement(write, decision)
    _check_approver(write, decision)
    _check_nobody_stopped(write)
    _check_log(write, decision)
    _check_time(write, decision)
    statement, given = _screened(write)
    return Approved(write, decision, decision.preview, targets.of(write.target), statement, given)


def check_log_verifies() -> None:
    """Raises NotApproved while the log does not verify: an approval in it proves nothing then."""
    if why := alarm.why_off():
        raise NotApproved(why)


def _check_target(definition: Definition) -> None:
    if twohands.digest_of("target", definition.name, definition.body) != definition.digest:
        raise NotApproved(f"Version {definition.version} of {definition.name} was changed after it was put in force.")
    now = twohands.active("target", definition.name)
    if now is None or now.pk != definition.pk:
        raise NotApproved(f"Another version of {definition.name} is in force than the one that was approved.")


def _check_proposal(write: WriteRequest) -> None:
    if digests.of_proposal(write) != write.proposal_digest:
        raise NotApproved(f"{write.ref} was changed after it was proposed.")


def _check_preview(write: WriteRequest, seen: Preview) -> None:
    is_of_this = seen.write_id == write.pk and not seen.error
    is_whole = digests.of_effect(seen.rows, seen.volatile) == seen.effect_digest and len(seen.rows) == seen.row_count
    if not is_of_this or not is_whole or preview.digest(write, seen) != seen.digest:
        raise NotApproved(f"The preview of {write.ref} is not the one that was made.")


def _check_statement(write: WriteRequest, decision: Decision) -> None:
    made = decision.statement
    expected = digests.approval_statement(
        decision, approver=str(made.get("approver", "")), nonce=str(made.get("nonce", ""))
    )
    if made != expected or digests.of_approval(expected) != decision.digest:
        raise NotApproved(f"The approval of {write.ref} does not say what the write and its preview say.")


def _check_approver(write: WriteRequest, decision: Decision) -> None:
    person = people.approver(decision.by_id)
    if person is None or not person.may_decide or person.username != decision.statement["approver"]:
        raise NotApproved("The person who approved decides about no writes now.")
    agent = Agent.objects.filter(pk=write.proposed_by_agent_id).first() if write.proposed_by_agent_id else None
    if decision.by_id in {write.proposed_by_person_id, agent.owner_id if agent else None}:
        raise NotApproved(f"{person.name} proposed {write.ref} or owns the agent that did; someone else must approve.")


def _check_nobody_stopped(write: WriteRequest) -> None:
    # A status may be set back; a decision stays.
    if Decision.objects.filter(write=write).exclude(act=Decision.Act.APPROVE).exists():
        raise NotApproved(f"Someone stopped {write.ref} after it was approved.")


def _check_log(write: WriteRequest, decision: Decision) -> None:
    contents = reading.contents_of(Entry.objects.filter(kind=Kind.WRITE_APPROVED, subject=write.ref))
    recorded = [content.args for content in contents.values() if content.is_readable]
    if not any(isinstance(args, dict) and args.get("digest") == decision.digest for args in recorded):
        raise NotApproved(f"The log has no intact entry of the approval of {write.ref}.")


def _check_time(write: WriteRequest, decision: Decision) -> None:
    # By the clock of the database: a process may have a wrong one.
    is_open = WriteRequest.objects.filter(pk=write.pk, expires_at__gt=Now()).exists()
    if not is_open or not Decision.objects.filter(pk=decision.pk, expires_at__gt=Now()).exists():
        raise Lapsed(f"The approval of {write.ref} came to its end before the writer could act on it.")


def _screened(write: WriteRequest) -> tuple[Statement, list[Parameter]]:
    try:
        return screened(write)
    except Unfit as reason:
        raise NotApproved(f"{write.ref} holds what cannot be proposed: {reason}") from reason
