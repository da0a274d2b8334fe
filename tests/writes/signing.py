"""People with passkeys that the writer has pinned, and decisions that those sign."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from audit import log
from gate.people import keys
from gate.people.models import Key, Person
from gate.writes import deciding, pinned, quorum
from gate.writes.models import Decision, PinnedKey, WriteRequest
from tests.software_key import SoftwareKey

SESSION = "a session"
OPERATOR = log.Actor("process", "operator command", "olga")


def enrolled(person: Person, key: SoftwareKey, name: str = "desk") -> Key:
    """A key that counts, confirmed by an admin."""
    admin = Person.objects.filter(username="key-admin").first() or Person.objects.create_user(
        "key-admin", password="correct horse battery", role="admin", full_name="Key Admin"
    )
    waits = keys.enroll(person, key.make(keys.begin(person, name, SESSION)), SESSION)
    return keys.confirm(waits.pk, by=admin)


def pinned_key(person: Person, key: SoftwareKey, *, is_new: bool = False) -> PinnedKey:
    """A key that the writer believes, since the day before yesterday unless it is new."""
    made = pinned.pin(enrolled(person, key), username=person.username, by=OPERATOR)
    if not is_new:
        PinnedKey.objects.filter(pk=made.pk).update(pinned_at=timezone.now() - timedelta(days=2))
    return made


def shown(write: WriteRequest, act: str = "approve", **changed: Any) -> dict[str, Any]:
    """What the page sends back."""
    write.refresh_from_db()
    seen = quorum.latest_preview(write)
    about = {
        "act": act, "reason": "The worker is gone.", "seen_version": write.version,
        "proposal_digest": write.proposal_digest, "preview_digest": seen.digest if seen else "",
    }  # fmt: skip
    return {**about, **changed}


def offered(write: WriteRequest, by: Person, act: str = "approve", **changed: Any) -> dict[str, Any]:
    """The options that a browser gets."""
    return deciding.offer(write, by=by, session=SESSION, **shown(write, act, **changed))


def signed(write: WriteRequest, by: Person, key: SoftwareKey, act: str = "approve", **changed: Any) -> Decision:
    """A decision that a key signed."""
    answer = key.sign(offered(write, by, act))
    return deciding.decide(write, by=by, assertion=answer, session=SESSION, **shown(write, act, **changed))
