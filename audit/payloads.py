"""Arguments and results as bytes: exact JSON in, the same JSON out."""

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any

import simplejson

LARGEST_PAYLOAD = 256 * 1024  # bytes kept of one payload; longer ones are cut before they are hashed
CODEC = "zlib"
SMALL = 8 * 1024  # bytes
SMALL_TABLES = 13, 4  # zlib's wbits and memLevel: a window of 8 KB


@dataclass(frozen=True)
class Packed:
    """Payload bytes as they are kept, with the length of what there was before cutting.

    The SHA-256 of the whole is there when it was cut. A whole payload has its salted commitment alone: a bare hash
    beside it could be guessed after the payload was redacted.
    """

    kept: bytes
    full_length: int
    full_sha256: str

    @property
    def is_cut(self) -> bool:
        return self.full_length > len(self.kept)


def pack(value: Any) -> Packed:
    """JSON bytes of `value`. ASCII only, so NUL and lone surrogates survive; Decimals keep their digits.

    Raises TypeError for what JSON cannot hold and ValueError for NaN, infinities and bottomless nesting.
    """
    try:
        whole = _text(value).encode("ascii")
    except RecursionError as problem:
        raise ValueError("The value is nested too deeply to be recorded.") from problem
    if len(whole) <= LARGEST_PAYLOAD:
        return Packed(whole, len(whole), "")
    return Packed(whole[:LARGEST_PAYLOAD], len(whole), hashlib.sha256(whole).hexdigest())


# A value that holds itself is nested without an end, and refused as such: looking for it costs a sixth.
_PLAIN = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":"))


def _text(value: Any) -> str:
    """The value in JSON. The standard encoder writes the same and takes half the time, but knows no Decimal."""
    try:
        return _PLAIN.encode(value)
    except TypeError:
        text = simplejson.dumps(value, use_decimal=True, allow_nan=False, separators=(",", ":"))
    if "NaN" in text or "Infinity" in text:
        simplejson.loads(text)  # Decimals slip past allow_nan: reading refuses them outside of text
    return str(text)


def unpack(raw: bytes) -> Any:
    """The value of JSON bytes; every number with a point or exponent is a Decimal. Raises ValueError."""
    return simplejson.loads(raw, use_decimal=True)


def compress(raw: bytes) -> bytes:
    """Fast zlib: at 250 KB the quickest to write and the smallest of what was measured.

    Its usual tables are 256 KB, cleared for each payload: for a small one that is more than the payload itself, and
    leaves nothing of the processor's cache to whoever else writes.
    """
    if len(raw) > SMALL:
        return zlib.compress(raw, 1)
    packing = zlib.compressobj(1, zlib.DEFLATED, *SMALL_TABLES)
    return packing.compress(raw) + packing.flush()


def decompress(stored: bytes) -> bytes:
    """The bytes that `compress` was given. Raises zlib.error when they were damaged or are more than is ever kept."""
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(stored, LARGEST_PAYLOAD + 1)
    if not unpacking.eof or unpacking.unused_data or len(raw) > LARGEST_PAYLOAD:
        raise zlib.error("not a whole payload")
    return raw
