"""Signatures by themselves: keys that nobody holds, answers that no authenticator of ours gives. No database."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import cbor2
import pytest

from gate.people import key_assertions
from gate.people.key_assertions import BadAssertion, Party
from tests.software_key import ES256, PRESENT, VERIFIED, SoftwareKey, b64, unb64

PARTY = Party.of("http://localhost:8000")
CHALLENGE = hashlib.sha256(b"a statement").digest()
FIELD = 2**255 - 19


def believed(answer: dict[str, Any], public_key: bytes, challenge: bytes = CHALLENGE) -> bool:
    try:
        key_assertions.verify(answer, challenge=challenge, public_key=public_key, party=PARTY)
    except BadAssertion:
        return False
    return True


def signed(key: SoftwareKey) -> dict[str, str]:
    return key_assertions.read(key.sign({"challenge": b64(CHALLENGE)}))


# Keys that have no private half.


def okp(x: Any) -> bytes:
    return cbor2.dumps({1: 1, 3: -8, -1: 6, -2: x})


def ec2(x: Any, y: Any, alg: Any = -7, curve: Any = 1) -> bytes:
    return cbor2.dumps({1: 2, 3: alg, -1: curve, -2: x, -3: y})


def small_order() -> list[bytes]:
    """Every encoding of a point of small order: each y, with the field's size added where that fits, and both signs."""
    eight = int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little")
    values = {y + more for y in (0, 1, FIELD - 1, eight, FIELD - eight) for more in (0, FIELD) if y + more < 2**255}
    return [(y + sign).to_bytes(32, "little") for y in sorted(values) for sign in (0, 2**255)]


