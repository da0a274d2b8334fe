"""Who may do what to a write, and when. Each rule raises its sentence."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from audit import alarm, twohands
from audit.agents import Principal
from audit.models import Definition
from gate.errors import NotAllowed, Stale
from gate.people.models import Person
from gate.writes import admission, limits, opened, quorum, targets, viewing
from gate.writes.models import Decision, Preview, WriteRequest

Status = WriteRequest.Status
OPEN = (Status.WAITING, Status.APPROVED)
EDITABLE = (Status.PROPOSED, Status.WAITING, Status.CHANGES_REQUESTED)
# A preview takes seconds; when its writer is gone, a person may ask again.
PREVIEW_TAKES = timedelta(minutes=2)


def check_can_propose(person: Person) -> None:
    """Raises NotAllowed when the person's role proposes nothing."""
    if not person.has_perm("gate.propose_write"):
        raise NotAllowed("Your role proposes no writes; ask someone on call.")


def check_may_propose_here(target: Definition, person: Person | None) -> None:
    """Raises NotAllowed when the target's policy takes no proposals of an agent, or of this person's role."""
    allowed = targets.of(target).policy.proposers
    if person is None and "agent" not in allowed:
        raise NotAllowed(f"The policy of {target.name} takes no proposals from agents; ask a person to propose it.")
    if person is not None and person.role not in allowed:
        raise NotAllowed(f"The policy of {target.name} takes no proposals from {person.get_role_display()} people.")


def check_can_edit(write: WriteRequest, *, person: Person | None, agent: Principal | None) -> None:
    """Raises NotAllowed unless whoever proposed the write edits it, before it is approved."""
    is_own = (
        (person is not None and write.proposed_by_person_id == person.pk)
        or (agent is not None and write.proposed_by_agent_id == agent.agent_id)
    )  # fmt: skip
    if not is_own:
        raise NotAllowed("Only whoever proposed a write edits it; you may request changes.")
    if write.status not in EDITABLE:
        raise NotAllowed(f"{write.ref} is {words(write)}, so it is not edited any more; propose another one.")


