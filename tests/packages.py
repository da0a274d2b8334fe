"""The system's packages that tests need, installed where this account may: one process of the run after another."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def install(*names: str) -> bool:
    """Install Debian packages; false where this account may not. Raises CalledProcessError when it goes wrong."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    # RUNLEVEL keeps a package from starting a server of its own.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    patient = ["-o", "DPkg::Lock::Timeout=300"]
    command = ["apt-get", *patient, "install", "-y", "-qq", "--no-install-recommends", *names]
    # apt waits for its lock when it installs and not when it updates, and several workers of a run may need packages.
    with (Path(tempfile.gettempdir()) / "counterseal-tests-apt.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet)
        subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
    return True
