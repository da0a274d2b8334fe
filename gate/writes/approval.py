"""What the writer believes: no status, but digests that it recomputes, a signature of a key that it pinned itself, and
the person's act in the log; of a password the sealed log alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta

from django.db.models.functions import Now

from audit import alarm, reading, twohands, vouching
from audit.kinds import Kind
from audit.models import Agent, Definition, Entry
from gate.errors import NotAllowed
from gate.people.key_assertions import BadAssertion
from gate.writes import (
    admission,
    assertions,
    digests,
    floor,
    http_statement,
    people,
    preview,
    quorum,
    recorded,
    sealed,
    targets,
)
from gate.writes.errors import Unfit
from gate.writes.http_statement import Request
from gate.writes.models import Canary, Decision, Execution, Preview, WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.screening import screened
from gate.writes.statement import Statement
from gate.writes.targets import WriteTarget

# Whoever proposes says until when, by the clock of their process.
CLOCKS_DIFFER = timedelta(minutes=1)
PROPOSALS = (Kind.WRITE_PROPOSED, Kind.WRITE_EDITED)
ENDS = (
    Kind.WRITE_REJECTED, Kind.WRITE_CHANGES_REQUESTED, Kind.WRITE_WITHDRAWN, Kind.WRITE_EDITED, Kind.WRITE_EXPIRED,
    Kind.WRITE_FAILED, Kind.WRITE_REFUSED_STALE, Kind.WRITE_EXECUTED,
)  # fmt: skip


class NotApproved(Exception):
    """There is no approval that the writer may act on; the sentence says what is wrong."""


class Lapsed(NotApproved):
    """There was one, and its time is over."""


@dataclass(frozen=True)
class Approved:
    """A write with everything that was approved about it."""

    write: WriteRequest
    decisions: tuple[Decision, ...]  # oldest first
    preview: Preview
    target: WriteTarget
    statement: Statement | Request
    parameters: list[Parameter]


def decisions_of(write: WriteRequest) -> list[Decision]:
    """The approvals of a write that are about the effect which was approved last. Raises NotApproved for none."""
    given = Decision.objects.filter(write=write, act__in=quorum.APPROVALS, edition=write.edition)
    placed = given.select_related("preview", "write__target").order_by("at", "pk")
    # Who left, or has another role now, has approved nothing; others may have filled the seat since.
    found = [one for one in placed if one.preview is not None and people.holds_seat(one.by_id, one.role)]
    if not found:
        raise NotApproved(f"{write.ref} has no approval on record.")
    newest = found[-1].preview
    assert newest is not None  # those without one were left out
    return [one for one in found if one.preview is not None and one.preview.digest == newest.digest]


def verified(write: WriteRequest) -> Approved:
    """The write with its approval, each part checked against the others.

    Raises NotApproved, or Lapsed; and sealed.NotYet while a password's entry waits for its seal.
    """
    check_log_verifies()
    _check_is_no_canary(write)
    decisions, target = decisions_of(write), targets.of(write.target)
    seen = decisions[-1].preview
    assert seen is not None  # decisions_of sees to it
    _check_target(write.target)
    _check_admission(write, seen)
    _check_proposal(write)
    _check_preview(write, seen)
    for decision in decisions:
        _check_decision(write, decision, target)
    _check_quorum(write, decisions, target)
    _check_floor(write, decisions, target)
    _check_nobody_stopped(write)
    statement, given = _screened(write)
    return Approved(write, tuple(decisions), seen, target, statement, given)


def _check_decision(write: WriteRequest, decision: Decision, target: WriteTarget) -> None:
    _check_statement(write, decision)
    _check_method(write, decision, target)
    _check_approver(write, decision)
    _check_log(write, decision)
    _check_time(write, decision, target)


def _check_method(write: WriteRequest, decision: Decision, target: WriteTarget) -> None:
    if decision.method == "passkey":
        _check_signature(write, decision, target)
    elif decision.method != "password" or not target.policy.allows_password or decision.assertion is not None:
        raise NotApproved(f"{write.ref} was approved by {decision.method}, which the policy of {target.name} forbids.")


def _check_signature(write: WriteRequest, decision: Decision, target: WriteTarget) -> None:
    try:
        assertions.check_signed(decision, is_high_risk=target.policy.risk == "high")
    except (BadAssertion, NotAllowed) as problem:
        raise NotApproved(f"The approval of {write.ref} is not signed as it has to be. {problem}") from problem


def _check_quorum(write: WriteRequest, decisions: list[Decision], target: WriteTarget) -> None:
    if len({decision.digest for decision in decisions}) != len(decisions):
        raise NotApproved(f"An approval of {write.ref} is there twice.")
    if not quorum.is_complete(target.policy, decisions):
        left = quorum.seats_in_words(quorum.open_seats(target.policy, decisions))
        raise NotApproved(f"{write.ref} still needs {left} to approve it.")


def _check_floor(write: WriteRequest, decisions: list[Decision], target: WriteTarget) -> None:
    try:
        floor.check(target, decisions)
    except floor.TooLittle as problem:
        raise NotApproved(f"{write.ref} has not been approved by enough. {problem}") from problem


def check_log_verifies() -> None:
    """Raises NotApproved while the log does not verify: an approval in it proves nothing then."""
    if why := alarm.why_off():
        raise NotApproved(why)


def _check_is_no_canary(write: WriteRequest) -> None:
    # A status may be set back; that it was placed to be turned down stays.
    if Canary.objects.filter(write=write).exists():
        raise NotApproved(f"{write.ref} was placed to be turned down; it never runs.")


def _check_target(definition: Definition) -> None:
    if twohands.digest_of("target", definition.name, definition.body) != definition.digest:
        raise NotApproved(f"Version {definition.version} of {definition.name} was changed after it was put in force.")
    now = twohands.active("target", definition.name)
    if now is None or now.pk != definition.pk:
        raise NotApproved(f"Another version of {definition.name} is in force than the one that was approved.")
    # A row alone is no policy of two admins: whoever can write into the database could put one there.
    if not vouching.is_vouched(now, str(now)):
        raise NotApproved(f"The log does not say that version {now.version} of {now.name} was put in force as it is.")


def _check_admission(write: WriteRequest, seen: Preview) -> None:
    try:
        admission.check_admitted(write, seen)
    except admission.NotAdmitted as problem:
        raise NotApproved(str(problem)) from problem


def _check_proposal(write: WriteRequest) -> None:
    if digests.of_proposal(write) != write.proposal_digest:
        raise NotApproved(f"{write.ref} was changed after it was proposed.")


def _check_preview(write: WriteRequest, seen: Preview) -> None:
    is_of_this = seen.write_id == write.pk and not seen.error
    effect = digests.of_effect(seen.rows, seen.volatile, seen.bound)
    is_whole = effect == seen.effect_digest and len(seen.rows) == seen.row_count
    if not is_of_this or not is_whole or preview.digest(write, seen) != seen.digest:
        raise NotApproved(f"The preview of {write.ref} is not the one that was made.")


def _check_statement(write: WriteRequest, decision: Decision) -> None:
    made = decision.statement if isinstance(decision.statement, dict) else {}
    expected = digests.approval_statement(
        decision, approver=str(made.get("approver", "")), nonce=str(made.get("nonce", ""))
    )
    # As text: to Python 1 is equal to true and to 1.0, and what is signed is neither.
    if (
        json.dumps(made, sort_keys=True) != json.dumps(expected, sort_keys=True)
        or digests.of_approval(expected) != decision.digest
    ):
        raise NotApproved(f"The approval of {write.ref} does not say what the write and its preview say.")


def _check_approver(write: WriteRequest, decision: Decision) -> None:
    person = people.approver(decision.by_id)
    if person is None or not person.may_decide or person.username != decision.statement["approver"]:
        raise NotApproved("The person who approved decides about no writes now.")
    agent = Agent.objects.filter(pk=write.proposed_by_agent_id).first() if write.proposed_by_agent_id else None
    parties = {write.proposed_by_person_id, agent.owner_id if agent else None, *_editors(write)}
    if decision.by_id in parties or person.username in _answered_for(write):
        raise NotApproved(f"{person.name} proposed {write.ref} or owns the agent that did; someone else must approve.")


def _editors(write: WriteRequest) -> set[int | None]:
    """The people who edited the write, and those who own an agent that did."""
    by_person = write.editions.values_list("edited_by_person_id", flat=True)
    by_agent = Agent.objects.filter(pk__in=write.editions.values("edited_by_agent_id")).values_list("owner", flat=True)
    return {*by_person, *by_agent}


def _answered_for(write: WriteRequest) -> set[str]:
    """Who owned the agent when it proposed or edited this: the log's word, which a later owner does not change."""
    made = [write.proposal_digest, *write.editions.values_list("proposal_digest", flat=True)]
    asked = Entry.objects.filter(kind__in=PROPOSALS, subject=write.ref, actor_kind=Entry.ActorKind.AGENT)
    contents = reading.contents_of(found := list(asked))
    # What cannot be read may be of this write.
    return {one.principal for one in found if not (args := contents[one.pk].args) or args.get("proposal") in made}


