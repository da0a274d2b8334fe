"""Checkpoints as C2SP signed notes (tlog-checkpoint, signed-note), and the keys that sign them.

A checkpoint is three lines: origin, number of leaves, root in base64. Below an empty line stands one signature line
for each key: an em dash, the key's name, and base64 of the key's id and the Ed25519 signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519 = b"\x01"  # the signature type of the C2SP registry
NAME = re.compile(r"[^\s+\x00-\x20]{1,200}")


class BadKey(ValueError):
    """The sentence that says what is wrong with the text of a key."""


@dataclass(frozen=True)
class Checkpoint:
    """What a note says: the log's name, how many leaves, and the root over them."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The three lines that are signed, each with its newline."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True)
class PublicKey:
    """A key that notes are verified with. Its name is the log's origin."""

    name: str
    raw: bytes

    @property
    def id(self) -> bytes:
        """The first four bytes of SHA-256 over name, newline, type and key: a hint, and no proof."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.raw).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(ED25519 + self.raw).decode()}"

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """The key of a line like `origin+a1b2c3d4+AXkZ…`. Raises BadKey."""
        name, key_id, raw = _parts(text)
        key = cls(name, raw)
        _check_id(key, key_id)
        return key

    def has_signed(self, note: str) -> bool:
        """Whether a note carries a good signature by this key over its text."""
        text, _, signatures = note.rpartition("\n\n")
        return any(self._is_good(text + "\n", line) for line in signatures.splitlines())

    def _is_good(self, text: str, line: str) -> bool:
        found = re.fullmatch(r"— (\S+) (\S+)", line)
        if not found or found[1] != self.name:
            return False
        try:
            raw = base64.b64decode(found[2], validate=True)
            Ed25519PublicKey.from_public_bytes(self.raw).verify(raw[4:], text.encode())
        except (binascii.Error, InvalidSignature):
            return False
        return raw[:4] == self.id


@dataclass(frozen=True)
class SigningKey:
    """The secret half. Only the sealer holds it."""

    name: str
    seed: bytes

    @classmethod
    def parse(cls, text: str) -> SigningKey:
        """The key of a line like `PRIVATE+KEY+origin+a1b2c3d4+AXkZ…`. Raises BadKey."""
        if not text.startswith("PRIVATE+KEY+"):
            raise BadKey("A signing key begins with PRIVATE+KEY+; manage.py new_seal_key makes one.")
        name, key_id, seed = _parts(text.removeprefix("PRIVATE+KEY+"))
        key = cls(name, seed)
        _check_id(key.public, key_id)
        return key

    def __str__(self) -> str:
        secret = base64.b64encode(ED25519 + self.seed).decode()
        return f"PRIVATE+KEY+{self.name}+{self.public.id.hex()}+{secret}"

    @property
    def public(self) -> PublicKey:
        """The half that may be given to everybody."""
        return PublicKey(self.name, self._private().public_key().public_bytes_raw())

    def signature(self, text: str) -> str:
        """The signature line over a text, with its newline."""
        signed = base64.b64encode(self.public.id + self._private().sign(text.encode())).decode()
        return f"— {self.name} {signed}\n"

    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def new_key(name: str) -> SigningKey:
    """A fresh key for a log of this name. Raises BadKey for a name that notes cannot carry."""
    if not NAME.fullmatch(name):
        raise BadKey("A log's name has no spaces and no plus sign; take a host name and a path, like example.com/log.")
    return SigningKey(name, Ed25519PrivateKey.generate().private_bytes_raw())


def text_of(note: str) -> str:
    """What a note is signed over, whoever has signed it."""
    return note.partition("\n\n")[0] + "\n"


def signed(checkpoint: Checkpoint, keys: list[SigningKey]) -> str:
    """The note: the checkpoint's text, an empty line, and a signature by each key."""
    text = checkpoint.text()
    return text + "\n" + "".join(key.signature(text) for key in keys)


def _parts(text: str) -> tuple[str, str, bytes]:
    # The base64 may hold plus signs, the name may not: so it is parted from the left.
    parts = text.strip().split("+", 2)
    if len(parts) != 3 or not NAME.fullmatch(parts[0]):
        raise BadKey("A key has the form NAME+ID+BASE64.")
    try:
        raw = base64.b64decode(parts[2], validate=True)
    except binascii.Error as problem:
        raise BadKey("The key's last part is not base64.") from problem
    if raw[:1] != ED25519 or len(raw) != 33:
        raise BadKey("The key is not an Ed25519 key.")
    return parts[0], parts[1], raw[1:]


def _check_id(key: PublicKey, written: str) -> None:
    if key.id.hex() != written:
        raise BadKey("The key's id does not belong to its name and bytes; it was copied wrongly.")
