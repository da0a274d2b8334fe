"""Verifying what a witness has signed (C2SP tlog-cosignature, cosignature/v1)."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.witnessing import COSIGNATURE, cosigned, key_id

LINE = re.compile(r"— (\S+) (\S+)")
LENGTH = 4 + 8 + 64  # key id, seconds, signature


@dataclass(frozen=True)
class WitnessKey:
    """A witness's public key."""

    name: str
    raw: bytes

    def has_signed(self, text: str, line: str) -> bool:
        """Whether a signature line is this witness's over a checkpoint's text."""
        parts = LINE.fullmatch(line)
        if not parts or parts[1] != self.name:
            return False
        try:
            blob = base64.b64decode(parts[2], validate=True)
            seconds = int.from_bytes(blob[4:12], "big")
            Ed25519PublicKey.from_public_bytes(self.raw).verify(blob[12:], cosigned(text, seconds))
        except (binascii.Error, InvalidSignature):
            return False
        return len(blob) == LENGTH and blob[:4] == key_id(self.name, self.raw)


def read_key(told: str) -> WitnessKey:
    """The key of a text like NAME+ID+BASE64, or of the file that it names. Raises ValueError and OSError."""
    text = told if "+" in told else Path(told).read_text("utf-8")
    name, _, rest = text.strip().partition("+")
    written, _, encoded = rest.partition("+")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raw = b""
    if raw[:1] != COSIGNATURE or len(raw) != 33 or key_id(name, raw[1:]).hex() != written:
        raise ValueError("it is not NAME+ID+BASE64 of a witness, as `manage.py witness` says it.")
    return WitnessKey(name, raw[1:])


def found(key: WitnessKey, text: str, answer: str) -> str | None:
    """The line of an answer that this witness has signed a checkpoint's text with, with its newline."""
    return next((f"{line}\n" for line in answer.splitlines() if key.has_signed(text, line)), None)