def test_a_key_with_which_nobody_has_to_sign_is_refused() -> None:
    """The signature (R = the neutral point, S = 0) holds for each message under the neutral point as a key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    answer = signed(SoftwareKey())
    answer["signature"] = b64((1).to_bytes(32, "little") + bytes(32))
    neutral = (1).to_bytes(32, "little")
    data = unb64(answer["authenticator_data"]) + hashlib.sha256(unb64(answer["client_data"])).digest()
    Ed25519PublicKey.from_public_bytes(neutral).verify(unb64(answer["signature"]), data)  # the library believes it
    assert len(small_order()) == 14
    for point in small_order():
        assert not believed(answer, okp(point)), point.hex()
        with pytest.raises(BadAssertion):
            key_assertions.check_algorithm(okp(point))


GOOD = SoftwareKey(ES256).private.public_key().public_numbers()
X, Y = GOOD.x.to_bytes(32, "big"), GOOD.y.to_bytes(32, "big")
ODD_KEYS: dict[str, bytes] = {
    "no algorithm": ec2(X, Y, alg=0), "alg none": ec2(X, Y, alg=None), "alg in words": ec2(X, Y, alg="ES256"),
    "RS256 on a curve": ec2(X, Y, alg=-257), "ES384 on P-256": ec2(X, Y, alg=-35), "P-384": ec2(X, Y, curve=2),
    "P-521": ec2(X, Y, curve=3), "secp256k1": ec2(X, Y, curve=8), "Ed25519's curve": ec2(X, Y, curve=6),
    "off the curve": ec2(X, X), "at nothing": ec2(bytes(32), bytes(32)), "short": ec2(X[1:], Y),
    "long": ec2(b"\0" + X, Y), "a number": ec2(1, 2), "a text": ec2(X.hex(), Y.hex()), "no y": ec2(X, None),
    "EdDSA on P-256": cbor2.dumps({1: 1, 3: -8, -1: 1, -2: X}),
    "Ed448": cbor2.dumps({1: 1, 3: -8, -1: 7, -2: bytes(57)}),
    "X25519": cbor2.dumps({1: 1, 3: -8, -1: 4, -2: X}), "a short one": okp(X[1:]), "a number as a point": okp(5),
    "RSA of 512 bits": cbor2.dumps({1: 3, 3: -257, -1: b"\xff" * 64, -2: b"\x01\x00\x01"}),
    "RSA with exponent 1": cbor2.dumps({1: 3, 3: -257, -1: b"\xff" * 256, -2: b"\x01"}),
    "ML-DSA": cbor2.dumps({1: 7, 3: -48, -1: bytes(1312)}), "symmetric": cbor2.dumps({1: 4, 3: 5, -1: bytes(32)}),
    "a list": cbor2.dumps([2, 2, 2, -7, 1]), "a word": cbor2.dumps("key"), "a number alone": cbor2.dumps(1),
    "nothing": b"", "half of one": ec2(X, Y)[:-3], "a bare point": b"\x04" + X + Y, "not CBOR": b"\xff\xff",
    "a key twice": bytes.fromhex("a6") + cbor2.dumps({1: 2, 3: -7, -1: 1, -2: X, -3: Y})[1:] + b"\x03\x26",
    "nested deeply": b"\x81" * 2_000 + b"\x01",
}  # fmt: skip


@pytest.mark.parametrize("what", ODD_KEYS)
def test_a_public_key_of_another_kind_is_refused_and_breaks_nothing(what: str) -> None:
    with pytest.raises(BadAssertion):
        key_assertions.check_algorithm(ODD_KEYS[what])
    assert not believed(signed(SoftwareKey(ES256)), ODD_KEYS[what])


# Answers that are signed, by the right key, and still say something else than we asked.

BACKED_UP, ELIGIBLE, ATTESTED, EXTENDED = 0x10, 0x08, 0x40, 0x80


def answers(key: SoftwareKey) -> dict[str, dict[str, str]]:
    """By name: each is signed as a whole, so that only its content can be what is wrong."""
    data = key._data(PRESENT | VERIFIED)
    rest = {"origin": key.origin, "crossOrigin": False}
    good = {"type": "webauthn.get", "challenge": b64(CHALLENGE), **rest}

    def said(client: bytes, authenticator: bytes = data) -> dict[str, str]:
        signature = key._signature(authenticator + hashlib.sha256(client).digest())
        parts = {"credential": key.credential, "client_data": client, "authenticator_data": authenticator}
        return {name: b64(value) for name, value in {**parts, "signature": signature}.items()}

    def worded(**changed: Any) -> dict[str, str]:
        return said(json.dumps({**good, **changed}).encode())

    def flagged(flags: int, more: bytes = b"") -> dict[str, str]:
        return said(json.dumps(good).encode(), key._data(flags) + more)

    text = json.dumps(good)
    return {
        "good": said(text.encode()),
        "an enrollment": worded(type="webauthn.create"), "a payment": worded(type="payment.get"),
        "no type": worded(type=None), "another challenge": worded(challenge=b64(bytes(32))),
        "a challenge with more": worded(challenge=b64(CHALLENGE + b"\0")), "no challenge": worded(challenge=""),
        "a challenge in hexadecimal": worded(challenge=CHALLENGE.hex()), "a null origin": worded(origin="null"),
        "an origin with a slash": worded(origin="http://localhost:8000/"),
        "another case": worded(origin="HTTP://localhost:8000"),
        "another scheme": worded(origin="https://localhost:8000"),
        "a name below ours": worded(origin="http://x.localhost:8000"),
        "an app": worded(origin="android:apk-key-hash:AAAA"), "a list of origins": worded(origin=[key.origin]),
        "framed": worded(crossOrigin=True),
        "framed, in words": worded(crossOrigin="false"),
        "framed, as a number": worded(crossOrigin=0),
        "framed by nobody": worded(topOrigin=None), "framed by us": worded(topOrigin=key.origin),
        "two origins": said(text[:-1].encode() + b',"origin":"http://localhost:8000"}'),
        "two challenges": said(b'{"challenge":"AAAA",' + text[1:].encode()),
        "bytes after it": said(text.encode() + b"\0"),
        "two of them": said(text.encode() * 2),
        "a mark before it": said(b"\xef\xbb\xbf" + text.encode()),
        "UTF-16": said(text.encode("utf-16")), "a list": said(json.dumps([good]).encode()),
        "nobody present": flagged(VERIFIED), "nobody verified": flagged(PRESENT), "nobody at all": flagged(0),
        "backed up and not to be": flagged(PRESENT | VERIFIED | BACKED_UP),
        "an authenticator's more": flagged(PRESENT | VERIFIED, b"\0"),
        "extensions that are not there": flagged(PRESENT | VERIFIED | EXTENDED),
        "extensions and more": flagged(PRESENT | VERIFIED | EXTENDED, cbor2.dumps({}) + b"\0"),
        "a new key that is not there": flagged(PRESENT | VERIFIED | ATTESTED),
        "no counter": said(text.encode(), data[:-4]), "nothing": said(text.encode(), b"\0"),
    }  # fmt: skip


@pytest.mark.parametrize("algorithm", [-8, ES256])
def test_what_a_key_signed_and_we_did_not_ask_is_refused(algorithm: int) -> None:
    key = SoftwareKey(algorithm)
    given = answers(key)
    assert believed(given.pop("good"), key.cose)
    assert [name for name, answer in given.items() if believed(answer, key.cose)] == []


def test_parts_of_other_types_are_refused() -> None:
    key = SoftwareKey()
    good = signed(key)
    assert believed(good, key.cose)
    odd: list[Any] = [None, 1, True, [], {}, b"raw", "", "=", "é", "A" * 8_193]
    for name in good:
        for value in [*odd, good[name] + "=", good[name] + "\n"]:
            assert not believed({**good, name: value}, key.cose), (name, value)
        assert not believed({one: good[one] for one in good if one != name}, key.cose)
    assert not believed({**good, "user_handle": "AA"}, key.cose)
    wholes: list[Any] = [None, [], "text", json.dumps(good), base64.b64encode(b"x")]
    assert not any(believed(whole, key.cose) for whole in wholes)


def test_the_twin_of_a_signature_is_no_second_approval() -> None:
    """ES256 signatures have a twin that holds as well; so what makes an approval one is its digest, never this."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

    from gate.writes.models import Decision

    key = SoftwareKey(ES256)
    answer = signed(key)
    r, s = decode_dss_signature(unb64(answer["signature"]))
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    twin = {**answer, "signature": b64(encode_dss_signature(r, order - s))}
    assert twin != answer
    assert believed(twin, key.cose)
    unique = [one.fields for one in Decision._meta.constraints if hasattr(one, "fields")]
    assert ("digest",) in [tuple(fields) for fields in unique]
