"""The state directory before a start: it is ours to write, and its disk has room. Where not, a sentence says so."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit import disk
from gate.config.single import CannotStart

MEGABYTE = 1024 * 1024
FIRST_START = 200 * MEGABYTE  # the database's files, its journal and the demo
LATER_START = 64 * MEGABYTE
FULL = (errno.ENOSPC, errno.EDQUOT)


def prepare(var: Path) -> None:
    """Make the directory with its log/.

    Raises CannotStart when we cannot write there, when everybody can, or when its disk has no room.
    """
    with in_words(var):
        check_room(var, LATER_START if (var / "postgres").exists() else FIRST_START)
        for made in (var, var / "log"):
            made.mkdir(parents=True, exist_ok=True, mode=0o700)
        for found in (var, var / "log"):
            if not os.access(found, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(found))
            _check_is_closed(found)


def _check_is_closed(found: Path) -> None:
    # Whoever may write here may put a database, secrets or a page's script of their own in the place of ours.
    if found.stat().st_mode & stat.S_IWOTH:
        raise CannotStart(
            f"Every account may write in {found}; if nobody did, close it with chmod o-w, "
            "or choose another place with COUNTERSEAL_VAR."
        )


def check_room(var: Path, least: int = disk.LEAST) -> None:
    """Raises CannotStart when the disk that holds `var` has fewer bytes left than `least`."""
    left = disk.free(var)
    if left < least:
        raise CannotStart(_full(var, f"has {left // MEGABYTE} MB left, and a start needs {least // MEGABYTE} MB"))


@contextmanager
def in_words(var: Path) -> Iterator[None]:
    """Raises CannotStart instead of the operating system's refusal of a file in the state directory."""
    try:
        yield
    except OSError as error:
        raise CannotStart(_sentence(var, error)) from error


def _sentence(var: Path, error: OSError) -> str:
    if error.errno in FULL:
        return _full(var, "is full")
    where = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else var
    if not isinstance(error, PermissionError):
        return f"{where} cannot be used ({error.strerror}); move it away, or choose another place with COUNTERSEAL_VAR."
    return (
        f"{_owned(where)}, and {_name(os.geteuid())} may not write there. "
        "Run it as that account, or choose another place with COUNTERSEAL_VAR."
    )


def _full(var: Path, how: str) -> str:
    return (
        f"The disk at {_mount_of(var)}, which holds {var}, {how}. "
        "Free some space on it, or move COUNTERSEAL_VAR to another disk."
    )


def _mount_of(path: Path) -> Path:
    # Path.is_mount raises where we may not look.
    return next(found for found in (path, *path.parents) if os.path.ismount(found))


def _owned(path: Path) -> str:
    for found in (path, *path.parents):
        try:
            return f"{found} belongs to {_name(found.stat().st_uid)}"
        except (FileNotFoundError, PermissionError):
            continue  # what cannot be seen is closed by a directory above
    return str(path)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"
