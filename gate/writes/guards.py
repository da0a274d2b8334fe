"""Who may do what to a write, and when. Each rule raises its sentence."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from audit import alarm
from gate.errors import NotAllowed, Stale
from gate.people.models import Person
from gate.writes.models import Decision, Preview, WriteRequest

Status = WriteRequest.Status
OPEN = (Status.WAITING, Status.APPROVED)
# A preview takes seconds; when its writer is gone, a person may ask again.
PREVIEW_TAKES = timedelta(minutes=2)


def check_can_propose(person: Person) -> None:
    """Raises NotAllowed when the person's role proposes nothing."""
    if not person.has_perm("gate.propose_write"):
        raise NotAllowed("Your role proposes no writes; ask someone on call.")


def check_can_preview(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the person may not ask for a preview, or one is being made."""
    if not person.has_perm("gate.preview_write"):
        raise NotAllowed("Your role asks for no previews; someone on call does.")
    _check_is_waiting(write)
    if is_being_previewed(write):
        raise NotAllowed("A preview is being made; it appears here by itself.")


def check_can_approve(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when someone else must approve, or nobody can any more. The preview is another rule."""
    _check_may_decide(person)
    if write.proposed_by_person_id == person.pk:
        raise NotAllowed("You proposed this write, so someone else must approve it.")
    agent = write.proposed_by_agent
    if agent is not None and agent.owner_id == person.pk:
        raise NotAllowed(f"You own {agent.name}, which proposed this write, so someone else must approve it.")
    _check_has_not_decided(person, write)
    _check_is_waiting(write)


def check_log_verifies() -> None:
    """Raises NotAllowed while the log does not verify: nothing is previewed for approval, and nothing approved."""
    if why := alarm.why_off():
        raise NotAllowed(why)


def check_preview(write: WriteRequest, seen: Preview | None) -> None:
    """Raises NotAllowed when there is no effect that could be approved."""
    if is_being_previewed(write):
        raise NotAllowed("A preview is being made; look at it before you approve.")
    if seen is None:
        raise NotAllowed("Nobody has previewed this write yet; ask for a preview before you approve.")
    if seen.error:
        raise NotAllowed("The preview found no effect that could be approved; its sentence says why.")


def check_can_turn_down(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the person may neither reject the write nor request changes to it."""
    _check_may_decide(person)
    if write.proposed_by_person_id == person.pk:
        raise NotAllowed("You proposed this write; withdraw it if it should not run.")
    _check_has_not_decided(person, write)
    _check_is_open(write)


def check_can_withdraw(person: Person, write: WriteRequest) -> None:
    """Raises NotAllowed when the write is someone else's, or was run or closed."""
    if write.proposed_by_person_id != person.pk:
        raise NotAllowed("Only the person who proposed a write withdraws it; you may reject it.")
    _check_is_open(write)


def check_act(person: Person, write: WriteRequest, act: str, seen: Preview | None) -> None:
    """The rules of one act. Raises NotAllowed."""
    if act == Decision.Act.APPROVE:
        check_can_approve(person, write)
        check_preview(write, seen)
    elif act == Decision.Act.WITHDRAW:
        check_can_withdraw(person, write)
    else:
        check_can_turn_down(person, write)


def check_is_current(write: WriteRequest, seen: Preview | None, *, version: int, proposal: str, preview: str) -> None:
    """Raises Stale, saying what changed, when the page that a person decided on is not what is there now."""
    if write.status != Status.WAITING and write.version != version:
        raise _stale(f"{write.ref} became {words(write)} while you were reading.", write, version)
    # While a write waits, nothing but a preview moves its version on.
    if write.version != version or preview != (seen.digest if seen else ""):
        raise _stale("Another preview was made while you were reading; look at it, then decide again.", write, version)
    if proposal != write.proposal_digest:
        raise _stale(f"This is not the proposal that {write.ref} holds; read it again.", write, version)


def _stale(sentence: str, write: WriteRequest, version: int) -> Stale:
    return Stale(f"{sentence} Nothing of yours was recorded.", seen=version, current=write.version)


def words(write: WriteRequest) -> str:
    """A write's status inside a sentence: refused stale."""
    return write.get_status_display().lower()


def is_being_previewed(write: WriteRequest) -> bool:
    """Whether a person asked for a preview that is not there yet."""
    return write.preview_requests.filter(preview=None, at__gt=timezone.now() - PREVIEW_TAKES).exists()


def _check_may_decide(person: Person) -> None:
    if not person.has_perm("gate.decide_write"):
        raise NotAllowed("Your role decides about no writes; someone on call does.")


def _check_has_not_decided(person: Person, write: WriteRequest) -> None:
    if write.decisions.filter(by=person).exists():
        raise NotAllowed("You already decided about this write.")


def _check_is_waiting(write: WriteRequest) -> None:
    if write.status != Status.WAITING:
        raise NotAllowed(f"{write.ref} is {words(write)}, so there is nothing to approve.")
    _check_time(write)


def _check_is_open(write: WriteRequest) -> None:
    if write.status not in OPEN:
        raise NotAllowed(f"{write.ref} is {words(write)}, so there is nothing to decide.")


def _check_time(write: WriteRequest) -> None:
    if write.expires_at <= timezone.now():
        raise NotAllowed(f"{write.ref} expired; propose it again if it should still run.")
