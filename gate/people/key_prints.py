"""A key's fingerprint: what two people read to each other. Pure, so that a receipt is checked without us."""

from __future__ import annotations

import hashlib

from audit import canonical

TAG = b"counterseal-key/v1\0"
DIGITS = 32  # 128 bits: nobody finds a second key with the same ones


def fingerprint(credential_id: str, public_key: str) -> str:
    """Eight groups of four digits over a credential's id and its public key, both in base64url."""
    record = canonical.header_bytes({"credential": credential_id, "public_key": public_key})
    digits = hashlib.sha256(TAG + record).hexdigest()[:DIGITS]
    return "-".join(digits[start : start + 4] for start in range(0, DIGITS, 4))
