"""Exit code 0 when the log was clean in the end and nothing that was acknowledged is missing, else 1."""

from __future__ import annotations

import argparse
import logging
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")


def main() -> int:
    """Soak a log on a server of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()

    import django

    django.setup()
    logging.disable(logging.ERROR)  # that the server is away is what we do to it
    from tests.soak.run import Soak
    from tests.soak.server import Server

    base = Path(tempfile.mkdtemp(prefix="counterseal-soak-"))
    base.chmod(0o755)
    server = Server(base)
    try:
        with server:
            return Soak(server, base, given.writers, given.seed).run(given.minutes * 60)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
