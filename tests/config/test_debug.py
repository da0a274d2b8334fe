"""Debugging shows the code to whoever looks, so it is for one's own machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def checked(**told: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env={**os.environ, **told}, capture_output=True, text=True
    )


def test_it_is_refused_where_the_origin_is_not_ours_alone() -> None:
    refused = checked(COUNTERSEAL_DEBUG="1", COUNTERSEAL_ORIGIN="https://counterseal.example")
    assert refused.returncode != 0
    assert "unset it where the origin is https" in refused.stderr
    assert checked(COUNTERSEAL_DEBUG="1", COUNTERSEAL_ORIGIN="http://localhost:8000").returncode == 0