def check_can_preview(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the person may not ask for a preview, or one is being made."""
    if not person.has_perm("gate.preview_write"):
        raise NotAllowed("Your role asks for no previews; someone on call does.")
    _check_is_waiting(write)
    admission.check_is_current(write)
    if is_being_previewed(write):
        raise NotAllowed("A preview is being made; it appears here by itself.")


def check_can_approve(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when someone else must approve, or nobody can any more. The preview is another rule."""
    check_may_decide(person, write)
    check_is_no_party(person, write, "approve")
    _check_has_not_decided(person, write)
    _check_is_waiting(write)
    admission.check_is_current(write)
    _check_target(write)
    _check_has_seat(person, write)
    limits.check_may_approve_more(person)


def check_is_no_party(person: Person, write: WriteRequest, verb: str) -> None:
    """Raises NotAllowed when the person proposed or edited the write, or owns the agent that did."""
    if write.proposed_by_person_id == person.pk:
        raise NotAllowed(f"You proposed this write, so someone else must {verb} it.")
    agent = write.proposed_by_agent
    if agent is not None and agent.owner_id == person.pk:
        raise NotAllowed(f"You own {agent.name}, which proposed this write, so someone else must {verb} it.")
    if _has_edited(person, write):
        raise NotAllowed(f"You edited this write, so someone else must {verb} it.")


def check_method(write: WriteRequest, method: str) -> None:
    """Raises NotAllowed when the policy asks for more than this way to approve."""
    if method == "password" and not targets.of(write.target).policy.allows_password:
        raise NotAllowed(f"Writes to {write.target.name} are approved with a passkey; a password is not enough.")


def check_can_break_glass(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the policy knows no emergency, or this person may not approve at all."""
    if not targets.of(write.target).policy.break_glass:
        raise NotAllowed(f"The policy of {write.target.name} lets nobody approve alone in an emergency.")
    check_can_approve(person, write)


def check_log_verifies() -> None:
    """Raises NotAllowed while the log does not verify: nothing is previewed for approval, and nothing approved."""
    if why := alarm.why_off():
        raise NotAllowed(why)


def check_preview(write: WriteRequest, seen: Preview | None) -> None:
    """Raises NotAllowed when there is no effect that could be approved, or the policy blocks the one there is."""
    if is_being_previewed(write):
        raise NotAllowed("A preview is being made; look at it before you approve.")
    if seen is None:
        raise NotAllowed("Nobody has previewed this write yet; ask for a preview before you approve.")
    if seen.error:
        raise NotAllowed("The preview found no effect that could be approved; its sentence says why.")
    admission.check_effect(write, seen)


def check_can_turn_down(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the person may neither reject the write nor request changes to it."""
    check_may_decide(person, write)
    if write.proposed_by_person_id == person.pk:
        raise NotAllowed("You proposed this write; withdraw it if it should not run.")
    _check_has_not_decided(person, write)
    _check_is_open(write)


def check_can_withdraw(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the write is someone else's, or was run or closed."""
    if write.proposed_by_person_id != person.pk:
        raise NotAllowed("Only the person who proposed a write withdraws it; you may reject it.")
    if write.status not in (Status.PROPOSED, Status.CHANGES_REQUESTED):
        _check_is_open(write)


def check_act(person: Person, write: WriteRequest, act: str, seen: Preview | None) -> None:
    """The rules of one act, and that it was looked at for long enough. Raises NotAllowed."""
    check_may_act(person, write, act, seen)
    if act in quorum.APPROVALS:
        viewing.check(person, write, seen)


def check_may_act(person: Person, write: WriteRequest, act: str, seen: Preview | None) -> None:
    """The rules of one act, as a page asks them that has just begun to show the write. Raises NotAllowed."""
    if act == Decision.Act.APPROVE:
        check_can_approve(person, write)
        check_preview(write, seen)
        limits.check_no_twin(write, seen)
        opened.check(person, write, seen)
    elif act == Decision.Act.BREAK_GLASS:
        check_can_break_glass(person, write)
        check_preview(write, seen)
        limits.check_no_twin(write, seen)
        opened.check(person, write, seen)
    elif act == Decision.Act.WITHDRAW:
        check_can_withdraw(person, write)
    else:
        check_can_turn_down(person, write)


def check_is_current(write: WriteRequest, seen: Preview | None, *, version: int, proposal: str, preview: str) -> None:
    """Raises Stale, saying what changed, when the page that a person decided on is not what is there now."""
    if write.status != Status.WAITING and write.version != version:
        raise _stale(f"{write.ref} became {words(write)} while you were reading.", write, version)
    # While a write waits, nothing but a preview moves its version on.
    if proposal != write.proposal_digest and write.edition > 1:
        raise _stale(f"{write.ref} was edited while you were reading; read it again.", write, version)
    if write.version != version or preview != (seen.digest if seen else ""):
        raise _stale("Another preview was made while you were reading; look at it, then decide again.", write, version)
    if proposal != write.proposal_digest:
        raise _stale(f"This is not the proposal that {write.ref} holds; read it again.", write, version)


def check_version(write: WriteRequest, version: int) -> None:
    """Raises Stale when the write is not the one that a page showed."""
    if write.version != version:
        raise _stale(f"{write.ref} changed while you were reading.", write, version)


def _stale(sentence: str, write: WriteRequest, version: int) -> Stale:
    return Stale(f"{sentence} Nothing of yours was recorded.", seen=version, current=write.version)


def words(write: WriteRequest) -> str:
    """A write's status inside a sentence: refused stale."""
    return write.get_status_display().lower()


def is_being_previewed(write: WriteRequest) -> bool:
    """Whether a person asked for a preview that is not there yet."""
    return write.preview_requests.filter(preview=None, at__gt=timezone.now() - PREVIEW_TAKES).exists()


def check_may_decide(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the person's role has no seat in the policy."""
    approvers = targets.of(write.target).policy.approvers
    if not person.has_perm("gate.decide_write") or person.role not in dict(approvers):
        asked = quorum.seats_in_words(Counter(dict(approvers)))
        raise NotAllowed(f"Your role decides about no writes to {write.target.name}; its policy asks for {asked}.")


def _check_has_not_decided(person: Person, write: WriteRequest) -> None:
    own = write.decisions.filter(by=person, edition=write.edition)
    newest = quorum.latest_preview(write)
    if any(one.act not in quorum.APPROVALS or _still_stands(one, write, newest, person) for one in own):
        raise NotAllowed("You already decided about this write.")


def _still_stands(own: Decision, write: WriteRequest, newest: Preview | None, person: Person) -> bool:
    """Whether an approval counts. One of another effect, or of a role that the person has no more, is given anew."""
    return newest is not None and quorum.is_of(own, write, newest) and own.role == person.role


def _has_edited(person: Person, write: WriteRequest) -> bool:
    return write.editions.filter(Q(edited_by_person=person) | Q(edited_by_agent__owner=person)).exists()


def _check_target(write: WriteRequest) -> None:
    now = twohands.active("target", write.target.name)
    if now is None or now.pk != write.target_id:
        raise NotAllowed(
            f"{write.target.name} has another version than {write.ref} was proposed under; its proposer edits it first."
        )


def _check_has_seat(person: Person, write: WriteRequest) -> None:
    """An approval that fills no seat would only look like one."""
    policy = targets.of(write.target).policy
    newest = quorum.latest_preview(write)
    left = quorum.open_seats(policy, quorum.counted(write, newest))
    if not left[person.role]:
        raise NotAllowed(
            f"{write.ref} has all the approvals of {person.get_role_display()} people that it needs; it still needs"
            f" {quorum.seats_in_words(left)}."
        )


def _check_is_waiting(write: WriteRequest) -> None:
    admission.check_has_answered(write)
    if write.status != Status.WAITING:
        raise NotAllowed(f"{write.ref} is {words(write)}, so there is nothing to approve.")
    _check_time(write)


def _check_is_open(write: WriteRequest) -> None:
    admission.check_has_answered(write)
    if write.status not in OPEN:
        raise NotAllowed(f"{write.ref} is {words(write)}, so there is nothing to decide.")


def _check_time(write: WriteRequest) -> None:
    if write.expires_at <= timezone.now():
        raise NotAllowed(f"{write.ref} expired; propose it again if it should still run.")
