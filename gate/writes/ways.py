"""In which ways somebody may approve a write, as its page offers them."""

from __future__ import annotations

from dataclasses import dataclass

from gate.errors import NotAllowed
from gate.people import keys
from gate.people.models import Person
from gate.writes import assertions, targets
from gate.writes.models import Decision, WriteRequest


@dataclass(frozen=True)
class Ways:
    """A passkey, a password, or both; `no_key` says why no key of theirs approves."""

    by_password: bool
    has_key: bool  # any that counts: it signs what stops a write, too
    no_key: str

    @property
    def by_key(self) -> bool:
        return not self.no_key

    @property
    def none(self) -> str:
        """Why there is no way at all; empty when there is one."""
        return "" if self.by_password or self.by_key else self.no_key


def of(write: WriteRequest, person: Person) -> Ways:
    """The ways of one person."""
    try:
        assertions.keys_for(write, person, Decision.Act.APPROVE)
        no_key = ""
    except NotAllowed as reason:
        no_key = str(reason)
    return Ways(targets.of(write.target).policy.allows_password, keys.live(person).exists(), no_key)
