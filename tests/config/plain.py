"""Running our code as an account without rights, where the tests run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.config import embedded

ROOT = Path(__file__).resolve().parents[2]
NAME = "nobody"


@dataclass(frozen=True)
class Plain:
    """The account, and what it can reach: our Python, our packages, and the project."""

    python: Path
    packages: Path
    project: Path

    @property
    def uid(self) -> int:
        return pwd.getpwnam(NAME).pw_uid

    def options(self, uid: int | None = None) -> dict[str, Any]:
        """Popen's arguments that run as the account, or as a number without a name."""
        told = {"PYTHONPATH": str(self.packages), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"}
        # Python's own library, too: its path is written into the program, and may be closed.
        told["LD_LIBRARY_PATH"] = str(self.python.parents[1] / "lib")
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        group = pwd.getpwnam(NAME).pw_gid if uid is None else uid
        return {"env": {**kept, **told}, "user": uid or self.uid, "group": group, "extra_groups": []}


@contextmanager
def account() -> Iterator[Plain]:
    """The account. Skips with the reason where we cannot be it, or cannot show it what it needs."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another account; the other tests run without rights already")
    with ExitStack() as shown:
        base, packages, project = (
            shown.enter_context(_within_reach(place))
            for place in (Path(sys.base_prefix), Path(sysconfig.get_paths()["purelib"]), ROOT)
        )
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        yield Plain(base / "bin" / name, packages, project)


@contextmanager
def _within_reach(place: Path) -> Iterator[Path]:
    """The place itself, or, below a directory that only root opens, the same shown elsewhere."""
    if embedded.can_be_reached(place / "any"):
        yield place
        return
    shown = Path(tempfile.mkdtemp(prefix="counterseal-shown-"))
    done = subprocess.run(["mount", "--bind", place, shown], capture_output=True, text=True)
    if done.returncode:
        shown.rmdir()
        pytest.skip(f"{place} is open to root alone, and cannot be shown elsewhere: {done.stderr.strip()}")
    try:
        yield shown
    finally:
        subprocess.run(["umount", "--lazy", shown], check=True)
        shown.rmdir()


def copy_of_the_project(target: Path, owner: str | None = None) -> Path:
    """What a clone would hold, belonging to `owner`."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
    if owner:
        for found in (target, *target.rglob("*")):
            shutil.chown(found, owner)
    return target
