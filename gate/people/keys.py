"""Passkeys of people: enrolled, confirmed by a second hand, used, revoked.

A new key counts once another key of the same person has signed for it, or an admin has confirmed it: whoever finds an
open browser, or takes over a session, has no key with it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from webauthn import verify_registration_response
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.registration.verify_registration_response import VerifiedRegistration

from audit import canonical, log, seconding
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people import guards, guessing, key_assertions, key_challenges, key_options, key_party
from gate.people.changes import recorded_refusal
from gate.people.key_assertions import ALGORITHMS, BadAssertion, base64url
from gate.people.models import Key, Person

QUARANTINE = timedelta(hours=24)
MOST_KEYS = 10  # of a person, those that wait with them
LONGEST_SENT = 20_000  # characters of what a browser sends about a new key
CONFIRMING = seconding.Act(
    guards.CHANGE,
    no_role="Your role confirms no keys; ask an admin.",
    alone="This is your own key: sign for it with another key of yours, or have another admin confirm it.",
    noun="key",
)
Status = Key.Status


def of(person: Person) -> QuerySet[Key]:
    """Every key that somebody has or had, those that count first."""
    return person.keys.order_by("-revoked_at", "-pk")


def live(person: Person) -> QuerySet[Key]:
    """The keys that may sign for somebody now."""
    return person.keys.filter(status=Status.CONFIRMED, revoked_at=None).order_by("pk")


def waiting() -> QuerySet[Key]:
    """The keys that wait for an admin, the oldest first."""
    return Key.objects.filter(status=Status.WAITING, revoked_at=None).select_related("person").order_by("pk")


def begin(person: Person, name: str, session_key: str | None) -> dict[str, Any]:
    """The options to make a key with. The caller has asked for the password. Raises NotAllowed."""
    _check_room(person)
    challenge = secrets.token_bytes(32)
    options = key_options.to_make(person, challenge)
    key_challenges.put(person, key_challenges.ENROLL, challenge, session_key, name=name)
    return options


def enroll(person: Person, sent: str, session_key: str | None) -> Key:
    """A key that waits for its confirmation. Raises NotAllowed, recorded."""
    with recorded_refusal(person, _subject(person), act="enroll"):
        challenge = _challenge_of_new(sent)
        about = key_challenges.take(person, key_challenges.ENROLL, challenge, session_key)
        return _save(person, about["name"], _verified(sent, challenge), _transports(sent))


def _challenge_of_new(sent: str) -> bytes:
    try:
        client_data = json.loads(sent)["response"]["clientDataJSON"]
        return key_assertions.challenge_of({"client_data": client_data})
    except (ValueError, KeyError, TypeError, RecursionError, BadAssertion) as problem:
        raise NotAllowed("What the browser sent is no new key; try again.") from problem


def _verified(sent: str, challenge: bytes) -> VerifiedRegistration:
    party = key_party.ours()
    if len(sent) > LONGEST_SENT:
        raise NotAllowed("What the browser sent is no new key; try again.")
    try:
        made = verify_registration_response(
            credential=sent, expected_challenge=challenge, expected_rp_id=party.rp_id, expected_origin=party.origin,
            require_user_verification=True, supported_pub_key_algs=list(ALGORITHMS),
        )  # fmt: skip
        key_assertions.check_same_origin({"client_data": json.loads(sent)["response"]["clientDataJSON"]})
        key_assertions.check_algorithm(made.credential_public_key)
    except (WebAuthnException, ValueError, BadAssertion) as problem:
        raise NotAllowed(f"This key cannot be enrolled: {problem}") from problem
    return made


def _transports(sent: str) -> list[str]:
    # Hints for the browser; nothing rests on them.
    said = json.loads(sent)["response"].get("transports")
    return [one for one in said if one in key_options.TRANSPORTS][:6] if isinstance(said, list) else []


def _save(person: Person, name: str, made: VerifiedRegistration, transports: list[str]) -> Key:
    key = Key(
        person=person, name=name, credential_id=base64url(made.credential_id),
        public_key=base64url(made.credential_public_key), sign_count=made.sign_count, transports=transports,
        aaguid=made.aaguid, may_be_backed_up=made.credential_device_type.value == "multi_device",
        is_backed_up=made.credential_backed_up, quarantined_until=timezone.now() + QUARANTINE,
    )  # fmt: skip
    try:
        with transaction.atomic():
            seconding.lock(_turn(person))
            _check_room(person)
            key.save(force_insert=True)
            _record(Kind.KEY_ENROLLED, key, person, "waits", f"“{name}” waits to be confirmed")
    except IntegrityError as taken:
        raise NotAllowed("This key is enrolled already. One key serves one person; take another one.") from taken
    return key


def _check_room(person: Person) -> None:
    if person.keys.exclude(status=Status.WITHDRAWN).filter(revoked_at=None).count() >= MOST_KEYS:
        raise NotAllowed(f"You have {MOST_KEYS} keys; revoke one that you do not use.")


def options_to_confirm(key: Key, session_key: str | None) -> dict[str, Any]:
    """What another key of the same person signs, so that a new one counts. Raises NotAllowed."""
    own = list(live(key.person))
    if key.status != Status.WAITING or key.revoked_at is not None:
        raise NotAllowed("This key does not wait for anything.")
    if not own:
        raise NotAllowed("You have no other key that could sign for this one; ask an admin to confirm it.")
    statement = canonical.header_bytes(
        {"act": "key.enroll", "person": key.person_id, "key": key.fingerprint, "nonce": secrets.token_hex(16)}
    )
    challenge = hashlib.sha256(statement).digest()
    options = key_options.to_sign(challenge, own)
    key_challenges.put(key.person, key_challenges.CONFIRM, challenge, session_key, key=key.pk)
    return options


def confirm_with_key(key: Key, sent: str, session_key: str | None) -> Key:
    """Let a new key count by the signature of one that does. Raises NotAllowed, recorded."""
    person = key.person
    with recorded_refusal(person, _subject(person), act="confirm key", key=key.name):
        challenge = _challenge_of(sent)
        about = key_challenges.take(person, key_challenges.CONFIRM, challenge, session_key)
        if about["key"] != key.pk:
            raise NotAllowed(key_challenges.GONE)
        other, _ = use(person, sent, challenge, used_for="another key")
        return _confirm(key.pk, by=person, other=other)


@transaction.atomic
def confirm(pk: int, *, by: Person) -> Key:
    """Let a new key count as an admin, who is the second hand. Raises NotAllowed, recorded, and Key.DoesNotExist."""
    key = Key.objects.select_related("person").get(pk=pk)
    with recorded_refusal(by, _subject(key.person), act="confirm key", key=key.name):
        by = Person.objects.get(pk=by.pk)
        seconding.check_may_decide(CONFIRMING, key, by)
        solo = seconding.check_second(CONFIRMING, key.person, by)
    return _confirm(pk, by=by, solo=solo)


@transaction.atomic
def _confirm(pk: int, *, by: Person, other: Key | None = None, solo: bool = False) -> Key:
    seconding.lock(_turn_of(pk))
    key = Key.objects.select_related("person").get(pk=pk)
    if key.status != Status.WAITING or key.revoked_at is not None:
        raise NotAllowed(f"This key was {key.status} already.")
    if not key.person.is_active:
        raise NotAllowed(f"{key.person} is deactivated; reactivate them first.")
    until = timezone.now() + QUARANTINE  # from when it counts: a key may wait long to be confirmed
    seconding.decide(key, by, Status.CONFIRMED, solo=solo, confirmed_with=other, quarantined_until=until)
    how = f"with “{other.name}”" if other else "solo" if solo else f"by {by}"
    _record(Kind.KEY_ENROLLED, key, by, "ok", f"“{key.name}” confirmed {how}")
    return key


@transaction.atomic
def revoke(pk: int, *, by: Person) -> Key:
    """End a key for good, also one that waits: its person may, and an admin. Raises NotAllowed, Key.DoesNotExist."""
    key = Key.objects.select_related("person").get(pk=pk)
    with recorded_refusal(by, _subject(key.person), act="revoke key", key=key.name):
        if key.person_id != by.pk and not by.has_perm(guards.CHANGE):
            raise NotAllowed("Somebody else's key is revoked by an admin.")
    seconding.lock(_turn_of(pk))
    return _revoke(Key.objects.select_related("person").get(pk=pk), by.actor(), by)


def _revoke(key: Key, actor: log.Actor, by: Person | None) -> Key:
    if key.revoked_at is not None:
        raise NotAllowed(f"“{key.name}” was revoked already.")
    key.revoked_at, key.revoked_by = timezone.now(), by
    if key.status == Status.WAITING:
        key.status = Status.WITHDRAWN
    key.save(update_fields=["revoked_at", "revoked_by", "status"])
    log.record_with(
        Kind.KEY_REVOKED, actor, subject=_subject(key.person), summary=f"“{key.name}” revoked", args=_about(key)
    )
    return key


@transaction.atomic
def revoke_all(person: Person, *, actor: log.Actor) -> list[Key]:
    """End every key of somebody who lost them, as an operator."""
    seconding.lock(_turn(person))
    return [_revoke(key, actor, None) for key in person.keys.filter(revoked_at=None).select_related("person")]


def use(person: Person, sent: str, challenge: bytes, *, used_for: str) -> tuple[Key, dict[str, str]]:
    """The key of somebody that signed a challenge just now, with its assertion. Costs a try. Raises NotAllowed.

    Its counter is held against the one before, here and nowhere later: what is stored is checked again without it.
    """
    left = guessing.take_key(person.username)
    try:
        assertion = key_assertions.read(sent)
        key = _use(person, assertion, challenge, used_for)
    except BadAssertion as problem:
        raise NotAllowed(f"{problem} {guessing.left_in_words(left)}") from problem
    guessing.forget_key(person.username)
    return key, assertion


@transaction.atomic
def _use(person: Person, assertion: dict[str, str], challenge: bytes, used_for: str) -> Key:
    found = live(person).filter(credential_id=assertion["credential"])
    key = found.select_for_update(of=("self",)).first()
    if key is None:
        raise BadAssertion("This is no key of yours that counts.")
    signed = key_assertions.verify(
        assertion, challenge=challenge, public_key=key_assertions.raw(key.public_key), party=key_party.ours(),
        sign_count=key.sign_count,
    )  # fmt: skip
    key.sign_count, key.is_backed_up = signed.sign_count, signed.is_backed_up
    key.used_at, key.used_for = timezone.now(), used_for
    key.save(update_fields=["sign_count", "is_backed_up", "used_at", "used_for"])
    return key


def options_to_sign_in(person: Person, session_key: str | None) -> dict[str, Any]:
    """What one of somebody's keys signs as the second step of their sign-in. Raises NotAllowed."""
    challenge = secrets.token_bytes(32)
    options = key_options.to_sign(challenge, live(person))
    key_challenges.put(person, key_challenges.SIGN_IN, challenge, session_key)
    return options


