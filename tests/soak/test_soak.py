from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_short_soak_leaves_a_clean_log() -> None:
    """Seconds of what `python -m tests.soak` does for as long as one likes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--minutes", "0.02", "--writers", "8"],
        cwd=ROOT, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings, 0 entries without a leaf" in done.stdout
    assert all(f"'{blow}': " in done.stdout for blow in ("a writer", "all writers", "the sealer", "the server"))
