"""`python -m tests.kills.writes --kills 200`: kill writers and crash their target, and see that each change is there
once or not at all. Half of the blows fall on a target with a ledger, half on one without."""

from __future__ import annotations

import argparse
import os
import sys

import pytest


def main() -> int:
    """Exit code 0 when every write was once or not at all, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills.writes", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same blows")
    given = parser.parse_args()
    os.environ.update(COUNTERSEAL_WRITE_KILLS=str(given.kills), COUNTERSEAL_WRITE_SEED=str(given.seed))
    return int(pytest.main(["-n0", "-s", "tests/writes/test_random_kills.py"]))


if __name__ == "__main__":
    sys.exit(main())
