"""A passkey in software, written by the specification alone: it answers as a browser with an authenticator would.

It does what it is told, also what no browser does: another origin, no verified user, a frame of another site.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
EDDSA, ES256 = -8, -7


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class SoftwareKey:
    """One credential of one authenticator."""

    algorithm: int = EDDSA
    origin: str = "http://localhost:8000"
    rp_id: str = "localhost"
    flags: int = PRESENT | VERIFIED
    also: dict[str, Any] = field(default_factory=lambda: {"crossOrigin": False})  # of the client data
    count: int = 0
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def __post_init__(self) -> None:
        self.private: Any = (
            ed25519.Ed25519PrivateKey.generate() if self.algorithm == EDDSA else ec.generate_private_key(ec.SECP256R1())
        )

    @property
    def cose(self) -> bytes:
        """The public key, in COSE."""
        public = self.private.public_key()
        if self.algorithm == EDDSA:
            return cbor2.dumps({1: 1, 3: -8, -1: 6, -2: public.public_bytes_raw()})
        numbers = public.public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})

    def make(self, options: dict[str, Any]) -> str:
        """What navigator.credentials.create answers, as JSON."""
        client = self._client("webauthn.create", options["challenge"])
        attested = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + self.cose
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": self._data(self.flags | ATTESTED) + attested})
        response = {"clientDataJSON": b64(client), "attestationObject": b64(made), "transports": ["usb"]}
        return self._sent(response)

    def sign(self, options: dict[str, Any]) -> str:
        """What navigator.credentials.get answers, as JSON."""
        self.count += 1
        client, data = self._client("webauthn.get", options["challenge"]), self._data(self.flags)
        signature = self._signature(data + hashlib.sha256(client).digest())
        return self._sent({"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature)})

    def _client(self, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, **self.also}
        return json.dumps(said, separators=(",", ":")).encode()

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _signature(self, data: bytes) -> bytes:
        if self.algorithm == EDDSA:
            return bytes(self.private.sign(data))
        return bytes(self.private.sign(data, ec.ECDSA(hashes.SHA256())))

    def _sent(self, response: dict[str, Any]) -> str:
        name = b64(self.credential)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
