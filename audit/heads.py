"""The newest checkpoint, as far as it can be believed: its own signature says what it is."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from django.conf import settings

from audit import notes
from audit.models import Checkpoint


@dataclass(frozen=True)
class Head:
    """How many leaves were signed last, and the root over them; `fault` says why it is not to be believed."""

    size: int
    root: bytes
    fault: str
    note: str = ""


def newest() -> Head | None:
    """The newest checkpoint; None while nothing is sealed. One query."""
    last = Checkpoint.objects.order_by("-size").first()
    if last is None:
        return None
    return head_of(last.size, bytes(last.root), last.note)


def head_of(size: int, root: bytes, note: str) -> Head:
    """The checkpoint of a row that was read already."""
    return Head(size, bytes(root), _fault(size, bytes(root), note), note)


def _fault(size: int, root: bytes, note: str) -> str:
    """Why a checkpoint is not to be believed, as a sentence. Without a known key, its own lines are all there is."""
    if _said(note) != (size, root):
        return f"checkpoint {size} is not the one that its note was signed for."
    try:
        keys = [notes.PublicKey.parse(text) for text in settings.LOG_PUBLIC_KEYS]
    except notes.BadKey as problem:
        return f"the keys to check it with cannot be read. {problem}"
    if keys and not any(key.has_signed(note) for key in keys):
        return f"checkpoint {size} is not signed by a key that this process knows."
    return ""


def _said(note: str) -> tuple[int, bytes] | None:
    """The size and the root that a note states; None when it states none."""
    try:
        _, size, root, *_ = note.split("\n")
        return int(size), base64.b64decode(root, validate=True)
    except (ValueError, binascii.Error):
        return None
