"""Who is who at the sign-in provider. An identity is an issuer and a subject: no address and no name decides."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people import changes, refusals
from gate.people.models import Identity, Person

LONGEST = 255  # what OpenID Connect allows a subject, and we an issuer


def sign_in(issuer: str, subject: str) -> Person:
    """Whom an identity signs in, recorded before the session is. Raises NotAllowed, recorded too."""
    identity = Identity.objects.select_related("person").filter(issuer=issuer, subject=subject).first()
    try:
        person = _check_can_sign_in(identity)
    except NotAllowed as refusal:
        name = identity.person.username if identity else refusals.UNKNOWN
        refusals.record_at_provider(name, issuer, str(refusal))
        raise
    log.record(Kind.PERSON_SIGNED_IN, person.actor(), subject=person.username, summary=f"through {issuer}")
    return person


def _check_can_sign_in(identity: Identity | None) -> Person:
    if identity is None:
        raise NotAllowed(
            "That identity is connected with nobody here. Sign in with your password and connect it on your page."
        )
    if not identity.person.is_active:
        raise NotAllowed(f"{identity.person} is deactivated here; ask an admin.")
    return identity.person


@transaction.atomic
def connect(person: Person, issuer: str, subject: str) -> Identity:
    """Let an identity sign a person in from now on. Raises NotAllowed, recorded."""
    changes.lock()
    with changes.recorded_refusal(person, _subject(person), issuer=issuer):
        _check_can_connect(Person.objects.get(pk=person.pk), issuer, subject)
    identity = Identity.objects.create(person=person, issuer=issuer, subject=subject)
    _record(person, f"connected an identity of {issuer}", identity)
    return identity


def _check_can_connect(person: Person, issuer: str, subject: str) -> None:
    if not person.is_active:
        raise NotAllowed(f"{person} is deactivated here; ask an admin.")
    if len(issuer) > LONGEST or not 0 < len(subject) <= LONGEST or "\0" in issuer + subject:
        raise NotAllowed("The provider gave an identity that cannot be kept; ask who runs it.")
    if Identity.objects.filter(issuer=issuer, subject=subject).exclude(person=person).exists():
        raise NotAllowed("That identity is connected with somebody else here; ask an admin.")
    if person.identities.exists():
        raise NotAllowed("An identity is connected with you already; disconnect it first.")


@transaction.atomic
def disconnect(person: Person) -> int:
    """Let no identity sign a person in any more. How many there were."""
    changes.lock()
    found = list(person.identities.all())
    for identity in found:
        _record(person, f"disconnected an identity of {identity.issuer}", identity)
        identity.delete()
    return len(found)


def _record(person: Person, summary: str, identity: Identity) -> None:
    args: dict[str, Any] = {"issuer": identity.issuer, "subject": identity.subject}
    log.record_with(Kind.PERSON_CHANGED, person.actor(), subject=_subject(person), summary=summary, args=args)


def _subject(person: Person) -> str:
    return f"person {person.username}"
