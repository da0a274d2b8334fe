"""`python -m tests.kills --minutes 60`: kill whatever runs, at random, and see whether every promise is kept."""

from __future__ import annotations

import argparse
import random
import signal
import sys

from tests.kills.run import Plan, run


def main() -> int:
    """Exit code 0 when every promise was kept, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the same seed draws the same blows")
    given = parser.parse_args()
    # The product is a session of its own and would go on; also where a shell started us with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    return 1 if run(Plan(given.minutes * 60, round_seconds=300, longest_pause=12, seed=seed)) else 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
