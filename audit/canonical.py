"""The canonical bytes that are hashed, and the digests over them.

The rule is: hash the bytes that are stored, store the bytes that are hashed. Payloads are hashed as they are kept;
only the small header record is canonicalized, in the part of RFC 8785 where it needs no number formatting.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

ENTRY_TAG = b"audit-entry/v1\0"
PAYLOAD_TAG = b"audit-payload/v1\0"
LARGEST_INTEGER = 2**53 - 1
LEAF_VERSION = 1

Scalar = str | int | bool | None


def header_bytes(header: Mapping[str, Scalar]) -> bytes:
    """The header in JCS (RFC 8785).

    Raises TypeError for a float or a nested value and ValueError for an integer beyond 2^53 - 1 or a key beyond ASCII:
    outside those the JSON libraries disagree about the canonical form.
    """
    if not "".join(header).isascii():
        raise ValueError(f"A key of the header is not ASCII: {', '.join(header)}.")
    for key, value in header.items():
        if value is not None and not isinstance(value, str):
            _check_number(key, value)
    return _JCS.encode(header).encode()  # raises for a lone surrogate, which has no UTF-8 form


_JCS = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _check_number(key: str, value: object) -> None:
    if not isinstance(value, int):
        raise TypeError(
            f"The header field {key} holds a {type(value).__name__}; only text, integers, booleans and null do."
        )
    if abs(value) > LARGEST_INTEGER:
        raise ValueError(f"The header field {key} is beyond 2^53 - 1.")


def entry_digest(header: Mapping[str, Scalar]) -> bytes:
    """SHA-256 over the domain tag and the canonical header: the writer's receipt for an entry."""
    return hashlib.sha256(ENTRY_TAG + header_bytes(header)).digest()


def commitment(salt: bytes, payload: bytes) -> bytes:
    """A salted commitment to payload bytes: it outlives a redacted payload, and 16 random bytes stop guessing."""
    if len(salt) != 16:
        raise ValueError("A salt is 16 bytes.")
    return hashlib.sha256(PAYLOAD_TAG + salt + payload).digest()


def time_text(moment: datetime) -> str:
    """UTC with six decimals: as text, so that no library's idea of a number is in it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def leaf_record(*, entry_id: str, seq: int, at: datetime, db_role: str, digest: bytes) -> bytes:
    """The record that an entry's leaf is the hash of: its digest, and what the server added to it, in JCS."""
    return header_bytes(
        {
            "leaf_version": LEAF_VERSION,
            "id": entry_id,
            "seq": seq,
            "at": time_text(at),
            "db_role": db_role,
            "digest": digest.hex(),
        }
    )
