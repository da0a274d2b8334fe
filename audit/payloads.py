"""Arguments and results as bytes: exact JSON in, the same JSON out."""

import hashlib
import zlib
from dataclasses import dataclass
from typing import Any

import simplejson

LARGEST_PAYLOAD = 256 * 1024  # bytes kept of one payload; longer ones are cut before they are hashed
CODEC = "zlib"


@dataclass(frozen=True)
class Packed:
    """Payload bytes as they are kept, with the length and SHA-256 of what there was before cutting."""

    kept: bytes
    full_length: int
    full_sha256: str

    @property
    def is_cut(self) -> bool:
        return self.full_length > len(self.kept)


def pack(value: Any) -> Packed:
    """JSON bytes of `value`. ASCII only, so NUL and lone surrogates survive; Decimals keep their digits.

    Raises TypeError for what JSON cannot hold and ValueError for NaN and infinities.
    """
    whole = simplejson.dumps(value, use_decimal=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    return Packed(whole[:LARGEST_PAYLOAD], len(whole), hashlib.sha256(whole).hexdigest())


def unpack(raw: bytes) -> Any:
    """The value of JSON bytes; every number with a point or exponent is a Decimal. Raises ValueError."""
    return simplejson.loads(raw, use_decimal=True)


def compress(raw: bytes) -> bytes:
    """Fast zlib: at 250 KB the quickest to write and the smallest of what was measured."""
    return zlib.compress(raw, 1)


def decompress(stored: bytes) -> bytes:
    """The bytes that `compress` was given. Raises zlib.error when they were damaged."""
    return zlib.decompress(stored)
