"""The places that checkpoints are sent to, each with its way of taking them."""

from __future__ import annotations

import base64
import ipaddress
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import httpx2

from audit import cosignatures, files, notes, proofs
from audit.models import Checkpoint

SECONDS_TO_ANSWER = 5.0
SECONDS_IN_ALL = 15.0  # however slowly an answer drips
LARGEST_ANSWER = 64 * 1024


class NotArrived(Exception):
    """The sentence that says why a checkpoint did not get there; it is tried again."""


class Contradicted(Exception):
    """The sentence that says what a witness knows against the log. That is an alarm."""


class BadTarget(ValueError):
    """The sentence that says why checkpoints cannot be sent to an address."""


class Target(Protocol):
    """One place."""

    @property
    def name(self) -> str: ...

    def send(self, last: Checkpoint, known: int) -> str:
        """Bring it the last checkpoint, when `known` is the size that it has; the note as it arrived.

        Raises NotArrived and Contradicted.
        """
        ...


@dataclass(frozen=True)
class ToFile:
    """A file that grows by a note for each checkpoint: on a disk of somebody else's, or one that is copied away."""

    path: Path
    name: str = "file"

    def send(self, last: Checkpoint, known: int) -> str:
        """Append every checkpoint after `known`."""
        later = Checkpoint.objects.filter(size__gt=known, size__lte=last.size).order_by("size")
        try:
            for note in later.values_list("note", flat=True).iterator():
                files.append(self.path, f"{note}\n".encode())
        except OSError as error:
            raise NotArrived(f"Checkpoints cannot be written to {self.path} ({error.strerror}).") from error
        return last.note


@dataclass(frozen=True)
class ToWebhook:
    """An address that is posted the note, as plain text."""

    url: str
    name: str = "webhook"

    def send(self, last: Checkpoint, known: int) -> str:
        """Post the last checkpoint. Those before it are under it, so nothing is lost when one did not arrive."""
        status, _ = post(self.url, last.note.encode())
        if not 200 <= status < 300:
            raise NotArrived(f"The webhook answered {status} to checkpoint {last.size}.")
        return last.note


@dataclass(frozen=True)
class ToWitness:
    """A witness: it is shown that the new checkpoint continues what it has, and signs that it has seen it (C2SP
    tlog-witness). Its signature is checked before anybody says "witnessed"."""

    url: str
    key: str  # as text, or the file that holds it
    name: str = "witness"

    def send(self, last: Checkpoint, known: int) -> str:
        """Offer the last checkpoint from the size that the witness is thought to know, or else says that it knows."""
        status, answer = self._offer(last, min(known, last.size))
        if status == 409:
            status, answer = self._offer(last, _size_of(answer, last))
        if status in (409, 422):
            raise Contradicted(
                f"The witness does not take checkpoint {last.size}: it has seen another log under this name. "
                "Run verify_log, with its notes as pins."
            )
        if status != 200:
            raise NotArrived(f"The witness answered {status} to checkpoint {last.size}.")
        return last.note + self._checked(answer, last)

    def _offer(self, last: Checkpoint, old: int) -> tuple[int, str]:
        try:
            proof = proofs.consistency(old, last.size) if old else []
        except proofs.TreeBroken as broken:
            raise NotArrived(f"There is no proof for the witness: {broken}") from broken
        lines = "".join(f"{base64.b64encode(hashed).decode()}\n" for hashed in proof)
        return post(f"{self.url.rstrip('/')}/add-checkpoint", f"old {old}\n{lines}\n{last.note}".encode())

    def _checked(self, answer: str, last: Checkpoint) -> str:
        try:
            key = cosignatures.read_key(self.key)
        except (ValueError, OSError) as problem:
            raise NotArrived(f"The witness's key cannot be read: {problem}") from problem
        line = cosignatures.found(key, notes.text_of(last.note), answer)
        if line is None:
            raise NotArrived(f"The witness's answer to checkpoint {last.size} is not signed with its key.")
        return line


def _size_of(answer: str, last: Checkpoint) -> int:
    digits = answer.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise NotArrived("The witness did not say which size it knows.")
    if int(digits) > last.size:
        raise Contradicted(
            f"The witness knows {digits} leaves, and the log has {last.size}: it was set back. "
            "Run verify_log, with the witness's notes as pins."
        )
    return int(digits)


def check_address(url: str) -> str:
    """The address itself. Raises BadTarget unless it is https, or leads no further than this machine."""
    parts = urlsplit(url)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname))):
        return url
    raise BadTarget(f"{url} is neither https nor an address of this machine; checkpoints are not sent there.")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def post(url: str, body: bytes) -> tuple[int, str]:
    """Status and text of the answer. No redirect is followed, and no answer is waited or read for without end."""
    deadline = time.monotonic() + SECONDS_IN_ALL
    answer = b""
    try:
        with (
            httpx2.Client(timeout=SECONDS_TO_ANSWER, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", url, content=body, headers={"Content-Type": "text/plain; charset=utf-8"}) as got,
        ):
            for piece in got.iter_raw():
                answer += piece
                if len(answer) > LARGEST_ANSWER or time.monotonic() > deadline:
                    raise NotArrived(f"{url} answers without an end.")
            return got.status_code, answer.decode("utf-8", "replace")
    except httpx2.HTTPError as error:
        raise NotArrived(f"{url} cannot be reached ({error}).") from error