def sign_in(person: Person, sent: str, session_key: str | None) -> Key:
    """The key that signed somebody in. Raises NotAllowed."""
    challenge = _challenge_of(sent)
    key_challenges.take(person, key_challenges.SIGN_IN, challenge, session_key)
    key, _ = use(person, sent, challenge, used_for="sign-in")
    return key


def _challenge_of(sent: str) -> bytes:
    try:
        return key_assertions.challenge_of(key_assertions.read(sent))
    except BadAssertion as problem:
        raise NotAllowed(str(problem)) from problem


def _turn(person: Person) -> str:
    return f"keys of {person.pk}"


def _turn_of(pk: int) -> str:
    return f"keys of {Key.objects.values_list('person_id', flat=True).get(pk=pk)}"


def _subject(person: Person) -> str:
    return f"person {person.username}"


def _about(key: Key) -> dict[str, Any]:
    return {
        "key": key.pk, "name": key.name, "credential": key.credential_id, "fingerprint": key.fingerprint,
        "status": key.status, "aaguid": key.aaguid, "may_be_backed_up": key.may_be_backed_up,
        "confirmed_with": key.confirmed_with.fingerprint if key.confirmed_with else None, "solo": key.solo,
    }  # fmt: skip


def _record(kind: Kind, key: Key, by: Person, status: str, summary: str) -> None:
    log.record_with(
        kind, by.actor(), subject=_subject(key.person), status=status, summary=summary, args=_about(key)
    )  # fmt: skip