def _check_nobody_stopped(write: WriteRequest) -> None:
    # A status may be set back; a decision stays.
    stops = Decision.objects.filter(write=write, edition=write.edition).exclude(act__in=quorum.APPROVALS)
    if stops.exists():
        raise NotApproved(f"Someone stopped {write.ref} after it was approved.")


def _check_log(write: WriteRequest, decision: Decision) -> None:
    """The log says the same of every field. Of a password nothing else is left, so its entry has to be sealed."""
    entry = entry_of(write, decision)
    if entry is None:
        raise NotApproved(f"The log has no intact entry of the approval of {write.ref}.")
    _check_not_over(write, entry)
    if decision.method != "password":
        return
    try:
        sealed.check(entry)
    except sealed.Unproven as problem:
        raise NotApproved(f"The approval of {write.ref} is not proven by the log. {problem}") from problem


def _check_not_over(write: WriteRequest, approved: Entry) -> None:
    """Raises NotApproved when the log says that the write ended since: its rows may have been set back."""
    ends = Entry.objects.filter(kind__in=ENDS, subject=write.ref, seq__gt=approved.seq)
    if over := ends.order_by("seq").first():
        raise NotApproved(f"The log says that {write.ref} was over after it was approved: {over.ref}, {over.kind}.")


def entry_of(write: WriteRequest, decision: Decision) -> Entry | None:
    """The intact entry of an approval that says of every field what its row says; None without one."""
    entries = list(Entry.objects.filter(kind=Kind.WRITE_APPROVED, subject=write.ref).order_by("seq"))
    contents, said = reading.contents_of(entries), recorded.of(decision)
    found = (one for one in entries if contents[one.pk].is_readable and contents[one.pk].args == said)
    return next(found, None)


