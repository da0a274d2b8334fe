"""The writer's own list of public keys: what it believes, whatever the other tables say.

Rows come here by an operator's command that runs as the writer. Whoever can write people's keys can have nothing
approved with them before that operator has compared a fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Key
from gate.writes.models import PinnedKey

QUARANTINE = timedelta(hours=24)  # by the writer's own row: when people's page says a key was added decides nothing


def live() -> QuerySet[PinnedKey]:
    """The keys that the writer believes now."""
    return PinnedKey.objects.filter(revoked_at=None)


def by_credential(keys: Iterable[Key]) -> dict[str, PinnedKey]:
    """What the writer's list has of these keys: of that person, with that public key."""
    wanted = {key.credential_id: key for key in keys}
    found = PinnedKey.objects.filter(credential_id__in=wanted)
    return {one.credential_id: one for one in found if _is_of(one, wanted[one.credential_id])}


def _is_of(pinned: PinnedKey, key: Key) -> bool:
    return (pinned.person_id, pinned.public_key) == (key.person_id, key.public_key)


def quarantine_ends(pinned: PinnedKey) -> datetime:
    """From when on a key opens writes of high risk."""
    return pinned.pinned_at + QUARANTINE


def is_in_quarantine(pinned: PinnedKey) -> bool:
    """Whether a key is too new for writes of high risk, by the clock of the database."""
    return not PinnedKey.objects.filter(pk=pinned.pk, pinned_at__lte=Now() - QUARANTINE).exists()


def waiting(person_id: int) -> list[Key]:
    """Somebody's confirmed keys that are not pinned."""
    known = PinnedKey.objects.values("credential_id")
    own = Key.objects.filter(person_id=person_id, status=Key.Status.CONFIRMED, revoked_at=None)
    return list(own.exclude(credential_id__in=known).order_by("pk"))


@transaction.atomic
def pin(key: Key, *, username: str, by: log.Actor) -> PinnedKey:
    """Believe a key from now on. The caller has compared its fingerprint with its person."""
    made = PinnedKey.objects.create(
        person_id=key.person_id, username=username, name=key.name, credential_id=key.credential_id,
        public_key=key.public_key, pinned_by=by.principal,
    )  # fmt: skip
    _record(Kind.KEY_PINNED, made, by)
    return made


@transaction.atomic
def unpin(fingerprint: str, *, by: log.Actor) -> PinnedKey:
    """Believe a key no more. Raises NotAllowed when the list has no such key."""
    found = next((one for one in live().select_for_update() if one.fingerprint == fingerprint), None)
    if found is None:
        raise NotAllowed("The writer’s list has no key with this fingerprint; manage.py pin_key --list shows them.")
    found.revoked_at, found.revoked_by = timezone.now(), by.principal
    found.save(update_fields=["revoked_at", "revoked_by"])
    _record(Kind.KEY_UNPINNED, found, by)
    return found


def _record(kind: Kind, pinned: PinnedKey, by: log.Actor) -> None:
    about: dict[str, Any] = {
        "person": pinned.person_id, "username": pinned.username, "name": pinned.name,
        "credential": pinned.credential_id, "public_key": pinned.public_key, "fingerprint": pinned.fingerprint,
    }  # fmt: skip
    subject = f"person {pinned.username}"
    log.record_with(kind, by, subject=subject, summary=f"“{pinned.name}” {pinned.fingerprint}", args=about)
