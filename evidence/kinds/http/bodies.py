"""The body of an answer: counted while it comes in, unpacked no further than it is taken, and read as exact JSON."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from evidence import exact_json
from evidence.arguments import is_deep
from evidence.errors import Refused

GZIP = 16 + zlib.MAX_WBITS
# How many packed bytes are taken for one that may come out: JSON is never so dense that it needs more.
SLACK = 4_096


def taken(pieces: Iterable[bytes], headers: Mapping[str, str], most: int) -> bytes:
    """The body, unpacked. Raises Refused for more than `most` bytes of it, and for a packing that was not asked for."""
    packing = headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", ""):
        raise Refused("not_json", "The answer is packed in a way that was not asked for.")
    return _unpacked(pieces, most) if packing == "gzip" else _plain(pieces, most)


def _plain(pieces: Iterable[bytes], most: int) -> bytes:
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > most:
            raise _too_large(most)
    return bytes(found)


def _unpacked(pieces: Iterable[bytes], most: int) -> bytes:
    """What gzip packed, with no more of it in memory at any time than is taken at most."""
    packed, found, came = zlib.decompressobj(GZIP), bytearray(), 0
    for piece in pieces:
        came += len(piece)
        try:
            found += packed.decompress(piece, most + 1 - len(found))
        except zlib.error as error:
            raise Refused("not_json", "The answer is packed in a way that cannot be unpacked.") from error
        if len(found) > most or packed.unconsumed_tail or came > most + SLACK:
            raise _too_large(most)
        if packed.unused_data:
            raise Refused("not_json", "Something follows behind the packed answer.")
    if came and not packed.eof:
        raise Refused("broken_off", "The answer breaks off in the middle.")
    return bytes(found)


def _too_large(most: int) -> Refused:
    return Refused("too_large", f"The answer is larger than {most:,} bytes; narrow the arguments.")


def value(body: bytes, headers: Mapping[str, str]) -> Any:
    """The JSON that the answer holds, its numbers exact. Raises Refused for anything else, and for a key twice."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refused("not_json", "The answer does not say that it is JSON.")
    try:
        found = exact_json.strict(body)
    except ValueError as error:
        raise Refused("not_json", f"The answer is no plain JSON: {error}") from error
    if is_deep(found):  # whatever walks through it from here on calls itself
        raise Refused("too_nested", "The answer nests too deeply to be read, so it is kept out.")
    return found
