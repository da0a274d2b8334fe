"""What browsers are told when they are to make a key, or to have something signed by one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from webauthn import generate_authentication_options, generate_registration_options, options_to_json
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.structs import (
    AttestationConveyancePreference,
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from gate.people import key_party
from gate.people.key_assertions import ALGORITHMS
from gate.people.models import Key, Person

TRANSPORTS = {one.value: one for one in AuthenticatorTransport}


def to_make(person: Person, challenge: bytes) -> dict[str, Any]:
    """The options of navigator.credentials.create. Every key that anybody has is excluded: one serves one person."""
    party = key_party.ours()
    options = generate_registration_options(
        rp_id=party.rp_id, rp_name=key_party.NAME, user_id=_handle(person), user_name=person.username,
        user_display_name=str(person), challenge=challenge, attestation=AttestationConveyancePreference.NONE,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=_descriptors(Key.objects.filter(revoked_at=None)),
        supported_pub_key_algs=list(ALGORITHMS),
    )  # fmt: skip
    return _as_json(options_to_json(options))


def to_sign(challenge: bytes, keys: Iterable[Key]) -> dict[str, Any]:
    """The options of navigator.credentials.get: with one of these keys, and its person verified."""
    options = generate_authentication_options(
        rp_id=key_party.ours().rp_id, challenge=challenge, allow_credentials=_descriptors(keys),
        user_verification=UserVerificationRequirement.REQUIRED,
    )  # fmt: skip
    return _as_json(options_to_json(options))


def _descriptors(keys: Iterable[Key]) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=base64url_to_bytes(key.credential_id),
            transports=[TRANSPORTS[name] for name in key.transports if name in TRANSPORTS],
        )
        for key in keys
    ]


def _handle(person: Person) -> bytes:
    # It stays in the authenticator, and must say nothing about the person.
    return hashlib.sha256(f"counterseal person {person.pk}".encode()).digest()


def _as_json(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value
