"""Whether a person's key signed exactly this. Pure: no Django, no clock, no database, so that anybody can check it.

An assertion is kept as the browser sent it, each part in base64url: `credential`, `client_data`, `authenticator_data`,
`signature`. What was signed is `authenticator_data` and the SHA-256 of `client_data`, which holds the challenge.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from webauthn import verify_authentication_response
from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography
from webauthn.helpers.cose import COSECRV, COSEKTY, COSEAlgorithmIdentifier
from webauthn.helpers.exceptions import WebAuthnException

ALGORITHMS = (COSEAlgorithmIdentifier.EDDSA, COSEAlgorithmIdentifier.ECDSA_SHA_256)
KINDS = (
    (COSEKTY.OKP, COSEAlgorithmIdentifier.EDDSA, COSECRV.ED25519),
    (COSEKTY.EC2, COSEAlgorithmIdentifier.ECDSA_SHA_256, COSECRV.P256),
)
POINT_BYTES = 32
# Ed25519 has points of order 1, 2, 4 and 8, by their y: with such a key, signatures hold that nobody made.
FIELD = 2**255 - 19
OF_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
WEAK = frozenset({0, 1, FIELD - 1, OF_ORDER_8, FIELD - OF_ORDER_8})
PARTS = ("credential", "client_data", "authenticator_data", "signature")
LONGEST_PART = 8_192  # characters
DEFAULT_PORTS = {"http": 80, "https": 443}


class BadAssertion(Exception):
    """This is no signature of that key over that challenge; the sentence says what is wrong."""


@dataclass(frozen=True)
class Party:
    """Whom keys sign for: the origin of the page, and the name of its host."""

    origin: str
    rp_id: str

    @classmethod
    def of(cls, address: str) -> Party:
        """The party of an address as it is configured. Raises ValueError when it names no host."""
        parts = urlsplit(address)
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            raise ValueError(f"{address} is no origin; it has the form https://counterseal.example.org.")
        port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
        return cls(f"{parts.scheme}://{parts.hostname}{port}", parts.hostname)


@dataclass(frozen=True)
class Signed:
    """What the authenticator says besides."""

    sign_count: int
    is_backed_up: bool


def read(sent: str) -> dict[str, str]:
    """An assertion as rows keep it, from what the browser sent as JSON. Raises BadAssertion."""
    try:
        value = json.loads(sent)
        response = value["response"]
        kept = {
            "credential": value["rawId"], "client_data": response["clientDataJSON"],
            "authenticator_data": response["authenticatorData"], "signature": response["signature"],
        }  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise BadAssertion("What the browser sent is no answer of a key.") from problem
    for name in PARTS:
        part(kept, name)
    return kept


def part(assertion: Mapping[str, Any], name: str) -> bytes:
    """One part's bytes. They have one text: another that decodes to the same is refused. Raises BadAssertion."""
    text = assertion.get(name)
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_PART or not text.isascii():
        raise BadAssertion(f"The answer of the key has no {name}.")
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as problem:
        raise BadAssertion(f"The {name} is not base64url.") from problem
    if base64url(raw) != text:
        raise BadAssertion(f"The {name} is not written as base64url is.")
    return raw


def raw(text: str) -> bytes:
    """The bytes of a stored public key. Raises BadAssertion."""
    return part({"key": text}, "key")


def base64url(raw: bytes) -> str:
    """The one text of these bytes."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def challenge_of(assertion: Mapping[str, Any]) -> bytes:
    """What the browser says that it had signed. Nothing is proven by it. Raises BadAssertion."""
    said = _client_data(assertion).get("challenge")
    return part({"challenge": said}, "challenge")


def verify(assertion: Any, *, challenge: bytes, public_key: bytes, party: Party, sign_count: int = 0) -> Signed:
    """What the key said, when it signed this challenge for us with its person verified. Raises BadAssertion.

    `sign_count` is what the key said the last time; 0 where a stored assertion is checked again.
    """
    if not isinstance(assertion, Mapping) or set(assertion) != set(PARTS):
        raise BadAssertion("This is no answer of a key.")
    check_same_origin(assertion)
    check_algorithm(public_key)
    try:
        found = verify_authentication_response(
            credential=_as_sent(assertion), expected_challenge=challenge, expected_rp_id=party.rp_id,
            expected_origin=party.origin, credential_public_key=public_key,
            credential_current_sign_count=sign_count, require_user_verification=True,
        )  # fmt: skip
    except (WebAuthnException, ValueError, UnicodeError) as problem:
        raise BadAssertion(f"The key's signature does not hold: {problem}.") from problem
    return Signed(found.new_sign_count, found.credential_backed_up)


def check_same_origin(answer: Mapping[str, Any]) -> None:
    """Raises BadAssertion when a key answered inside of another site's page.

    The library looks at neither field: a page of somebody else that frames ours would get our person's signature.
    """
    said = _client_data(answer)
    if said.get("crossOrigin", False) is not False or "topOrigin" in said:
        raise BadAssertion("It was signed inside of another site's page.")


def check_algorithm(public_key: bytes) -> None:
    """Raises BadAssertion for another key than one of EdDSA on Ed25519 or ES256 on P-256 that somebody can hold."""
    if public_key[:1] in (b"", b"\x04"):  # the library takes a bare point as well
        raise BadAssertion("The public key is not written as COSE.")
    try:
        found = decode_credential_public_key(public_key)
        kind = (found.kty, found.alg, getattr(found, "crv", None))
    except (WebAuthnException, ValueError, LookupError, TypeError) as problem:
        raise BadAssertion("The public key cannot be read.") from problem
    if kind not in KINDS:
        raise BadAssertion("The key signs in another way than EdDSA or ES256.")
    _check_point(found)


def _check_point(key: Any) -> None:
    parts = [key.x, *([key.y] if hasattr(key, "y") else [])]
    if not all(isinstance(one, bytes) and len(one) == POINT_BYTES for one in parts):
        raise BadAssertion("The public key is not written as a point is.")
    try:
        decoded_public_key_to_cryptography(key)
    except (WebAuthnException, ValueError, UnsupportedAlgorithm) as problem:
        raise BadAssertion("The public key is no point of its curve.") from problem
    # The top bit is the sign of x; what is left may exceed the field, and stands for what it is in it then.
    if len(parts) == 1 and int.from_bytes(key.x, "little") % 2**255 % FIELD in WEAK:
        raise BadAssertion("The public key belongs to no private key: anybody could sign for it.")


def _as_sent(assertion: Mapping[str, Any]) -> dict[str, Any]:
    for name in PARTS:
        part(assertion, name)
    response = {
        "clientDataJSON": assertion["client_data"], "authenticatorData": assertion["authenticator_data"],
        "signature": assertion["signature"],
    }  # fmt: skip
    return {
        "id": assertion["credential"], "rawId": assertion["credential"], "type": "public-key", "response": response,
    }  # fmt: skip


def _client_data(assertion: Mapping[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(part(assertion, "client_data").decode(), object_pairs_hook=_single)
    except (ValueError, RecursionError) as problem:
        raise BadAssertion("What the browser says about the signature cannot be read.") from problem
    if not isinstance(value, dict):
        raise BadAssertion("What the browser says about the signature cannot be read.")
    return value


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands in it twice")
    return dict(pairs)
