"""Reading signed notes (C2SP signed-note and tlog-checkpoint) and the keys that they are verified with."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)")
SIZE = re.compile(r"0|[1-9][0-9]{0,17}")
LARGEST_NOTE = 100_000  # characters


class Unreadable(ValueError):
    """The sentence that says why a note or a key cannot be used."""


@dataclass(frozen=True)
class Key:
    """A public key: the log's name and 32 bytes of Ed25519."""

    name: str
    raw: bytes

    @property
    def id(self) -> bytes:
        """The first four bytes of SHA-256 over name, newline, 0x01 and the key (C2SP signed-note)."""
        return hashlib.sha256(self.name.encode() + b"\n\x01" + self.raw).digest()[:4]

    def verifies(self, text: str, signature: bytes) -> bool:
        """Whether these 64 bytes are this key's signature of a text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, text.encode())
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class Note:
    """A checkpoint: its three lines, and the signature lines below them."""

    origin: str
    size: int
    root: bytes
    text: str
    signatures: tuple[tuple[str, bytes], ...]  # (name, key id and signature)

    def fault(self, keys: Iterable[Key]) -> str:
        """Why it does not count as signed by one of these keys; empty when it does.

        Lines of unknown keys are passed over, as the specification asks; a bad line of a known key is not.
        """
        known = {(key.name, key.id): key for key in keys}
        ours = [(known[name, raw[:4]], raw[4:]) for name, raw in self.signatures if (name, raw[:4]) in known]
        if not ours:
            return "It is not signed by a known key."
        if not all(key.verifies(self.text, signature) for key, signature in ours):
            return "It carries a signature in the name of a known key that this key did not make."
        if any(key.name != self.origin for key, _ in ours):
            return f"It speaks for {self.origin}, which is not the name of the key."
        return ""


def parse_key(text: str) -> Key:
    """The key of a line like `example.com/log+a1b2c3d4+AXkZ…`. Raises Unreadable."""
    name, _, rest = text.strip().partition("+")
    written, _, encoded = rest.partition("+")
    raw = _base64(encoded, "The key")
    if not name or raw[:1] != b"\x01" or len(raw) != 33:
        raise Unreadable("A public key has the form NAME+ID+BASE64 and is of the kind Ed25519.")
    key = Key(name, raw[1:])
    if key.id.hex() != written:
        raise Unreadable("The key's id does not belong to its name and bytes; it was copied wrongly.")
    return key


def parse_keys(text: str) -> list[Key]:
    """The keys of a file: one on each line. Raises Unreadable, also when there is none."""
    keys = [parse_key(line) for line in text.splitlines() if line.strip()]
    if not keys:
        raise Unreadable("There is no public key.")
    return keys


def parse(text: str) -> Note:
    """A checkpoint's note. Raises Unreadable."""
    if len(text) > LARGEST_NOTE or not _is_encodable(text):
        raise Unreadable("A note is no longer than 100,000 characters, all of which can be written as UTF-8.")
    body, separator, below = text.partition("\n\n")
    lines = body.split("\n")
    if not separator or len(lines) != 3 or not lines[0] or not below.endswith("\n"):
        raise Unreadable("A checkpoint is three lines, an empty line, and a line for each signature.")
    if not SIZE.fullmatch(lines[1]):
        raise Unreadable("The second line of a checkpoint is its number of leaves.")
    root = _base64(lines[2], "The root")
    if len(root) != 32:
        raise Unreadable("The root of a checkpoint is 32 bytes.")
    signatures = tuple(_signature(line) for line in below[:-1].split("\n"))
    return Note(lines[0], int(lines[1]), root, body + "\n", signatures)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _signature(line: str) -> tuple[str, bytes]:
    found = SIGNATURE.fullmatch(line)
    if not found:
        raise Unreadable("A signature line is a dash, a name and base64; there is another line.")
    return found[1], _base64(found[2], "A signature")


def _base64(text: str, what: str) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise Unreadable(f"{what} is not base64.") from problem
    if base64.b64encode(raw).decode() != text:
        raise Unreadable(f"{what} is not written as base64 is.")
    return raw


def parse_pins(text: str) -> Iterator[Note | Unreadable]:
    """The notes of a pins file: signed notes one below the other, or a JSON object with a "note" on each line.

    Raises Unreadable when there is none: whoever emptied the file must not have it taken for one that holds.
    """
    if text.lstrip().startswith("{"):
        texts = [_of_json(line) for line in text.splitlines() if line.strip()]
    else:
        texts = _parted(text)
    if not texts:
        raise Unreadable("The file of pins holds no checkpoint.")
    for one in texts:
        try:
            yield parse(one)
        except Unreadable as problem:
            yield problem


def _of_json(line: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    found = value.get("note") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _parted(text: str) -> list[str]:
    """Notes that stand below each other: one ends after its signature lines."""
    blocks = [block for block in re.split(r"\n{2,}", text.replace("\r\n", "\n").strip("\n")) if block.strip()]
    notes: list[str] = []
    for block in blocks:
        if block.startswith("— ") and notes and "\n\n" not in notes[-1]:
            notes[-1] += "\n\n" + block + "\n"
        else:
            notes.append(block)
    return notes
