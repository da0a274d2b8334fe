"""What one person may do to a write now: each act with the sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from audit.refusing import why_not
from gate.people.models import Person
from gate.writes import guards, ways
from gate.writes.models import Decision, Preview, WriteRequest

Act = Decision.Act


def refusal(check: Callable[..., None], *about: object) -> str:
    """The sentence that a guard raises; empty when it lets the act pass."""
    return why_not(partial(check, *about))


@dataclass
class May:
    """The acts of one person on one write, as far as this preview of it goes."""

    write: WriteRequest
    person: Person
    preview: Preview | None

    def _why_not(self, act: str) -> str:
        return refusal(guards.check_may_act, self.person, self.write, act, self.preview)

    @cached_property
    def log_off(self) -> str:
        """Why nobody approves or previews anything now; empty while the log verifies."""
        return refusal(guards.check_log_verifies)

    @cached_property
    def ways(self) -> ways.Ways:
        """With what this person may approve: a passkey, a password, or both."""
        return ways.of(self.write, self.person)

    @cached_property
    def no_approver(self) -> str:
        """Why this person may never approve this write, preview or not; empty when they may."""
        return refusal(guards.check_can_approve, self.person, self.write) or self.log_off

    @cached_property
    def no_approval(self) -> str:
        """Why this person may not approve now; empty when they may."""
        return self.no_approver or self.ways.none or self._why_not(Act.APPROVE)

    @cached_property
    def no_preview(self) -> str:
        """Why this person may not ask for a preview now."""
        return refusal(guards.check_can_preview, self.person, self.write) or self.log_off

    @cached_property
    def break_glass(self) -> bool:
        return not self.ways.none and not self.log_off and not self._why_not(Act.BREAK_GLASS)

    @cached_property
    def turn_down(self) -> bool:
        return not self._why_not(Act.REJECT)

    @cached_property
    def edit(self) -> bool:
        return not refusal(partial(guards.check_can_edit, self.write, person=self.person, agent=None))

    @cached_property
    def withdraw(self) -> bool:
        return not self._why_not(Act.WITHDRAW)

    @property
    def decide(self) -> bool:
        return not self.no_approval or self.turn_down or self.withdraw
