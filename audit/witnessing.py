"""What a witness decides: whether a new checkpoint continues the log that it knows. No database and no network.

The protocol is C2SP tlog-witness (add-checkpoint), the answer's signature C2SP tlog-cosignature (cosignature/v1).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit import files
from audit.verify import note as notes
from audit.verify.note import Key, Note, Unreadable
from audit.verify.tree import consistency

MOST_PROOF_LINES = 63  # of the specification: a log cannot have 2^63 leaves
COSIGNATURE = b"\x04"  # the signature type of the C2SP registry
SIZE = re.compile(r"old (0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Answer:
    """What the log is told: an HTTP status, and the body that belongs to it."""

    status: int
    body: str
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Offer:
    """A new checkpoint, with what shows that it continues the tree of `old` leaves."""

    old: int
    proof: list[bytes]
    note: Note
    text: str  # the note, as it came


@dataclass(frozen=True)
class Cosigner:
    """The witness's own key. Its signature says: of this log, I have seen nothing that contradicts this."""

    name: str
    seed: bytes

    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @property
    def raw(self) -> bytes:
        return self._private().public_key().public_bytes_raw()

    @property
    def id(self) -> bytes:
        """The first four bytes of SHA-256 over name, newline, type and key, as all note keys have."""
        return key_id(self.name, self.raw)

    @property
    def public(self) -> str:
        """The key to verify with: NAME+ID+BASE64."""
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(COSIGNATURE + self.raw).decode()}"

    def line(self, text: str, seconds: int) -> str:
        """The signature line over a checkpoint's text, at a time that is signed too."""
        signed = self._private().sign(cosigned(text, seconds))
        blob = self.id + seconds.to_bytes(8, "big") + signed
        return f"— {self.name} {base64.b64encode(blob).decode()}\n"


def key_id(name: str, raw: bytes) -> bytes:
    """The id of a cosigning key."""
    return hashlib.sha256(name.encode() + b"\n" + COSIGNATURE + raw).digest()[:4]


def cosigned(text: str, seconds: int) -> bytes:
    """The bytes that a cosignature is over (C2SP tlog-cosignature)."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def read(body: bytes) -> Offer:
    """What was posted: `old SIZE`, the proof's lines, an empty line, the note. Raises Unreadable."""
    try:
        head, _, text = body.decode().partition("\n\n")
    except UnicodeDecodeError as problem:
        raise Unreadable("The body is not UTF-8.") from problem
    first, *lines = head.split("\n")
    found = SIZE.fullmatch(first)
    if not found or len(lines) > MOST_PROOF_LINES:
        raise Unreadable("The body is `old SIZE`, at most 63 lines of proof, an empty line, and a checkpoint.")
    return Offer(int(found[1]), [_hash(line) for line in lines], notes.parse(text), text)


def _hash(line: str) -> bytes:
    try:
        raw = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise Unreadable("A line of the proof is not base64.") from problem
    if len(raw) != 32:
        raise Unreadable("A line of the proof is not a hash of 32 bytes.")
    return raw


class Witness:
    """One witness of one or several logs, each known by its keys. What it has cosigned, it keeps."""

    def __init__(self, state: Path, keys: Sequence[Key], cosigner: Cosigner) -> None:
        self.state, self.keys, self.cosigner = state, tuple(keys), cosigner
        self._turn = threading.Lock()

    def add(self, body: bytes) -> Answer:
        """Answer an offer of a checkpoint; what is cosigned is on disk before the signature leaves."""
        try:
            offer = read(body)
        except Unreadable as problem:
            return Answer(400, f"{problem}\n")
        if not any(key.name == offer.note.origin for key in self.keys):
            return Answer(404, "This witness does not know that log.\n")
        if fault := offer.note.fault(self.keys):
            return Answer(403, f"{fault}\n")
        with self._turn:
            try:
                return self._decide(offer)
            except Unreadable:
                # Without what it has seen it cannot say that nothing contradicts this; an operator looks first.
                return Answer(500, "What this witness keeps of that log is damaged, so it cosigns nothing of it.\n")

    def latest(self, origin: str) -> str | None:
        """The newest note of a log with its cosignature; None when there is none."""
        try:
            return self._file(origin).read_text("utf-8")
        except FileNotFoundError:
            return None

    def _decide(self, offer: Offer) -> Answer:
        if offer.old > offer.note.size:
            return Answer(400, "The checkpoint has fewer leaves than the one that it is said to continue.\n")
        known = self._known(offer.note.origin)
        size = known.size if known else 0
        if offer.old != size:
            return Answer(409, f"{size}\n", "text/x.tlog.size")
        if known and known.size == offer.note.size and known.root != offer.note.root:
            return Answer(409, f"{size}\n", "text/x.tlog.size")
        root = known.root if known else b""
        if not consistency(size, offer.note.size, root, offer.note.root, offer.proof):
            return Answer(422, "The proof does not show that this checkpoint continues the one before it.\n")
        return self._cosign(offer, is_known=size == offer.note.size)

    def _cosign(self, offer: Offer, *, is_known: bool) -> Answer:
        line = self.cosigner.line(offer.note.text, int(time.time()))
        text = offer.text + line
        # The history first: what a crash leaves in it and not in the newest was signed by the log all the same.
        if not is_known:
            files.append(self._file(offer.note.origin).with_suffix(".history"), f"{text}\n".encode())
        files.write_whole(self._file(offer.note.origin), text.encode())
        return Answer(200, line)

    def _known(self, origin: str) -> Note | None:
        kept = self.latest(origin)
        return notes.parse(kept) if kept is not None else None

    def _file(self, origin: str) -> Path:
        # An origin may hold slashes, and whoever may write it could lead elsewhere.
        return self.state / f"{hashlib.sha256(origin.encode()).hexdigest()[:32]}.note"


def own_key(state: Path, name: str) -> Cosigner:
    """The key in the state directory, made on the first start; its public half lies beside it for who verifies."""
    kept = state / "key"
    if not kept.exists():
        files.write_whole(kept, f"{name}\n{os.urandom(32).hex()}\n".encode())
    name, seed = kept.read_text("utf-8").split()
    cosigner = Cosigner(name, bytes.fromhex(seed))
    files.write_whole(state / "public_key", f"{cosigner.public}\n".encode())
    return cosigner