def await_seals(write_id: int) -> None:
    """Wait until the entries of a write's password approvals are sealed, ten seconds at most, in no transaction.

    Raises sealed.NotYet when they are not by then. An open transaction would itself keep them from being sealed.
    """
    if Execution.objects.filter(write_id=write_id).exists():
        return  # it was verified before it was claimed
    given = Decision.objects.filter(write_id=write_id, act__in=quorum.APPROVALS, method="password")
    for decision in given.select_related("write"):
        entry = entry_of(decision.write, decision)
        if entry is not None:
            sealed.wait(entry)


def _check_time(write: WriteRequest, decision: Decision, target: WriteTarget) -> None:
    longest = timedelta(seconds=target.policy.expiry_seconds) + CLOCKS_DIFFER
    if WriteRequest.objects.filter(pk=write.pk, expires_at__gt=Now() + longest).exists():
        raise NotApproved(f"{write.ref} would stay open for longer than the policy of {target.name} allows.")
    if decision.expires_at > write.expires_at:
        raise NotApproved(f"The approval of {write.ref} would last longer than the write itself.")
    # By the clock of the database: a process may have a wrong one.
    is_open = WriteRequest.objects.filter(pk=write.pk, expires_at__gt=Now()).exists()
    if not is_open or not Decision.objects.filter(pk=decision.pk, expires_at__gt=Now()).exists():
        raise Lapsed(f"The approval of {write.ref} came to its end before the writer could act on it.")


def _screened(write: WriteRequest) -> tuple[Statement | Request, list[Parameter]]:
    try:
        if targets.of(write.target).action is not None:
            return http_statement.screened(write), []
        return screened(write)
    except Unfit as reason:
        raise NotApproved(f"{write.ref} holds what cannot be proposed: {reason}") from reason
