"""Keys as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils import timezone

from gate.people import keys
from gate.people.models import Key, Person
from gate.writes import pinned
from gate.writes.models import PinnedKey

WAYS = {"usb": "USB", "nfc": "NFC", "ble": "Bluetooth", "smart-card": "smart card"}


@dataclass(frozen=True)
class ShownKey:
    """One key, and what the writer's own list says of it."""

    key: Key
    pinned: PinnedKey | None

    @property
    def kind(self) -> str:
        """What sort of key it is, as far as it says so itself."""
        if self.key.may_be_backed_up:
            return "synced passkey"
        if "internal" in self.key.transports:
            return "built into a device"
        ways = ", ".join(WAYS[one] for one in self.key.transports if one in WAYS)
        return f"security key, {ways}" if ways else "security key"

    @property
    def is_pinned(self) -> bool:
        return self.pinned is not None and self.pinned.revoked_at is None

    @property
    def hours_left(self) -> int:
        """For how many hours it opens no write of high risk; 0 when it opens them, or is not pinned."""
        if self.pinned is None or not self.is_pinned:
            return 0
        left = (pinned.quarantine_ends(self.pinned) - timezone.now()).total_seconds()
        return max(0, -int(-left // 3600))

    @property
    def is_waiting(self) -> bool:
        return self.key.status == Key.Status.WAITING and self.key.revoked_at is None


def shown_keys(person: Person) -> Sequence[ShownKey]:
    """Every key that somebody has or had."""
    own = list(keys.of(person).select_related("decided_by", "confirmed_with"))
    by_credential = pinned.by_credential(own)
    return [ShownKey(key, by_credential.get(key.credential_id)) for key in own]


class KeysPage:
    """What somebody's own page of keys shows."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @cached_property
    def rows(self) -> Sequence[ShownKey]:
        return shown_keys(self.person)

    @property
    def has_live(self) -> bool:
        """Whether they can sign for a new key themselves."""
        return any(row.key.is_live for row in self.rows)
