"""Files that only our account reads, written whole or not at all."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def write_whole(target: Path, content: bytes) -> None:
    """Replace a file. A crash leaves the old one or the new one, never half, and what was answered for is on disk."""
    draft = target.with_name(f"{target.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.rename(target)
    _sync(target.parent)


def append(target: Path, content: bytes) -> None:
    """Add to the end of a file, on disk before it returns."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Taken(Exception):
    """Somebody else holds the lock."""


def lock(path: Path) -> int:
    """Hold a lock as long as the handle is open. Raises Taken."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Taken from None
    return handle
