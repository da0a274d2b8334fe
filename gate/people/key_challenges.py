"""What browsers are asked to have signed: kept here for five minutes, taken once, by the session that asked."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from django.utils import timezone

from gate.errors import NotAllowed
from gate.people.models import KeyChallenge, Person

LASTS = timedelta(minutes=5)
ENROLL, CONFIRM, SIGN_IN = "enroll", "confirm", "sign-in"
GONE = "This took longer than five minutes, or was sent before; begin again."


def session_digest(session_key: str | None) -> str:
    """What is kept of a session: whoever reads the table cannot be it."""
    return hashlib.sha256((session_key or "").encode()).hexdigest()


def put(person: Person, purpose: str, challenge: bytes, session_key: str | None, **about: Any) -> None:
    """Keep a challenge. What nobody answered in time is cleared away."""
    now = timezone.now()
    KeyChallenge.objects.filter(expires_at__lte=now).delete()
    KeyChallenge.objects.create(
        person=person, purpose=purpose, challenge=challenge.hex(), session=session_digest(session_key), about=about,
        expires_at=now + LASTS,
    )  # fmt: skip


def take(person: Person, purpose: str, challenge: bytes, session_key: str | None) -> dict[str, Any]:
    """What a challenge was about, once. Raises NotAllowed."""
    found = KeyChallenge.objects.filter(
        person=person, purpose=purpose, challenge=challenge.hex(), session=session_digest(session_key),
        expires_at__gt=timezone.now(),
    ).first()  # fmt: skip
    # Of two at once, one deletes it.
    if found is None or not KeyChallenge.objects.filter(pk=found.pk).delete()[0]:
        raise NotAllowed(GONE)
    return dict(found.about)
