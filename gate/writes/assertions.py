"""Decisions that a person's key signs: what is signed, and who may be asked to sign it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from audit import canonical
from gate.errors import NotAllowed
from gate.people import key_party, keys
from gate.people.key_assertions import BadAssertion, raw, verify
from gate.people.models import Key, Person
from gate.writes import pinned, quorum, targets
from gate.writes.models import Decision, PinnedKey, WriteRequest


def challenge_of(statement: Mapping[str, canonical.Scalar]) -> bytes:
    """What a key signs: SHA-256 of the canonical statement (RFC 8785)."""
    return hashlib.sha256(canonical.header_bytes(statement)).digest()


def keys_for(write: WriteRequest, by: Person, act: str) -> list[Key]:
    """The keys that may sign this act of somebody. Raises NotAllowed with what is missing.

    An approval needs one that the writer believes, for it would refuse any other; whatever stops a write does not.
    """
    own = list(keys.live(by))
    if not own:
        raise NotAllowed("You have no passkey that counts; add one on the page My keys.")
    if act not in quorum.APPROVALS:
        return own
    known = pinned.by_credential(own)
    usable = [one for one in own if one.credential_id in known and known[one.credential_id].revoked_at is None]
    if not usable:
        command = f"manage.py pin_key {by.username}"
        raise NotAllowed(f"The writer has pinned no key of yours yet; ask an operator to run {command}.")
    if targets.of(write.target).policy.risk == "high":
        usable = [one for one in usable if not pinned.is_in_quarantine(known[one.credential_id])]
    if not usable:
        raise NotAllowed("Your keys are too new for writes of high risk: each waits for 24 hours after it was pinned.")
    return usable


def check_usable(write: WriteRequest, by: Person, act: str, assertion: Mapping[str, str] | None) -> None:
    """Raises NotAllowed when a decision was signed by a key that was not asked: the writer would believe none of it."""
    asked = {one.credential_id for one in keys_for(write, by, act)}
    if assertion is None or assertion["credential"] not in asked:
        raise NotAllowed("The key that signed is not one of those that count for this; take another one of yours.")


def check_signed(decision: Decision, *, is_high_risk: bool) -> PinnedKey:
    """The pinned key of that very person which signed a decision. Raises BadAssertion.

    The writer's own check: it reads its own list, and of people's table only that a key was revoked there.
    """
    assertion = decision.assertion if isinstance(decision.assertion, dict) else {}
    credential = str(assertion.get("credential"))
    # By number and by name: people's table could let one number pass under another name.
    key = pinned.live().filter(
        credential_id=credential, person_id=decision.by_id, username=str(decision.statement.get("approver"))
    ).first()  # fmt: skip
    if key is None:
        raise BadAssertion("The key that signed it is not on the writer’s list for that person.")
    if Key.objects.filter(credential_id=credential, revoked_at__isnull=False).exists():
        raise BadAssertion("The key that signed it was revoked.")
    verify(
        decision.assertion, challenge=challenge_of(decision.statement), public_key=raw(key.public_key),
        party=key_party.ours(),
    )  # fmt: skip
    if is_high_risk and pinned.is_in_quarantine(key):
        raise BadAssertion("The key that signed it was pinned less than 24 hours ago, and this write is of high risk.")
    return key
