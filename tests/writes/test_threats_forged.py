"""Threat 5 and what belongs to it: nothing of a stored approval can be changed and still opens the gate.

Each part of each byte is flipped in three ways, and the writer's own question, `approval.verified`, is asked.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from fido2.cose import CoseKey
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialRpEntity,
)

from audit import canonical
from gate.people import key_assertions
from gate.people.key_assertions import BadAssertion, Party
from gate.writes import approval
from gate.writes.models import Decision, Preview, WriteRequest
from tests.software_key import ES256, SoftwareKey, b64, unb64
from tests.writes.conftest import body
from tests.writes.signing import pinned_key, signed

pytestmark = pytest.mark.django_db
FLIPS = (0x01, 0x80, 0xFF)
PARTY = Party.of("http://localhost:8000")


@pytest.fixture
def key(request: Any, mia: Any) -> SoftwareKey:
    made = SoftwareKey(getattr(request, "param", -8))
    pinned_key(mia, made)
    return made


@pytest.fixture
def passkey_target(define: Any, target: Any) -> Any:
    return define("target", "shop", body(method="passkey"))


def flipped(raw: bytes, masks: tuple[int, ...] = FLIPS) -> Iterator[bytes]:
    for place in range(len(raw)):
        for mask in masks:
            yield raw[:place] + bytes([raw[place] ^ mask]) + raw[place + 1 :]


def is_believed(write: WriteRequest) -> bool:
    try:
        approval.verified(WriteRequest.objects.select_related("target").get(pk=write.pk))
    except approval.NotApproved:
        return False
    return True


@pytest.mark.parametrize("key", [-8, ES256], indirect=True)
@pytest.mark.parametrize("part", key_assertions.PARTS)
def test_no_flipped_byte_of_an_assertion_is_believed(
    passkey_target: Any, previewed: Any, mia: Any, key: SoftwareKey, part: str, monkeypatch: Any
) -> None:
    write = previewed()
    decision = signed(write, mia, key)
    assert is_believed(write)
    # The log would say that it was changed; the signature has to say so by itself.
    monkeypatch.setattr(approval, "_check_log", lambda write, decision: None)
    for raw in flipped(unb64(decision.assertion[part])):
        changed = {**decision.assertion, part: b64(raw)}
        Decision.objects.filter(pk=decision.pk).update(assertion=changed)
        assert not is_believed(write), changed
        assert not fido2_believes(decision, changed, key) or part == "credential"  # it is told which key
    Decision.objects.filter(pk=decision.pk).update(assertion=decision.assertion)
    assert is_believed(write)


def test_no_other_text_of_the_same_bytes_is_believed(
    passkey_target: Any, previewed: Any, mia: Any, key: SoftwareKey, monkeypatch: Any
) -> None:
    write = previewed()
    decision = signed(write, mia, key)
    monkeypatch.setattr(approval, "_check_log", lambda write, decision: None)
    for part, text in decision.assertion.items():
        for other in flipped(text.encode(), FLIPS[:1]):
            Decision.objects.filter(pk=decision.pk).update(assertion={**decision.assertion, part: other.decode()})
            assert not is_believed(write), (part, other)
        padded = {**decision.assertion, part: base64.urlsafe_b64encode(unb64(text)).decode() + "\n"}
        Decision.objects.filter(pk=decision.pk).update(assertion=padded)
        assert not is_believed(write)


def test_no_flipped_byte_of_a_statement_is_believed(
    passkey_target: Any, previewed: Any, mia: Any, key: SoftwareKey, monkeypatch: Any
) -> None:
    """Also when whoever changed it has written the digest anew, and a matching entry of the log."""
    write = previewed()
    decision = signed(write, mia, key)
    monkeypatch.setattr(approval, "_check_log", lambda write, decision: None)
    whole = canonical.header_bytes(decision.statement)
    for raw in flipped(whole):
        try:
            statement = json.loads(raw)
        except ValueError:
            continue
        if statement == decision.statement or not storable(statement):
            continue
        digest = hashlib.sha256(b"write-approval/v1\0" + raw).hexdigest()
        Decision.objects.filter(pk=decision.pk).update(statement=statement, digest=digest)
        assert not is_believed(write), raw


def storable(statement: Any) -> bool:
    return "\\u0000" not in json.dumps(statement)


TEXT = {
    WriteRequest: ("statement", "title", "verb", "table", "proposal_digest"),
    Preview: ("digest", "effect_digest"),
    Decision: ("reason", "role", "method", "digest", "act"),
}


@pytest.mark.parametrize("model", list(TEXT))
@pytest.mark.parametrize("method", ["passkey", "password"])
def test_no_flipped_byte_of_a_stored_text_is_believed(
    define: Any, target: Any, previewed: Any, mia: Any, key: SoftwareKey, approve: Any, model: Any, method: str
) -> None:
    write = previewed()
    decision = signed(write, mia, key) if method == "passkey" else approve(write)
    assert is_believed(write)
    keys: dict[Any, Any] = {WriteRequest: write.pk, Preview: decision.preview_id, Decision: decision.pk}
    row = model.objects.filter(pk=keys[model])
    for name in TEXT[model]:
        kept = row.values_list(name, flat=True).get()
        for raw in flipped(kept.encode(), FLIPS[:1]):
            row.update(**{name: raw.decode()})
            assert not is_believed(write), (name, raw)
        row.update(**{name: kept})
    assert is_believed(write)


def changes_of(decision: Decision, other: Any) -> dict[str, dict[str, Any]]:
    """A change of each field of a decision."""
    said = decision.statement
    later = decision.expires_at + timedelta(hours=1)
    return {
        "act": {"act": "reject"}, "edition": {"edition": decision.edition + 1}, "reason": {"reason": "Another."},
        "by": {"by": other}, "role": {"role": "admin"}, "method": {"method": "session"},
        "statement": {"statement": {**said, "nonce": "0" * 32}}, "assertion": {"assertion": {"credential": "AA"}},
        "digest": {"digest": "0" * 64}, "at": {"at": decision.at - timedelta(seconds=1)},
        "expires_at": {"expires_at": later}, "preview": {"preview": None}, "id": {"id": uuid4()},
        "a longer time, said and hashed": consistent(decision, expires_at=later.isoformat()) | {"expires_at": later},
        "another approver, said and hashed": consistent(decision, approver_id=other.pk, approver=other.username)
        | {"by": other},
        "another nonce, said and hashed": consistent(decision, nonce="0" * 32),
        "another reason, said and hashed": consistent(decision, reason=hashlib.sha256(b"x").hexdigest())
        | {"reason": "x"},
    }  # fmt: skip


def consistent(decision: Decision, **said: Any) -> dict[str, Any]:
    """A statement that says something else, with its digest."""
    statement = {**decision.statement, **said}
    digest = hashlib.sha256(b"write-approval/v1\0" + canonical.header_bytes(statement)).hexdigest()
    return {"statement": statement, "digest": digest}


@pytest.mark.parametrize("method", ["passkey", "password"])
def test_no_changed_field_of_an_approval_is_believed(
    target: Any, previewed: Any, mia: Any, key: SoftwareKey, approve: Any, make_person: Any, method: str
) -> None:
    write, kim = previewed(), make_person("kim", "on_call")
    decision = signed(write, mia, key) if method == "passkey" else approve(write)
    fields = {field.name for field in Decision._meta.fields}
    changes = changes_of(decision, kim)
    assert fields - {"write"} <= set(changes), "Say here how a new field of a decision could be changed."
    for name, values in changes.items():
        with transaction.atomic():
            Decision.objects.filter(pk=decision.pk).update(**values)
            assert not is_believed(write), name
            transaction.set_rollback(True)
    assert is_believed(write)


@pytest.mark.parametrize("method", ["passkey", "password"])
def test_an_approval_copied_to_another_write_opens_nothing(
    target: Any, previewed: Any, mia: Any, key: SoftwareKey, approve: Any, method: str
) -> None:
    """Threat 7. The unique digest keeps the copy out; where an intruder dropped that, the statement does."""
    other_parameters = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, {"t": "text", "v": "running"}]
    write, other = previewed(), previewed(parameters=other_parameters)
    decision = signed(write, mia, key) if method == "passkey" else approve(write)
    Decision.objects.filter(pk=decision.pk).update(write=other)
    assert not is_believed(other)
    WriteRequest.objects.filter(pk=other.pk).update(proposal_digest=write.proposal_digest)
    assert not is_believed(other)


# The signatures by themselves, with a second verifier beside ours.


def fido2_believes(decision: Decision, assertion: dict[str, str], key: SoftwareKey) -> bool:
    """What python-fido2 says of the same assertion."""
    challenge = hashlib.sha256(canonical.header_bytes(decision.statement)).digest()
    server = Fido2Server(
        PublicKeyCredentialRpEntity(id=PARTY.rp_id, name="Counterseal"), verify_origin=lambda seen: seen == PARTY.origin
    )
    credential = AttestedCredentialData.create(bytes(16), key.credential, CoseKey.parse(key_map(key)))
    try:
        answer = AuthenticationResponse.from_dict(
            {
                "rawId": b64(key.credential), "id": b64(key.credential), "type": "public-key",
                "response": {
                    "clientDataJSON": assertion["client_data"], "authenticatorData": assertion["authenticator_data"],
                    "signature": assertion["signature"],
                },
            }
        )  # fmt: skip
        state = {"challenge": b64(challenge), "user_verification": "required"}
        server.authenticate_complete(state, [credential], answer)
    except Exception:  # noqa: BLE001 - whatever it raises, it does not believe it
        return False
    assert isinstance(answer.response.client_data, CollectedClientData)
    assert isinstance(answer.response.authenticator_data, AuthenticatorData)
    return True


def key_map(key: SoftwareKey) -> Any:
    from fido2 import cbor

    return cbor.decode(key.cose)


@pytest.mark.parametrize("key", [-8, ES256], indirect=True)
def test_a_second_verifier_believes_what_ours_believes(
    passkey_target: Any, previewed: Any, mia: Any, key: SoftwareKey
) -> None:
    decision = signed(previewed(), mia, key)
    assert fido2_believes(decision, decision.assertion, key)


CHANGED: dict[str, dict[str, Any]] = {
    "another origin": {"origin": "https://evil.example.org"}, "another port": {"origin": "http://localhost:8001"},
    "another party": {"rp_id": "evil.example.org"}, "nobody verified": {"flags": 0x01},
    "nobody present": {"flags": 0x04}, "a frame": {"also": {"crossOrigin": True}},
    "a frame that says 1": {"also": {"crossOrigin": 1}}, "a page around it": {"also": {"topOrigin": "http://x"}},
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
@pytest.mark.parametrize("algorithm", [-8, ES256])
def test_what_a_key_signed_elsewhere_or_unverified_is_refused(what: str, algorithm: int) -> None:
    """Threats 4 and 23. The second verifier looks at no frame; ours must."""
    challenge = hashlib.sha256(b"a statement").digest()
    key = SoftwareKey(algorithm)
    options = {"challenge": b64(challenge)}
    good = key_assertions.read(key.sign(options))
    key_assertions.verify(good, challenge=challenge, public_key=key.cose, party=PARTY)
    for name, value in CHANGED[what].items():
        setattr(key, name, value)
    bad = key_assertions.read(key.sign(options))
    with pytest.raises(BadAssertion):
        key_assertions.verify(bad, challenge=challenge, public_key=key.cose, party=PARTY)


def test_a_key_that_signs_otherwise_is_refused() -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa

    numbers = rsa.generate_private_key(65537, 2048).public_key().public_numbers()
    import cbor2

    cose = cbor2.dumps({1: 3, 3: -257, -1: numbers.n.to_bytes(256, "big"), -2: b"\x01\x00\x01"})
    for public_key in (cose, b"", b"\x04" + bytes(64), cbor2.dumps({1: 2, 3: -7, -1: 2, -2: bytes(48), -3: bytes(48)})):
        with pytest.raises(BadAssertion):
            key_assertions.check_algorithm(public_key)
