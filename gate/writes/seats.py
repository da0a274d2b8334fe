"""Who approved a write, and which seats of its policy are still open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gate.people.models import Person
from gate.writes import quorum, targets
from gate.writes.may import May
from gate.writes.models import Decision, Preview, WriteRequest
from gate.writes.policy import Policy

Status = WriteRequest.Status
VOIDED = (Status.REFUSED_STALE, Status.EXPIRED, Status.REJECTED, Status.WITHDRAWN, Status.CHANGES_REQUESTED)


@dataclass(frozen=True)
class Slot:
    """A place for an approval, filled or open."""

    role: str
    given: Decision | None = None
    is_void: bool = False
    why_void: str = ""  # while the write waits: why the approval fills no seat
    is_hidden: bool = False  # its reason, from whoever is still to decide
    is_yours: bool = False  # open, and of the role of whoever looks


@dataclass
class Seats:
    """The seats of one write, as one person sees them."""

    write: WriteRequest
    decisions: list[Decision]
    preview: Preview | None
    may: May

    @property
    def policy(self) -> Policy:
        return targets.of(self.write.target).policy

    @cached_property
    def approvals(self) -> list[Decision]:
        """The approvals of the newest edition, whatever effect they were about."""
        return approvals(self.write, self.decisions)

    @cached_property
    def counted(self) -> list[Decision]:
        """Those of them that count for what is shown now."""
        return [one for one in self.approvals if not self._why_void(one)]

    def _why_void(self, one: Decision) -> str:
        if not self.preview or not quorum.is_of(one, self.write, self.preview):
            return "It was about another effect, so it does not count."
        # What was decided stays so, whoever has which role by now.
        if self.write.status == Status.WAITING and not quorum.holds_its_seat(one):
            return "Who gave it has another role now, or left, so it does not count."
        return ""

    @cached_property
    def slots(self) -> list[Slot]:
        """A slot for each approval, and for each seat that is still open."""
        given = [self._slot(one) for one in self.approvals]
        open_now = quorum.open_seats(self.policy, self.counted) if self.write.status == Status.WAITING else {}
        seats = [role for role, number in sorted(open_now.items()) for _ in range(number)]
        return given + [Slot(Person.Role(role).label, is_yours=role == self.may.person.role) for role in seats]

    def _slot(self, one: Decision) -> Slot:
        why = self._why_void(one)
        is_void = bool(why) or self.write.status in VOIDED
        return Slot(Person.Role(one.role).label, one, is_void, why, is_hidden=not self._may_read(one))

    def _may_read(self, one: Decision) -> bool:
        """Whether a reason is shown. Whoever may still decide reads nobody's before they did."""
        has_decided = any(mine.by_id == self.may.person.pk for mine in self.approvals)
        return self.write.status != Status.WAITING or has_decided or bool(self.may.no_approver)

    @property
    def given(self) -> int:
        """How many people's approvals count."""
        return len({one.by_id for one in self.counted})

    @property
    def is_last(self) -> bool:
        """Whether one more approval is all that it needs."""
        return sum(quorum.open_seats(self.policy, self.counted).values()) <= 1

    @property
    def stops(self) -> list[Decision]:
        """What people decided besides approving."""
        return [one for one in self.decisions if one.act not in quorum.APPROVALS]


def approvals(write: WriteRequest, decisions: list[Decision]) -> list[Decision]:
    """Of these decisions the approvals of the write's newest edition."""
    return [one for one in decisions if one.act in quorum.APPROVALS and one.edition == write.edition]
