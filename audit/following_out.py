"""Where a follower writes to: a file that can be gone on with, or standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class Output:
    """Lines one after the other. A file may be moved away by its receiver; the next lines then begin a new one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.handle = self._opened() if path else sys.stdout.fileno()
        self.length = 0

    @property
    def is_empty(self) -> bool:
        return self.length == 0

    @property
    def file(self) -> int:
        """The file's number, which says whether it is still the same one; 0 for standard output."""
        return os.fstat(self.handle).st_ino if self.path else 0

    def resume(self, file: int, length: int) -> None:
        """Cut off what was written after the place that was kept, when this is the file that it was kept for."""
        if not self.path:
            return
        size = os.fstat(self.handle).st_size
        if file == self.file and size >= length:
            os.ftruncate(self.handle, length)
            size = length
        self.length = size

    def was_moved(self) -> bool:
        """Whether the receiver has moved the file away; a new one is begun then."""
        if not self.path or self._is_still_there():
            return False
        os.close(self.handle)
        self.handle, self.length = self._opened(), 0
        return True

    def write(self, piece: bytes) -> None:
        """Write all of it, to the disk when it is a file."""
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(self.handle, rest) :]
        self.length += len(piece)
        if self.path:
            os.fsync(self.handle)

    def _is_still_there(self) -> bool:
        assert self.path is not None
        try:
            return self.path.stat().st_ino == self.file
        except FileNotFoundError:
            return False

    def _opened(self) -> int:
        assert self.path is not None
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
